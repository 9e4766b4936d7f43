//! The class file that the JVM got for an armed class, made again.
//!
//! The agent keeps the original class file only. Arming it again gives the same code, because each
//! method keeps its cell and its anchor.

use crate::agent::Agent;
use crate::classes::registry::Class;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming;
use veneer_fragmenter::classfile::ClassFile;

/// The armed class file, and the original class file from which it was made.
pub struct ArmedFile {
    pub original: Vec<u8>,
    pub armed: Vec<u8>,
}

/// Makes the armed class file of a class that is armed.
///
/// # Errors
/// The copy of the original class file has been damaged.
pub fn armed_file(agent: &Agent, class: &Class) -> Result<ArmedFile, Refusal> {
    let original = class.original_file()?;
    let file = ClassFile::parse(&original)?;
    let (methods, anchor, generation) = {
        let state = class.state();
        (
            state.methods.clone(),
            state.anchor.clone(),
            state.generation,
        )
    };
    let earlier = methods.to_armed_methods();
    let has_cell = |name: &str, descriptor: &str| methods.named(name, descriptor).is_some();
    let request = arming::Request {
        policy: &agent.policy,
        first_id: class.first_id,
        generation: generation + 1,
        wanted: &has_cell,
        forced: &has_cell,
        points: false,
        only_loops: false,
        earlier: Some(arming::Earlier {
            anchor: &anchor,
            methods: &earlier,
        }),
    };
    let armed = arming::arm_class_file(&file, &request)?;
    Ok(ArmedFile {
        original: original.to_vec(),
        armed: armed.bytes,
    })
}
