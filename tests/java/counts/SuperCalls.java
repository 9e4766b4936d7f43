//! Calls of `super.m()`, also into JDK classes of other packages, and their protected members: `clone`,
//! `removeEldestEntry`, `ClassLoader.findClass`, `Reader`, the protected array of a byte stream.

import java.io.ByteArrayOutputStream;
import java.io.FilterReader;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.Map;

public class SuperCalls {
    static class A { // blocks 4
        int m(int n) { // entries 9; exits 9; timer 9
            return n + 1; // blocks 9
        }

        long wide(long a, double b) { // entries 2; exits 2
            return a * 2 + (long) b; // blocks 2
        }
    }

    static class B extends A { // blocks 4
        @Override
        int m(int n) { // entries 2; exits 2; timer 2
            int s = 0; // blocks 2
            for (int i = 0; i < n; i++) { // blocks 11
                s += super.m(i); // blocks 9
            }
            return s; // blocks 2
        }

        @Override
        long wide(long a, double b) { // entries 2; exits 2; timer 2
            return a < 0 ? super.wide(-a, b) : super.wide(a, b) + 1; // blocks 2 1 1 2
        }
    }

    static class C extends B { // blocks 1
        @Override
        int m(int n) { // entries 1; exits 1
            return super.m(n) * 2; // blocks 1
        }
    }

    static class Copy implements Cloneable { // blocks 1
        int[] data = {1, 2};

        @Override
        protected Object clone() throws CloneNotSupportedException { // entries 1; exits 1; timer 1
            Copy copy = (Copy) super.clone(); // blocks 1
            copy.data = data.clone();
            return copy;
        }
    }

    static class Cache extends LinkedHashMap<String, Integer> { // blocks 1
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) { // entries 7; exits 7; timer 7
            return super.removeEldestEntry(eldest) || size() > 3; // blocks 7 7 4 3 7
        }
    }

    static class Loader extends ClassLoader { // blocks 2
        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException { // entries 1; exits 1; timer 1
            if (name.startsWith("none.")) { // blocks 1
                return super.findClass(name); // blocks 1
            }
            return findLoadedClass(name); // blocks 0
        }

        @Override
        public String toString() { // entries 1; exits 1
            return "loader of " + (findResource("none") == null ? "nothing" : "none"); // blocks 1 1 0 1
        }
    }

    static class Upper extends FilterReader {
        Upper(Reader in) { // entries 1; exits 1
            super(in); // blocks 1
        }

        @Override
        public int read() throws IOException { // entries 6; exits 6; timer 6
            synchronized (lock) { // blocks 6
                int c = in.read();
                return c < 0 ? super.read() : Character.toUpperCase(c); // blocks 1 5 6
            } // blocks 0
        }
    }

    static class Bytes extends ByteArrayOutputStream { // blocks 1
        int sum() { // entries 1; exits 1
            int s = 0; // blocks 1
            for (int i = 0; i < count; i++) { // blocks 5
                s += buf[i]; // blocks 4
            }
            return s; // blocks 1
        }
    }

    static String load() { // entries 1; exits 1
        try {
            return new Loader().loadClass("none.Such").getName(); // blocks 1
        } catch (ClassNotFoundException e) { // blocks 1
            return e.getMessage();
        }
    }

    static String read(String text) throws IOException { // entries 1; exits 1
        StringBuilder s = new StringBuilder(); // blocks 1
        Reader reader = new Upper(new StringReader(text));
        for (int c = reader.read(); c >= 0; c = reader.read()) { // blocks 6
            s.append((char) c); // blocks 5
        }
        return s.toString(); // blocks 1
    }

    public static void main(String[] args) throws Exception { // entries 1; exits 1
        int a = new B().m(5) + new C().m(4); // blocks 1
        long b = new B().wide(-7, 2.5) + new B().wide(1L << 40, 3);
        Copy copy = new Copy();
        Copy other = (Copy) copy.clone();
        other.data[0] = 9;
        Cache cache = new Cache();
        for (int i = 0; i < 7; i++) { // blocks 8
            cache.put("k" + i, i); // blocks 7
        }
        Bytes bytes = new Bytes(); // blocks 1
        bytes.write(new byte[] {1, 2, 3, 4}, 0, 4);
        int c = bytes.sum();
        System.out.println(a + " " + b + " " + copy.data[0] + other.data[0] + " " + cache + " " + c);
        System.out.println(load() + " " + new Loader() + " " + read("upper"));
    }
}
