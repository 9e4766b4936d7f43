//! Generates a Java program with a method of more than 8,000 bytes, which HotSpot never compiles: an
//! interpreter with a loop around a `switch` of many cases.
//!
//! `Huge.run` is called once and prints a line for each round:
//!
//! ```text
//!   round 3 sum -8127391823 ms 41
//! ```
//!
//! The sums depend on the round alone. They also contain the line numbers of exceptions, as their stack
//! traces have them.

use std::io;
use std::path::{Path, PathBuf};

/// The number of cases, each of about 80 bytes of bytecode.
const CASES: usize = 240;

/// The distance between two cases that the interpreted program uses. So only some are executed often.
const STRIDE: usize = 23;

/// The pieces of the cases, each of which has three. `@N@` is the number of the case, and `@L@` an odd number that depends on it.
const FORMS: [&str; 9] = [
    "a = a * @L@L + (b ^ @N@);",
    "mem[(int) (a & 63)] += b + @N@; b += mem[@N@ & 63];",
    "if ((a & @L@) == 0) { b += @N@; } else { c -= @N@; }",
    "try { a += Control.check(b, @N@); } catch (IllegalStateException e) { c += e.getStackTrace()[1].getLineNumber(); }",
    "synchronized (mem) { shared += a & @L@; b ^= shared; }",
    "d = d * 0.75 + @N@; a ^= Double.doubleToRawLongBits(d);",
    "for (int k = 0; k < 3; k++) { c = c * 31 + k + @N@; }",
    "s = s.length() > 8 ? \"\" : s + (char) ('a' + (a & 15)); c += s.hashCode();",
    "a = Control.mixed(a, b, (int) c, d, s);",
];

/// Writes the sources of the program into a folder, and returns their paths.
pub fn generate(into: &Path) -> io::Result<Vec<PathBuf>> {
    let cases: String = (0..CASES).map(case).collect();
    let source = SOURCE
        .replace("@CASES@", &cases)
        .replace("@COUNT@", &CASES.to_string())
        .replace("@STRIDE@", &STRIDE.to_string());
    let file = into.join("Huge.java");
    std::fs::write(&file, source)?;
    Ok(vec![file])
}

/// The rounds that the program has printed, with their sums and without their times.
pub fn sums(out: &str) -> Vec<String> {
    let rounds = out.lines().filter(|line| line.starts_with("round "));
    let sum = |line: &str| line.split(" ms ").next().unwrap_or_default().to_string();
    rounds.map(sum).collect()
}

/// The times of the rounds in ms.
pub fn times(out: &str) -> Vec<u64> {
    let times = out.lines().filter_map(|line| line.split_once(" ms "));
    times.filter_map(|(_, ms)| ms.parse().ok()).collect()
}

fn case(number: usize) -> String {
    let pieces = [0, 4, 7].map(|n| FORMS[(number + n) % FORMS.len()]);
    let body = pieces
        .join(" ")
        .replace("@N@", &number.to_string())
        .replace("@L@", &(2 * number + 1).to_string());
    format!("                    case {number}: {{ {body} break; }}\n")
}

/// The program without its cases.
const SOURCE: &str = r#"/** Generated: an interpreter in one method. Arguments: rounds (0: until the input ends), steps a round; with a third, each round is a call. */
public class Huge {
    static long shared;

    public static void main(String[] args) {
        System.out.println("pid " + ProcessHandle.current().pid());
        int rounds = Integer.parseInt(args[0]);
        if (rounds == 0) {
            Control.endWithInput();
        }
        if (args.length > 2) {
            for (int round = 0; Control.goesOn(round, rounds); round++) {
                run(1, Integer.parseInt(args[1]));
            }
            return;
        }
        System.out.println("ended " + run(rounds, Integer.parseInt(args[1])));
    }

    static long run(int rounds, int steps) {
        long a = 1, b = 2, c = 3;
        double d = 4;
        String s = "";
        long[] mem = new long[64];
        int code = 0;
        for (int round = 0; Control.goesOn(round, rounds); round++) {
            long begin = System.nanoTime();
            for (int step = 0; step < steps; step++) {
                code += @STRIDE@;
                if (code >= @COUNT@) {
                    code -= @COUNT@;
                    if (code % @STRIDE@ != step % 3) {
                        code = step % 3;
                    }
                }
                switch (code) {
@CASES@                    default: a++;
                }
            }
            Control.round(round, a ^ b ^ c, begin);
        }
        return a ^ b ^ c;
    }
}

class Control {
    static volatile boolean ended;

    static boolean goesOn(int round, int rounds) {
        return rounds == 0 ? !ended : round < rounds;
    }

    static void endWithInput() {
        Thread reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {}
            } catch (java.io.IOException e) {
                // The input is gone.
            }
            ended = true;
        });
        reader.setDaemon(true);
        reader.start();
    }

    static void round(int round, long sum, long begin) {
        System.out.println("round " + round + " sum " + sum + " ms " + (System.nanoTime() - begin) / 1_000_000);
    }

    static long check(long b, int n) {
        if ((b & 255) == (n & 255)) {
            throw new IllegalStateException("b");
        }
        return b + n;
    }

    static long mixed(long a, long b, int c, double d, String s) {
        return a + 3 * b + c + (long) d + s.length();
    }
}
"#;
