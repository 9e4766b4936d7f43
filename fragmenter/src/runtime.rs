//! Names of the Java runtime classes (`executor/java`) and of their members that armed bodies,
//! anchors and versions refer to.
//!
//! The classes are in the package `java.lang.invoke`, so every class loader finds them and the
//! module graph needs no change.

use std::borrow::Cow;
use veneer_names::MethodId;
use veneer_probes::step::HelperClass;

/// The mutable call site of a method: it decides which version new activations run.
pub const CELL: &str = "java/lang/invoke/VeneerCell";
/// Descriptor of a field or parameter that holds a cell.
pub const CELL_DESCRIPTOR: &str = "Ljava/lang/invoke/VeneerCell;";
/// The live values of an activation on its way from one body to another.
pub const FRAME: &str = "java/lang/invoke/VeneerFrame";
/// Descriptor of a field or parameter that holds a frame.
pub const FRAME_DESCRIPTOR: &str = "Ljava/lang/invoke/VeneerFrame;";
/// Descriptor of the resume body: the body for activations that enter from other code, with a frame
/// as its argument. The types are erased, so that the JVM does not ask the nest host's class loader
/// for the class of frames.
pub const RESUME_DESCRIPTOR: &str = "(Ljava/lang/Object;)Ljava/lang/Object;";
/// The class with the trampoline.
pub const RUNTIME: &str = "java/lang/invoke/VeneerRuntime";
/// The class with the operations of counters, timers and log events.
pub const PROBE: &str = "java/lang/invoke/VeneerProbe";
/// The class with the operations of tables (aggregations).
pub const TABLES: &str = "java/lang/invoke/VeneerTables";
/// The class that finds the shard of the current thread.
pub const THREADS: &str = "java/lang/invoke/VeneerThreads";
/// The class that writes the event traces of threads.
pub const TRACE: &str = "java/lang/invoke/VeneerTrace";
/// The class of the counters of complete call graphs.
pub const CALLS: &str = "java/lang/invoke/VeneerCalls";
/// Name of the runtime method that a probe calls at its end if it calls methods of the application.
pub const LEAVE: &str = "leave";
/// Descriptor of a method handle, and so of a token.
pub const HANDLE_DESCRIPTOR: &str = "Ljava/lang/invoke/MethodHandle;";
/// The class with the access rights of a class (JSR 292).
pub const LOOKUP: &str = "java/lang/invoke/MethodHandles$Lookup";

/// The runtime classes that probes call.
pub const PROBE_CALL_CLASSES: [&str; 3] = [PROBE, TABLES, THREADS];

/// Internal name of the runtime class that a probe step refers to.
pub fn class_name(of: HelperClass) -> &'static str {
    match of {
        HelperClass::Probe => PROBE,
        HelperClass::Tables => TABLES,
        HelperClass::Threads => THREADS,
    }
}

/// Name of the anchor's field that holds the cell of a method.
pub fn cell_field(id: MethodId) -> String {
    format!("c{id}")
}

/// Appends the name of [`cell_field`] in modified UTF-8.
pub fn write_cell_field(out: &mut Vec<u8>, id: MethodId) {
    out.push(b'c');
    write_id(out, id);
}

