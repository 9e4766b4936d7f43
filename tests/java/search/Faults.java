import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.FileHandler;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Pattern;

/**
 * Programs with one fault each, for `veneer search`. The first argument names the fault. A comment
 * `FAULT name` marks the lines at which the fault is. `ALSO name` marks lines that truly take time
 * because of the fault, and `OTHER` marks other work.
 */
public class Faults {
    static final Object LOCK = new Object();
    static final ReentrantLock QUEUE = new ReentrantLock();
    static volatile long sink;
    static volatile Object kept;
    static long entries;
    // With -Dmended=true, fourteen of the faults take half of their time.
    static final int PART = Boolean.getBoolean("mended") ? 2 : 1;
    // The number of calls of `other`. Each program calls it once for each unit of its work.
    static final AtomicLong UNITS = new AtomicLong();

    // A small part of the time is other work.
    static void other(long micros) { // OTHER
        UNITS.incrementAndGet(); // OTHER
        long end = System.nanoTime() + micros * 1000; // OTHER
        while (System.nanoTime() < end) { // OTHER
            sink++; // OTHER
        } // OTHER
    }

    static long price(int items) {
        long sum = 0;
        for (int i = 0; i < items; i++) { // FAULT processor
            sum = sum * 31 + i % 7; // FAULT processor
        } // FAULT processor
        return sum;
    }

    static void processor() {
        while (true) {
            sink += price(20_000_000 / PART);
            other(2_000);
        }
    }

    static void audit() throws InterruptedException {
        synchronized (LOCK) { // FAULT monitor
            Thread.sleep(20 / PART); // FAULT monitor
        }
    }

