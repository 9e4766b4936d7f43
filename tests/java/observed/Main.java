package observed;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Does what the lines of standard input name, and prints what must have happened. */
public class Main {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("pid " + ProcessHandle.current().pid());
        String line = in.readLine();
        while (line != null && !line.equals("stop")) {
            if (line.equals("run")) {
                Work.all();
            } else if (line.equals("heap")) {
                Heap.all();
            } else if (line.equals("park")) {
                Parking.all();
            } else if (line.equals("spin")) {
                Spin.measured();
            }
            System.out.println("done");
            line = in.readLine();
        }
    }
}
