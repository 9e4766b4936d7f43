//! test types version=49
class inference_join {
    static class Base {
        int size;

        int grow() {
            return ++size; // f0 live-in {this:inference_join$Base} def {} -> none
        }
    }

    static class Left extends Base {}

    static class Right extends Base {}

    // The only use requires the class that both classes extend.
    static int one(boolean b) {
        Left left = new Left();
            // f0 live-in {b:boolean} def {left:inference_join$Left, right:inference_join$Right} -> f1 f2
        Right right = new Right();
        Base base = b ? left : right;
            // f1 live-in {left:inference_join$Left} def {s0:inference_join$Left} -> f3
            // f2 live-in {right:inference_join$Right} def {s0:inference_join$Right} -> f3
            // f3 live-in {s0:inference_join$Base} def {base:inference_join$Base} -> none
        return base.grow();
    }

    // An interface is no requirement, because to the verifier every object is assignable to it.
    static void none(boolean b, Thread thread, java.util.TimerTask task) {
        Runnable r = b ? thread : task;
            // f0 live-in {b:boolean, thread:java.lang.Thread, task:java.util.TimerTask} def {} -> f1 f2
            // f1 live-in {thread:java.lang.Thread} def {s0:java.lang.Thread} -> f3
            // f2 live-in {task:java.util.TimerTask} def {s0:java.util.TimerTask} -> f3
            // f3 live-in {s0:java.lang.Object} def {r:java.lang.Object} -> none
        r.run();
        r.run();
    }

    // A value is copied before it is used. Both variables must have the class that the last use requires.
    static Base chain(int n, Left left, Right right) {
        Base kept = null;
            // f0 live-in {n:int, left:inference_join$Left, right:inference_join$Right} def {kept:null} -> f1
        while (n-- > 0) {
            // f1 live-in {n:int, left:inference_join$Left, right:inference_join$Right, kept:inference_join$Base} def {n:int} -> f2 f8
            Base now = n % 2 == 0 ? left : right;
                // f2 live-in {n:int, left:inference_join$Left, right:inference_join$Right, kept:inference_join$Base} def {} -> f3 f4
                // f3 live-in {n:int, left:inference_join$Left, right:inference_join$Right, kept:inference_join$Base} def {s0:inference_join$Left} -> f5
                // f4 live-in {n:int, left:inference_join$Left, right:inference_join$Right, kept:inference_join$Base} def {s0:inference_join$Right} -> f5
                // f5 live-in {n:int, left:inference_join$Left, right:inference_join$Right, kept:inference_join$Base, s0:inference_join$Base} def {now:inference_join$Base} -> f6 f7
            if (n % 3 == 0) {
                kept = now;
                    // f6 live-in {n:int, left:inference_join$Left, right:inference_join$Right, now:inference_join$Base} def {kept:inference_join$Base} -> f7
            }
        }
            // f7 live-in {n:int, left:inference_join$Left, right:inference_join$Right, kept:inference_join$Base} def {} -> f1
        return kept; // f8 live-in {kept:inference_join$Base} def {} -> none
    }

    // One of the incoming classes is required.
    static int both(boolean b, Base base, Left left) {
        Base some = b ? left : base;
            // f0 live-in {b:boolean, base:inference_join$Base, left:inference_join$Left} def {} -> f1 f2
            // f1 live-in {left:inference_join$Left} def {s0:inference_join$Left} -> f3
            // f2 live-in {base:inference_join$Base} def {s0:inference_join$Base} -> f3
            // f3 live-in {s0:inference_join$Base} def {some:inference_join$Base} -> none
        some.size = 3;
        return some.grow();
    }

    // A requirement on an element becomes a requirement on its array.
    static int array(boolean b, Left[] left, Right[] right) {
        Base[] bases = b ? left : right;
            // f0 live-in {b:boolean, left:inference_join$Left[], right:inference_join$Right[]} def {} -> f1 f2
            // f1 live-in {left:inference_join$Left[]} def {s0:inference_join$Left[]} -> f3
            // f2 live-in {right:inference_join$Right[]} def {s0:inference_join$Right[]} -> f3
            // f3 live-in {s0:inference_join$Base[]} def {bases:inference_join$Base[], n:int, i:int} -> f4
        int n = 0;
        for (int i = 0; i < bases.length; i++) {
            // f4 live-in {bases:inference_join$Base[], n:int, i:int} def {} -> f5 f6
            n += bases[i].grow();
                // f5 live-in {bases:inference_join$Base[], n:int, i:int} def {n:int, i:int} -> f4
        }
        return n; // f6 live-in {n:int} def {} -> none
    }
}
