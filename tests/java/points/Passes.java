import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * Points of every kind, in loops. In the middle of its run, the thread prints {@code waiting}
 * inside the loops, and continues after a line.
 *
 * <p>{@code //: turns.writes().before(counter()) = 5 | 3} states the expected values at the next
 * line with code: 5 if the plan was attached before the program, 3 if it was attached while the
 * thread waited. Three activations exist at that time: {@code fails} in its iteration 1, {@code
 * values}, called by it, in iteration 1, and {@code turns}, called by that, at the end of its
 * iteration 1. Plans reach each at its next loop header. {@code #} is the line number, {@code
 * put(…)} keeps values of this line in order, {@code -} is nothing.
 */
public class Passes {
    int field;
    static long total;

    static void await(BufferedReader in) throws IOException {
        System.out.println("waiting");
        in.readLine();
    }

    static int helper(int x, boolean even) {
        //: helper.before(counter()) = 5 | 3
        //: helper.before(|p| put(p.x, p.even)) = 0,true 1,false 2,true 3,false 4,true | 2,true 3,false 4,true
        //: helper.after(counter()) = 5 | 3
        //: helper.after(|p| put(here().len)) = 16 16 16 16 16 | 16 16 16
        //: helper.around(timer()) = 5 | 3
        //: helper.entry().before(counter()) = 5 | 3
        return even ? x : -x;
    }

    static int values(Passes s, BufferedReader in, int[] cells, String[] words) throws IOException {
        int sum = 0;
        for (int n = 0; n < 5; n++) {
            //: values.array_writes().before(counter()) = 5 | 3
            //: values.array_writes().before(|p| put(p.index, p.value, p.array.len)) = 0,0,4 1,10,4 2,20,4 3,30,4 0,40,4 | 2,20,4 3,30,4 0,40,4
            //: values.array_writes().after(|p| put(p.cells[p.n % 4])) = 0 10 20 30 40 | 20 30 40
            cells[n % 4] = 10 * n;
            //: values.array_reads().before(counter()) = 5 | 3
            //: values.array_reads().before(|p| put(p.index, p.array.len, p.array == p.cells)) = 1,4,true 2,4,true 3,4,true 0,4,true 1,4,true | 3,4,true 0,4,true 1,4,true
            //: values.array_reads().after(|p| put(p.result)) = 101 102 103 0 10 | 103 0 10
            sum += cells[(n + 1) % 4];
            //: values.array_reads().after(|p| put(p.result)) = "a" "bb" "ccc" "a" "bb" | "ccc" "a" "bb"
            String word = words[n % 3];
            //: values.calls("java.lang.String::length()").before(counter()) = 5 | 3
            //: values.calls("java.lang.String::length()").before(|p| put(p.receiver, p.receiver == p.word)) = "a",true "bb",true "ccc",true "a",true "bb",true | "ccc",true "a",true "bb",true
            //: values.calls("*..String::length()").after(|p| put(p.result)) = 1 2 3 1 2 | 3 1 2
            //: values.call_sites("invokevirtual").before(counter()) = 5 | 3
            //: values.call_sites().before(|p| put(p.n)) = 0 1 2 3 4 | 2 3 4
            //: values.call_graph().before(counter()) = 5 | 3
            //: values.call_graph().before(|p| put(p.n)) = 0 1 2 3 4 | 2 3 4
            sum += word.length();
            //: values.calls().before(counter()) = 5 | 3
            //: values.calls("Passes::helper(..)").before(|p| put(p.arg0, p.arg1)) = 0,true 1,false 2,true 3,false 4,true | 2,true 3,false 4,true
            //: values.calls("Passes::helper(..)").after(|p| put(p.result)) = 0 -1 2 -3 4 | 2 -3 4
            //: values.calls("Passes::helper(..)").after(counter()) = 5 | 3
            //: values.calls("Passes::helper(..)").around(timer()) = 5 | 3
            //: values.branches().before(|p| put(p.value)) = 0 1 0 1 0 | 0 1 0
            sum += helper(n, n % 2 == 0);
            //: values.allocations().before(|p| put(p.length)) = 0 1 2 0 1 | 2 0 1
            //: values.allocations().after(|p| put(p.result.len)) = 0 1 2 0 1 | 2 0 1
            long[] longs = new long[n % 3];
            //: values.allocations().before(|p| put(p.length)) = 1 2 3 4 5 | 3 4 5
            //: values.allocations().after(|p| put(p.result.len, class_of(p.result))) = 1,"[Ljava.lang.Object;" 2,"[Ljava.lang.Object;" 3,"[Ljava.lang.Object;" 4,"[Ljava.lang.Object;" 5,"[Ljava.lang.Object;" | 3,"[Ljava.lang.Object;" 4,"[Ljava.lang.Object;" 5,"[Ljava.lang.Object;"
            Object[] objects = new Object[n + 1];
            //: values.allocations().after(|p| put(p.result.len, p.result[0].len)) = 1,7 2,7 3,7 4,7 5,7 | 3,7 4,7 5,7
            int[][] grid = new int[n + 1][7];
            sum += longs.length + objects.length - grid.length;
            if (n == 1) {
                //: values.calls().after(|p| put(p.result, p.n)) = 19,1 | -
                sum += turns(s, in, words);
            }
        }
        //: values.exits().before(|p| put(p.sum)) = 350 | 350
        return sum;
    }

    static int turns(Passes s, BufferedReader in, String[] words) throws IOException {
        //: turns.before(counter()) = 1 | 0
        //: turns.before(|p| put(p.words.len, p.s.field)) = 3,9 | -
        //: turns.after(counter()) = 1 | 1
        //: turns.after(|p| put(1)) = 1 | 1
        //: turns.around(timer()) = 1 | 0
        //: turns.entry().before(counter()) = 1 | 0
        //: turns.entry().before(|p| put(p.words[1])) = "bb" | -
        //: turns.exits().before(counter()) = 0 | 0
        int sum = 0;
        // The header of the loop, and its step.
        //: turns.loops().before(counter()) = 6 | 4
        //: turns.loops().before(|p| put(p.n)) = 0 1 2 3 4 5 | 2 3 4 5
        //: turns.loops().around(timer()) = 5 | 3
        //: turns.loop_exits().before(|p| put(p.turns)) = 5 | -
        //: turns.line(#).before(counter()) = 6 | 4
        //: turns.line(#).before(|p| put(p.n)) = 0 1 2 3 4 5 | 2 3 4 5
        //: turns.blocks().before(counter()) = 5 6 | 3 4
        //: turns.blocks().before(counter().each()) = 5 6 | 3 4
        // Edges to the header from the code before the loop and from the step; edges to the step.
        //: turns.edges().before(counter()) = 1 1 4 5 | 0 0 3 3
        //: turns.edges().before(counter().each()) = 1 1 4 5 | 0 0 3 3
        for (int n = 0; n < 5; n++) {
            //: turns.writes("field").before(counter()) = 5 | 3
            //: turns.writes("field").after(counter()) = 5 | 3
            //: turns.writes("Passes.field").before(|p| put(p.value, p.object == p.s)) = 0,true 1,true 2,true 3,true 4,true | 2,true 3,true 4,true
            //: turns.writes().after(|p| put(p.s.field)) = 0 1 2 3 4 | 2 3 4
            //: turns.writes().around(timer()) = 5 | 3
            //: turns.line(#).before(counter()) = 5 | 3
            //: turns.line([#]).before(|p| put(p.n, p.sum)) = 0,0 1,2 2,4 3,6 4,10 | 2,4 3,6 4,10
            //: turns.blocks().before(|p| put(p.n)) = 0 1 2 3 4 | 2 3 4
            //: turns.blocks().after(counter()) = 5 | 3
            //: turns.blocks().around(timer()) = 5 | 3
            s.field = n;
            //: turns.reads("field").before(counter()) = 5 | 3
            //: turns.reads("field").before(|p| put(p.object.field, p.object == p.s)) = 0,true 1,true 2,true 3,true 4,true | 2,true 3,true 4,true
            //: turns.reads("Passes.field").after(|p| put(p.result)) = 0 1 2 3 4 | 2 3 4
            //: turns.reads("total").after(|p| put(p.result)) = 0 0 1 3 6 | 1 3 6
            //: turns.reads().after(counter()) = 5 5 | 3 3
            //: turns.writes("total").before(|p| put(p.value)) = 0 1 3 6 10 | 3 6 10
            //: turns.instructions("ladd").before(counter()) = 5 | 3
            //: turns.instructions("ladd").after(counter()) = 5 | 3
            //: turns.instructions("i2l").before(|p| put(p.n)) = 0 1 2 3 4 | 2 3 4
            //: turns.instructions().before(counter()) = 5 5 5 5 5 5 | 3 3 3 3 3 3
            total += s.field;
            // A new object has no value yet that could be read.
            //: turns.allocations().before(counter()) = 5 | 3
            //: turns.allocations().before(|p| put(p.n)) = 0 1 2 3 4 | 2 3 4
            //: turns.allocations().after(counter()) = 5 | 3
            Object lock = new Object();
            //: turns.monitor_enters().before(counter()) = 5 | 3
            //: turns.monitor_enters().after(counter()) = 5 | 3
            //: turns.monitor_enters().before(|p| put(class_of(p.object))) = "java.lang.Object" "java.lang.Object" "java.lang.Object" "java.lang.Object" "java.lang.Object" | "java.lang.Object" "java.lang.Object" "java.lang.Object"
            synchronized (lock) {
                //: turns.line(#).before(|p| put(p.n)) = 0 1 2 3 4 | 2 3 4
                sum += n;
                // The second monitor exit is for exceptions.
                //: turns.monitor_exits().before(counter()) = 0 5 | 0 3
                //: turns.monitor_exits().after(counter()) = 0 5 | 0 3
                //: turns.monitor_exits().before(|p| put(class_of(p.object))) = "java.lang.Object" "java.lang.Object" "java.lang.Object" "java.lang.Object" "java.lang.Object" | "java.lang.Object" "java.lang.Object" "java.lang.Object"
            }
            try {
                if (n % 2 == 0) {
                    //: turns.throws().before(counter()) = 3 | 2
                    //: turns.throws().before(|p| put(p.exception.detailMessage, p.n)) = "a",0 "ccc",2 "bb",4 | "ccc",2 "bb",4
                    throw new IllegalStateException(words[n % 3]);
                }
                //: turns.handlers().before(counter()) = 3 | 2
                //: turns.handlers().after(counter()) = 3 | 2
                //: turns.handlers().before(|p| put(class_of(p.exception), p.n)) = "java.lang.IllegalStateException",0 "java.lang.IllegalStateException",2 "java.lang.IllegalStateException",4 | "java.lang.IllegalStateException",2 "java.lang.IllegalStateException",4
            } catch (IllegalStateException e) {
                sum++;
            }
            //: turns.switches().before(counter()) = 5 | 3
            //: turns.switches().before(|p| put(p.key)) = 0 1 2 0 1 | 2 0 1
            switch (n % 3) {
                case 0:
                    //: turns.blocks().before(counter()) = 2 | 1
                    //: turns.edges().before(|p| put(p.n)) = 0 3 | 3
                    sum++;
                    break;
                case 1:
                    //: turns.blocks().before(counter()) = 2 | 1
                    //: turns.edges().before(|p| put(p.n)) = 1 4 | 4
                    sum += 2;
                    break;
                default:
            }
            //: turns.loops().before(counter()) = 15 | 12
            //: turns.loops().before(|p| if p.j == p.n { put(p.n) }) = 0 1 2 3 4 | 2 3 4
            //: turns.loops().around(timer()) = 14 | 11
            //: turns.loop_exits().before(|p| put(p.turns)) = 0 1 2 3 4 | 2 3 4
            for (int j = 0; j < n; j++) {
                //: turns.blocks().before(counter()) = 10 | 9
                //: turns.edges().before(counter()) = 10 | 9
                sum += j - 1;
            }
            //: turns.branches().before(counter()) = 5 | 3
            //: turns.branches().before(|p| put(p.left, p.right)) = 0,1 1,1 2,1 3,1 4,1 | 2,1 3,1 4,1
            if (n == 1) {
                //: turns.blocks().before(counter()) = 1 | 0
                //: turns.calls().before(counter()) = 1 | 0
                //: turns.calls().after(counter()) = 1 | 0
                await(in);
            }
        }
        //: turns.exits().before(counter()) = 1 | 1
        //: turns.exits().before(|p| put(p.sum)) = 19 | 19
        //: turns.line(#).before(counter()) = 1 | 1
        //: turns.edges().before(counter()) = 1 | 1
        return sum;
    }

    /**
     * Ends with an exception.
     *
     * <pre>
     *   f0 → f1 header: iteration 3? → f2 throws
     *                              └→ f3 iteration 1? → f4 values ┐
     *                                                └→ f5 step ←─┘   f5 → f1
     * </pre>
     */
    static int fails(Passes s, BufferedReader in, int[] cells, String[] words) throws IOException {
        //: fails.before(counter()) = 1 | 0
        //: fails.after(counter()) = 1 | 1
        //: fails.after(|p| put(2)) = 2 | 2
        //: fails.around(timer()) = 1 | 0
        //: fails.exits().before(counter()) = 1 | 1
        int sum = 0;
        //: fails.block(5).before(counter()) = 3 | 1
        //: fails.block(5).before(|p| put(p.turn, p.sum)) = 0,0 1,350 2,350 | 2,350
        //: fails.block([5]).after(counter()) = 3 | 1
        //: fails.block(5).after(|p| put(p.turn)) = 1 2 3 | 3
        //: fails.block(5).around(timer()) = 3 | 1
        for (int turn = 0; ; turn++) {
            //: fails.edge(5, 1).before(counter()) = 3 | 1
            //: fails.edge(5, 1).after(counter()) = 3 | 1
            //: fails.edge(5, 1).before(|p| put(p.turn)) = 1 2 3 | 3
            //: fails.edge([[5, 1], [0, 1]]).before(counter()) = 1 3 | 0 1
            //: fails.edge(5, 1).around(timer()) = 2 | 0
            //: fails.loops().before(counter()) = 4 | 2
            //: fails.loop_exits().before(|p| put(p.turns)) = 3 | -
            //: fails.block(1).before(counter()) = 4 | 2
            if (turn == 3) {
                //: fails.throws().before(|p| put(p.exception.detailMessage)) = "three" | "three"
                //: fails.edge(1, 2).before(counter()) = 1 | 1
                throw new IllegalArgumentException("three");
            }
            if (turn == 1) {
                //: fails.calls("Passes::values(..)").before(|p| put(p.arg2.len)) = 4 | -
                //: fails.calls("Passes::values(..)").after(|p| put(p.result)) = 350 | -
                sum += values(s, in, cells, words);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        System.out.println("pid " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Passes s = new Passes();
        s.field = 9;
        int[] cells = {100, 101, 102, 103};
        try {
            fails(s, in, cells, new String[] {"a", "bb", "ccc"});
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage() + " total " + total + " cells " + java.util.Arrays.toString(cells));
        }
    }
}