/// Appends the decimal digits of a method's id.
fn write_id(out: &mut Vec<u8>, id: MethodId) {
    let mut digits = [0; 10];
    let (mut rest, mut first) = (id.0, digits.len());
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// Name of the version's field that holds its token.
pub fn token_field(id: MethodId) -> String {
    format!("t{id}")
}

/// Name of the version's field that holds the offset of a final field of the host, by the field's
/// index in the host's class file.
pub fn final_offset_field(index: u16) -> String {
    format!("f{index}")
}

/// Name of the version's field that holds the method handle for a member of the host, by the
/// operation of the bound call and the index of the member in the host's constant pool.
pub fn bound_field(operation: u8, member: u16) -> String {
    format!("b{operation}_{member}")
}

/// The operation and the member in the name of a field with a method handle ([`bound_field`]).
pub fn bound_member(field: &str) -> Option<(u8, u16)> {
    let (operation, member) = field.strip_prefix('b')?.split_once('_')?;
    Some((operation.parse().ok()?, member.parse().ok()?))
}

/// Name of the runtime method that stores to a final field of the type with this first descriptor
/// character.
pub fn put_final(kind: u8) -> String {
    let kind = if kind == b'[' { b'L' } else { kind };
    format!("putFinal{}", char::from(kind))
}

/// Descriptor of the method [`put_final`]: the object, the value, and the field's offset.
pub fn put_final_descriptor(kind: u8) -> String {
    let value = match kind {
        b'J' => "J",
        b'F' => "F",
        b'D' => "D",
        b'L' | b'[' => "Ljava/lang/Object;",
        _ => "I",
    };
    format!("(Ljava/lang/Object;{value}J)V")
}

/// Name of the body for new activations: the application method's name, for tools that show frames,
/// and the method's id.
pub fn enter_method(method: &str, id: MethodId) -> String {
    format!("{}$e{id}", sanitized(method))
}

/// Appends the name of [`enter_method`] in modified UTF-8.
pub fn write_enter_method(out: &mut Vec<u8>, method: &str, id: MethodId) {
    // A sanitised name has no character that modified UTF-8 and UTF-8 encode differently.
    out.extend_from_slice(sanitized(method).as_bytes());
    out.extend_from_slice(b"$e");
    write_id(out, id);
}

/// Name of the body for activations that enter from other code.
pub fn resume_method(method: &str, id: MethodId) -> String {
    format!("{}$r{id}", sanitized(method))
}

/// The key of a part of a split method, by the number of the part in its version class. It takes the
/// place of a method id in the table of positions, and differs from each of them. `None` if there are
/// too many parts.
pub fn part_key(number: u32) -> Option<i32> {
    const FIRST: i32 = 1 << 30;
    FIRST.checked_add(i32::try_from(number).ok()?)
}

/// Name of the method with a part of a split method.
pub fn part_method(method: &str, key: i32) -> String {
    format!("{}$p{key}", sanitized(method))
}

/// Whether a method of a version class is a part of a split method.
pub fn is_part(method: &str) -> bool {
    let key = method.rsplit_once("$p").map(|(_, key)| key.parse::<i32>());
    matches!(key, Some(Ok(_)))
}

/// Name of the method of a compiled probe, by its number in the version class.
pub fn probe_method(n: usize) -> String {
    format!("run{n}")
}

/// The method id in the name of a body, or `None` for other methods.
pub fn method_id(body: &str) -> Option<MethodId> {
    let (_, id) = body.rsplit_once('$')?;
    id.strip_prefix(['e', 'r'])?.parse().ok().map(MethodId)
}

/// A method's name in a form that may be part of another name. Characters that a method name must
/// not contain (as in `<init>`) are removed or replaced. So are characters that modified UTF-8 and
/// UTF-8 encode differently.
fn sanitized(method: &str) -> Cow<'_, str> {
    let name = method.trim_matches(['<', '>']);
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-');
    if name.len() <= 200 && name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let plain = |c: char| {
        if u32::from(c) < 0x1_0000 && c.is_alphanumeric() || "_$-".contains(c) {
            c
        } else {
            '_'
        }
    };
    Cow::Owned(name.chars().take(200).map(plain).collect())
}

/// Name of the anchor's method that casts the instance of a version to the anchor, so that an armed
/// body can call the version's body on it.
pub const ANCHOR_VERSION: &str = "version";

/// Descriptor of [`ANCHOR_VERSION`] in an anchor.
pub fn anchor_version_descriptor(anchor: &str) -> String {
    format!("(Ljava/lang/Object;)L{anchor};")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_names_equal_formatted_names() {
        for id in [0, 7, 10, 65_535, u32::MAX].map(MethodId) {
            let mut field = Vec::new();
            write_cell_field(&mut field, id);
            assert_eq!(field, cell_field(id).as_bytes());
            for method in ["search", "<init>", "a\u{0}b", "\u{1f600}x", "größe"] {
                let mut body = Vec::new();
                write_enter_method(&mut body, method, id);
                assert_eq!(body, enter_method(method, id).as_bytes());
            }
        }
    }
}
