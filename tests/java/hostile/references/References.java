import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * `References CLASS…`: runs every scenario of these classes in a thread of its own. Each scenario
 * creates an object, uses it until the command `drop`, drops its last reference, and continues.
 * Commands on standard input: `start NAME` starts all scenarios as a group, `drop` lets all
 * scenarios drop their objects, `check` collects garbage and prints the objects that still exist,
 * `stop` ends the program.
 */
public class References {
    static final List<Control> ALL = new ArrayList<>();

    /** The commands for one activation of a scenario, and its object. */
    static final class Control {
        final String name;
        volatile boolean drop;
        volatile boolean end;
        volatile boolean dropped;
        volatile boolean over;
        WeakReference<Object> weak;
        Throwable failure;

        Control(String name) {
            this.name = name;
        }

        Object make() {
            Object made = new byte[4096];
            weak = new WeakReference<>(made);
            return made;
        }

        void turn() {
            clearResultOfRuntime(1);
            if (!over) {
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    static volatile Object sink;

    /**
     * Clears the field `_vm_result` of the JVM's thread structure. If code that C1 compiled catches an
     * exception, HotSpot leaves the exception in this field, which is a root for the garbage collector
     * (`exception_handler_for_pc_helper`, with and without Veneer: `docs/faults.md`). An array whose
     * length is not constant in each of two dimensions is a result that every compiler of HotSpot and
     * its interpreter pass in this field and clear.
     */
    static void clearResultOfRuntime(int length) {
        sink = new Object[length][length];
    }

    /** A class of scenarios. */
    public abstract static class Activities {
        abstract String[] names();

        abstract void run(String name, Control control);

        static int use(Object big, int i) {
            return big instanceof byte[] bytes ? bytes.length + i : i;
        }
    }

    static void start(Activities activities, String scenario, String group) {
        Control control = new Control(activities.getClass().getName() + " " + scenario + " " + group);
        Thread thread = new Thread(() -> {
            try {
                activities.run(scenario, control);
            } catch (Throwable e) {
                control.failure = e;
            }
        }, "app-" + control.name);
        thread.setDaemon(true);
        thread.start();
        ALL.add(control);
    }

    static void check() throws Exception {
        for (Control control : ALL) {
            for (int i = 0; i < 2000 && !control.dropped && control.failure == null; i++) {
                Thread.sleep(5);
            }
        }
        List<Control> kept = new ArrayList<>(ALL);
        for (int i = 0; i < 40 && !kept.isEmpty(); i++) {
            System.gc();
            Thread.sleep(25);
            kept.removeIf(control -> control.weak.get() == null);
        }
        for (Control control : ALL) {
            if (control.failure != null) {
                System.out.println("failed " + control.name + ": " + control.failure);
            } else if (!control.dropped) {
                System.out.println("not dropped " + control.name);
            }
        }
        kept.forEach(control -> System.out.println("kept " + control.name));
        System.out.println("checked " + ALL.size());
    }

    public static void main(String[] args) throws Exception {
        System.out.println("pid " + ProcessHandle.current().pid());
        List<Activities> all = new ArrayList<>();
        for (String name : args) {
            Activities activities = (Activities) Class.forName(name).getDeclaredConstructor().newInstance();
            all.add(activities);
            // Let the JIT compile the methods before they are observed.
            for (String scenario : activities.names()) {
                for (int i = 0; i < 60; i++) {
                    Control control = new Control(scenario);
                    control.over = control.drop = control.end = true;
                    activities.run(scenario, control);
                }
            }
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            if (line.startsWith("start ")) {
                for (Activities activities : all) {
                    for (String scenario : activities.names()) {
                        start(activities, scenario, line.substring(6));
                    }
                }
                System.out.println("started " + ALL.size());
            } else if (line.equals("drop")) {
                ALL.forEach(control -> control.drop = true);
                System.out.println("told");
            } else if (line.equals("check")) {
                check();
            }
        }
        ALL.forEach(control -> control.end = true);
    }
}
