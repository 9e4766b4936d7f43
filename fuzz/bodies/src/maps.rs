//! Class files of version 50 with damaged stack maps. HotSpot accepts such files, because its old
//! verifier ignores stack maps.
//!
//! ```text
//!   input:  n | n choices | a class file          choices: kind of damage, method, place, value …
//! ```
//!
//! Promises for any bytes: the code does not panic, and its memory is bounded.
//!
//! More promises hold if the type checker accepts the undamaged class file with its version lowered
//! to 50, and its classes have names that the JVM accepts. After the damage, its modern form (version 51) passes the type checker, is its own modern
//! form, and can be armed without a failed check.

use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::Request;
use veneer_fragmenter::classfile::{ClassFile, Code, ConstantTag};
use veneer_fragmenter::inference;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::verify;

use crate::memory;
use crate::pipeline::{Choices, split};

const MEMORY_FACTOR: usize = 16 << 10;
const MEMORY_BASE: usize = 64 << 20;

/// Damages a class file, raises its version and arms it.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let Some((choices, class)) = split(data) else {
        return;
    };
    memory::within(
        MEMORY_BASE + MEMORY_FACTOR * class.len(),
        "stack maps",
        || {
            let Ok(mut file) = ClassFile::parse(class) else {
                return;
            };
            file.major = 50;
            let verifies = file.check_closed().is_ok()
                && has_legal_class_names(&file)
                && verify::class(&file).is_ok();
            damage(&mut file, &mut Choices { bytes: choices });
            if let Ok(bytes) = file.to_bytes() {
                raise(&bytes, verifies);
            }
        },
    );
}

/// Whether the JVM accepts the names of all classes (JVMS 4.2.1). The type checker leaves names to the
/// JVM, which refuses a class such as `LArguments;` before it verifies the class.
fn has_legal_class_names(file: &ClassFile) -> bool {
    let pool = &file.pool;
    let classes = pool
        .indices()
        .filter(|i| pool.tag(*i) == Ok(ConstantTag::Class));
    classes.into_iter().all(|index| {
        pool.class_name(index).is_ok_and(|name| {
            let parts = name.split('/');
            let is_plain = |part: &str| !part.is_empty() && !part.contains(['.', ';', '[']);
            name.starts_with('[') || parts.into_iter().all(is_plain)
        })
    })
}

/// Damages the stack maps of some methods.
fn damage(file: &mut ClassFile, choices: &mut Choices) {
    let pool = file.pool.clone();
    let classes: Vec<u16> = pool
        .indices()
        .filter(|i| pool.tag(*i) == Ok(ConstantTag::Class))
        .collect();
    for method in &mut file.methods {
        let kind = choices.next() % 4;
        let Some(attribute) = method.attributes.iter_mut().find(|a| a.is(&pool, "Code")) else {
            continue;
        };
        let Ok(mut code) = Code::parse(&attribute.info) else {
            continue;
        };
        let map = |a: &veneer_fragmenter::classfile::Attribute| a.is(&pool, "StackMapTable");
        let Some(at) = code.attributes.iter().position(map) else {
            continue;
        };
        let mut info = code.attributes[at].info.to_vec();
        let place = usize::from(choices.next()).min(info.len().saturating_sub(1));
        match kind {
            0 => {}
            1 => {
                code.attributes.remove(at);
            }
            2 => {
                if let Some(byte) = info.get_mut(place) {
                    *byte = choices.next();
                }
                code.attributes[at].info = info.into();
            }
            _ => {
                // Replace the class of the first reference type after a random position.
                let tag = (place.max(2)..info.len().saturating_sub(2)).find(|i| {
                    let named = u16::from_be_bytes([info[i + 1], info[i + 2]]);
                    info[*i] == 7 && classes.contains(&named)
                });
                let new = classes.get(usize::from(choices.next()) % classes.len().max(1));
                if let (Some(tag), Some(new)) = (tag, new) {
                    info[tag + 1..tag + 3].copy_from_slice(&new.to_be_bytes());
                }
                code.attributes[at].info = info.into();
            }
        }
        if let Ok(info) = code.to_bytes() {
            attribute.info = info.into();
        }
    }
}

fn raise(bytes: &[u8], verifies: bool) {
    let modern = match inference::upgrade_class_file(bytes) {
        Ok(modern) => modern,
        Err(refusal) => {
            assert!(
                !(verifies && matches!(refusal, Refusal::Internal(_))),
                "raising: {refusal}"
            );
            return;
        }
    };
    let file = ClassFile::parse(&modern).expect("what was written can be read");
    if file.major < inference::MODERN {
        return;
    }
    if let Err(failure) = verify::class(&file) {
        panic!("the modern form does not pass: {failure}");
    }
    let again = inference::upgrade_class_file(&modern).expect("the modern form is modern");
    assert!(*again == *modern, "the modern form has another modern form");
    let request = Request {
        policy: &Policy::Block,
        first_id: veneer_names::MethodId(1000),
        generation: 0,
        wanted: &|_, _| true,
        forced: &|_, _| true,
        points: false,
        only_loops: false,
        earlier: None,
    };
    if let Err(refusal @ (Refusal::Unverifiable(_) | Refusal::Internal(_))) =
        verify::guard::arm(&file, &request)
    {
        assert!(!verifies, "arming: {refusal}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fuzzer found this class, whose own name is a descriptor. The JVM refuses it.
    #[test]
    fn a_class_whose_name_is_a_descriptor_promises_nothing() {
        let input = include_bytes!("../../corpus/maps/class-name-with-semicolon");
        let (_, class) = split(input).expect("choices and a class");
        let file = ClassFile::parse(class).expect("a class file");
        assert!(file.name().is_ok_and(|name| name == "LArgumentsOfSuper;"));
        assert!(!has_legal_class_names(&file));
        run(input);
    }
}
