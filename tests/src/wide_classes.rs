//! Generated classes at the limits of the page: a method of thousands of basic blocks, and a class of
//! thousands of methods.

use std::fmt::Write;

/// The access flags `public`, and `public static`.
const PUBLIC: u16 = 0x0001;
const PUBLIC_STATIC: u16 = 0x0009;
/// The access flag that each class file sets (`ACC_SUPER`).
const SUPER: u16 = 0x0020;
/// The version of Java 5, whose class files need no stack maps.
const JAVA_5: u16 = 49;
/// `iload_0; ifeq +4; nop`: two basic blocks in five bytes. A compiler emits at least six, and then no armed
/// method of 10,000 blocks fits into the 65,535 bytes that the JVM allows.
const TWO_BLOCKS: [u8; 5] = [0x1a, 0x99, 0x00, 0x04, 0x00];
/// `iload_0; ireturn`: the last block.
const LAST_BLOCK: [u8; 2] = [0x1a, 0xac];

/// Returns the class file of `Blocks`, whose method `run(boolean)` has `2 * pairs + 1` basic blocks.
pub fn class_of_blocks(pairs: usize) -> Vec<u8> {
    let mut code = TWO_BLOCKS.repeat(pairs);
    code.extend(LAST_BLOCK);
    let mut file = Vec::new();
    file.extend(0xCAFE_BABE_u32.to_be_bytes());
    put(&mut file, &[0, JAVA_5, 8]);
    for (number, text) in ["Blocks", "java/lang/Object"].iter().enumerate() {
        utf8(&mut file, text);
        // The constant before this one is the name of the class.
        file.push(7);
        put(&mut file, &[2 * number as u16 + 1]);
    }
    for text in ["run", "(Z)Z", "Code"] {
        utf8(&mut file, text);
    }
    put(&mut file, &[PUBLIC | SUPER, 2, 4, 0, 0, 1]);
    put(&mut file, &[PUBLIC_STATIC, 5, 6, 1, 7]);
    // Stack, locals and the length of the code before it; no handlers and no attributes after it.
    file.extend((code.len() as u32 + 12).to_be_bytes());
    put(&mut file, &[1, 1]);
    file.extend((code.len() as u32).to_be_bytes());
    file.extend(&code);
    put(&mut file, &[0, 0, 0]);
    file
}

/// Returns the source of the class `Methods`, which has this many methods.
pub fn class_of_methods(count: usize) -> String {
    let mut source = String::from("public class Methods {\n");
    for number in 0..count {
        // Writing to a string cannot fail.
        let _ = writeln!(
            source,
            "    public static int m{number}(int n) {{ return n + {number}; }}"
        );
    }
    source + "}\n"
}

fn put(file: &mut Vec<u8>, numbers: &[u16]) {
    for number in numbers {
        file.extend(number.to_be_bytes());
    }
}

fn utf8(file: &mut Vec<u8>, text: &str) {
    file.push(1);
    put(file, &[text.len() as u16]);
    file.extend(text.as_bytes());
}
