package tracing;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Runs the work once for each line `run` of standard input. */
public class Main {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("pid " + ProcessHandle.current().pid());
        // Loaded before a recording begins. The other classes are loaded by the first `run`.
        long sum = Early.touch(1);
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            if (line.equals("run")) {
                sum += Early.touch(2) + Work.all();
            }
            System.out.println("sum " + sum);
            line = in.readLine();
        }
    }
}

/** A class that is loaded before the recording begins. */
class Early {
    static long touch(int n) {
        return n;
    }
}