    static void serve() {
        try {
            while (true) {
                audit();
                other(1_000);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void reserve() throws InterruptedException {
        QUEUE.lock(); // FAULT lock
        try {
            Thread.sleep(20 / PART); // ALSO lock
        } finally {
            QUEUE.unlock();
        }
    }

    static void order() {
        try {
            while (true) {
                reserve();
                other(1_000);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void retry() throws InterruptedException {
        Thread.sleep(50 / PART); // FAULT sleep
    }

    static void sleep() throws InterruptedException {
        while (true) {
            retry();
            other(5_000);
        }
    }

    // The loop begins before any search and never ends.
    static void loop() {
        long n = 1;
        while (true) { // FAULT loop
            n = n * 6364136223846793005L + 1442695040888963407L; // FAULT loop
            sink = n; // FAULT loop
        }
    }

    static void hidden(int n) {
        for (int i = 0; i < n / PART; i++) { // FAULT hidden
            sink += i % 3; // FAULT hidden
        } // FAULT hidden
    }

    // Each of 30 callers takes a thirtieth of the time: less than a threshold of 5 %.
    interface Caller {
        void call();
    }

    static void hiddenBehindManyCallers() {
        Caller[] callers = {
            Faults::c00, Faults::c01, Faults::c02, Faults::c03, Faults::c04, Faults::c05, Faults::c06, Faults::c07,
            Faults::c08, Faults::c09, Faults::c10, Faults::c11, Faults::c12, Faults::c13, Faults::c14, Faults::c15,
            Faults::c16, Faults::c17, Faults::c18, Faults::c19, Faults::c20, Faults::c21, Faults::c22, Faults::c23,
            Faults::c24, Faults::c25, Faults::c26, Faults::c27, Faults::c28, Faults::c29,
        };
        while (true) {
            for (Caller caller : callers) {
                caller.call();
            }
        }
    }

    static void c00() { hidden(300_000); other(100); }
    static void c01() { hidden(300_000); other(100); }
    static void c02() { hidden(300_000); other(100); }
    static void c03() { hidden(300_000); other(100); }
    static void c04() { hidden(300_000); other(100); }
    static void c05() { hidden(300_000); other(100); }
    static void c06() { hidden(300_000); other(100); }
    static void c07() { hidden(300_000); other(100); }
    static void c08() { hidden(300_000); other(100); }
    static void c09() { hidden(300_000); other(100); }
    static void c10() { hidden(300_000); other(100); }
    static void c11() { hidden(300_000); other(100); }
    static void c12() { hidden(300_000); other(100); }
    static void c13() { hidden(300_000); other(100); }
    static void c14() { hidden(300_000); other(100); }
    static void c15() { hidden(300_000); other(100); }
    static void c16() { hidden(300_000); other(100); }
    static void c17() { hidden(300_000); other(100); }
    static void c18() { hidden(300_000); other(100); }
    static void c19() { hidden(300_000); other(100); }
    static void c20() { hidden(300_000); other(100); }
    static void c21() { hidden(300_000); other(100); }
    static void c22() { hidden(300_000); other(100); }
    static void c23() { hidden(300_000); other(100); }
    static void c24() { hidden(300_000); other(100); }
    static void c25() { hidden(300_000); other(100); }
    static void c26() { hidden(300_000); other(100); }
    static void c27() { hidden(300_000); other(100); }
    static void c28() { hidden(300_000); other(100); }
    static void c29() { hidden(300_000); other(100); }

    // Two connections for eight threads.
    static final ArrayBlockingQueue<Object> CONNECTIONS = new ArrayBlockingQueue<>(2);

    static Object borrow() throws InterruptedException {
        return CONNECTIONS.take(); // FAULT pool
    }

    static void query() throws InterruptedException {
        Object connection = borrow();
        try {
            Thread.sleep(20); // ALSO pool
        } finally {
            CONNECTIONS.put(connection);
        }
    }

    static void handle() {
        try {
            while (true) {
                query();
                other(1_000);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void pool() throws InterruptedException {
        CONNECTIONS.add("first");
        CONNECTIONS.add("second");
        threads(8, Faults::handle);
    }

    static void buffers() {
        byte[][] ring = new byte[64][];
        for (int i = 0; i < 20_000 / PART; i++) { // FAULT allocation
            ring[i & 63] = new byte[2_000]; // FAULT allocation
        } // FAULT allocation
        kept = ring;
    }

    static void allocation() {
        while (true) {
            buffers();
            other(500);
        }
    }

    // Half a million live objects in a small heap: each collection copies or marks them.
    static void history() {
        ArrayDeque<long[]> events = new ArrayDeque<>();
        while (true) { // FAULT collections
            events.addLast(new long[4]); // FAULT collections
            if (events.size() > 500_000) { // FAULT collections
                events.removeFirst(); // FAULT collections
            } // FAULT collections
        }
    }

    static void journal(RandomAccessFile file) throws IOException {
        if (++entries % PART != 0) {
            return;
        }
        file.seek(0);
        file.write(new byte[4096]);
        file.getFD().sync(); // FAULT file
    }

    static void file() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(temporary("journal"), "rw")) {
            while (true) {
                journal(file);
                other(50);
            }
        }
    }

    static String temporary(String name) {
        return System.getProperty("java.io.tmpdir") + "/" + name + ProcessHandle.current().pid();
    }

    static void answer(ServerSocket server) {
        try (Socket socket = server.accept()) {
            InputStream in = socket.getInputStream();
            while (in.read() >= 0) { // ALSO socket
                Thread.sleep(20); // ALSO socket
                socket.getOutputStream().write(1);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static int fetch(InputStream in, OutputStream out) throws IOException {
        out.write(1);
        return in.read(); // FAULT socket
    }

    static void socket() throws IOException {
        try (ServerSocket server = new ServerSocket(0)) {
            Thread thread = new Thread(() -> answer(server), "server");
            thread.setDaemon(true);
            thread.start();
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                while (true) {
                    sink += fetch(socket.getInputStream(), socket.getOutputStream());
                    other(1_000);
                }
            }
        }
    }

    static int find(PreparedStatement statement, int number) throws SQLException {
        statement.setString(1, "%" + number);
        try (ResultSet rows = statement.executeQuery()) { // FAULT statement
            rows.next();
            return rows.getInt(1);
        }
    }

    static void statement() throws SQLException {
        try (Connection database = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            database.createStatement().execute("create table item(name varchar)");
            database.createStatement().execute("insert into item select 'item' || x from system_range(1, 5000)");
            ready();
            String text = "select count(*) from item where name like ?";
            try (PreparedStatement statement = database.prepareStatement(text)) {
                for (int i = 0; true; i++) {
                    sink += find(statement, i);
                    other(100);
                }
            }
        }
    }

    static int parse(String text, int depth) {
        if (depth > 0) {
            return parse(text, depth - 1) + 1; // ALSO exceptions
        }
        throw new IllegalArgumentException("not a number: " + text); // FAULT exceptions
    }

    static void exceptions() {
        while (true) {
            try {
                if (++entries % PART == 0) {
                    sink += parse("x", 60);
                }
            } catch (IllegalArgumentException e) {
                sink--;
            }
            other(1);
        }
    }

    // Each `finally` block is in the bytecode once for each way out, so the method has more than
    // 8,000 bytes, and HotSpot does not compile it.
    static int huge(int n) {
        int x = n;
        for (int i = 0; i < n; i++) { // FAULT interpreted
            x = x * 31 + (i ^ x >>> 3); // FAULT interpreted
        } // FAULT interpreted
        try { x++; } finally { try { x += 2; } finally { try { x += 3; } finally { try { x += 4; } finally {
        try { x += 5; } finally { try { x += 6; } finally { try { x += 7; } finally { try { x += 8; } finally {
            x += x << 13; x ^= x >>> 7; x += x << 17; x ^= x >>> 5; x += x << 3; x ^= x >>> 11;
        } } } } } } } }
        return x;
    }

    static void interpreted() {
        while (true) {
            sink += huge(100_000 / PART);
            other(200);
        }
    }

    static boolean isOrder(Pattern pattern, String text) {
        return pattern.matcher(text).matches(); // FAULT regex
    }

    static void regex() {
        Pattern pattern = Pattern.compile("(.*,){6}order");
        String text = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24";
        while (true) {
            if (++entries % PART == 0) {
                sink += isOrder(pattern, text) ? 1 : 0;
            }
            other(10);
        }
    }

    static void trace(Logger logger, int number) {
        logger.info("order " + number); // FAULT logging
    }

    static void logging() throws IOException {
        Logger logger = Logger.getLogger("orders");
        FileHandler handler = new FileHandler(temporary("log"), 1_000_000, 1);
        handler.setFormatter(new SimpleFormatter());
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        for (int i = 0; true; i++) {
            if (i % PART == 0) {
                trace(logger, i);
            }
            other(1);
        }
    }

    static String report(int lines) {
        String text = "";
        for (int i = 0; i < lines; i++) { // FAULT strings
            text += "line\n"; // FAULT strings
        } // FAULT strings
        return text;
    }

    static void strings() {
        while (true) {
            sink += report((int) (6_000 / Math.sqrt(PART))).length();
            other(500);
        }
    }

    // The time grows with the square of the number of items.
    static boolean hasTwice(int[] items) {
        for (int i = 0; i < items.length; i++) { // FAULT duplicates
            for (int j = 0; j < i; j++) { // FAULT duplicates
                if (items[i] == items[j]) { // FAULT duplicates
                    return true;
                }
            }
        }
        return false;
    }

    static void duplicates() {
        for (int number = 0; ; number++) {
            int[] items = new int[number % (4 * PART) == 0 ? 6_000 : 6];
            for (int i = 0; i < items.length; i++) {
                items[i] = number * 31 + i;
            }
            sink += hasTwice(items) ? 1 : 0;
            other(50);
        }
    }

    static Integer lookup(Map<SimpleEntry<String, String>, Integer> map, SimpleEntry<String, String> key) {
        return map.get(key); // FAULT collisions
    }

    // "Aa" and "BB" have the same hash code, and so have all texts that are made of them.
    static void collisions() {
        List<String> names = List.of("");
        for (int i = 0; i < 9; i++) {
            List<String> longer = new ArrayList<>();
            names.forEach(name -> longer.addAll(List.of(name + "Aa", name + "BB")));
            names = longer;
        }
        Map<SimpleEntry<String, String>, Integer> map = new HashMap<>();
        names.forEach(name -> map.put(new SimpleEntry<>(name, ""), name.length()));
        while (true) {
            for (String name : names) {
                if (++entries % PART == 0) {
                    sink += lookup(map, new SimpleEntry<>(name, ""));
                }
            }
            other(100);
        }
    }

    // Two threads increment neighbouring counters of one cache line.
    static final AtomicLongArray COUNTERS = new AtomicLongArray(2);

    static void count(int thread) {
        while (true) { // FAULT sharing
            COUNTERS.incrementAndGet(thread); // FAULT sharing
        } // FAULT sharing
    }

    static void sharing() {
        Thread second = new Thread(() -> count(1), "http-1");
        second.setDaemon(true);
        second.start();
        count(0);
    }

    static void busyPhase(long end) {
        while (System.nanoTime() < end) { // FAULT phases
            sink += sink * 31 % 7; // FAULT phases
        } // FAULT phases
    }

    static void waitingPhase(long end) throws InterruptedException {
        while (System.nanoTime() < end) {
            Thread.sleep(10); // FAULT phases
        }
    }

    static void phases() throws InterruptedException {
        while (true) {
            busyPhase(System.nanoTime() + 2_500_000_000L);
            waitingPhase(System.nanoTime() + 2_500_000_000L);
        }
    }

    static void threads(int count, Runnable body) throws InterruptedException {
        Thread last = null;
        for (int i = 0; i < count; i++) {
            last = new Thread(body, "http-" + i);
            last.setDaemon(true);
            last.start();
        }
        last.join();
    }

    public static void main(String[] args) throws Exception {
        endWithInput();
        if (!args[0].equals("statement")) {
            ready();
        }
        switch (args[0]) {
            case "processor" -> processor();
            case "monitor" -> threads(4, Faults::serve);
            case "lock" -> threads(4, Faults::order);
            case "sleep" -> sleep();
            case "pool" -> pool();
            case "allocation" -> allocation();
            case "collections" -> history();
            case "file" -> file();
            case "socket" -> socket();
            case "statement" -> statement();
            case "exceptions" -> exceptions();
            case "interpreted" -> interpreted();
            case "regex" -> regex();
            case "logging" -> logging();
            case "strings" -> strings();
            case "duplicates" -> duplicates();
            case "collisions" -> collisions();
            case "sharing" -> sharing();
            case "hidden" -> hiddenBehindManyCallers();
            case "loop" -> loop();
            case "phases" -> phases();
            case "idle" -> Thread.currentThread().join();
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    static void ready() {
        System.out.println("pid " + ProcessHandle.current().pid());
    }

    // Ends the program when a line arrives, or after 300 seconds. Between two looks the thread of
    // the timer runs no code of this class. With -Dunits=true, each look prints the units of work and
    // the time in nanoseconds.
    static void endWithInput() {
        boolean showsUnits = Boolean.getBoolean("units");
        long deadline = System.nanoTime() + 300_000_000_000L;
        Timer timer = new Timer("end", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                if (showsUnits) {
                    System.out.println("units " + UNITS.get() + " " + System.nanoTime());
                }
                try {
                    if (System.in.available() > 0 || System.nanoTime() > deadline) {
                        Runtime.getRuntime().halt(0);
                    }
                } catch (IOException e) {
                    System.err.println(e);
                }
            }
        }, 100, 100);
    }
}
