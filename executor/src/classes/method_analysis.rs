//! The analysis of a method that has been armed.
//!
//! The agent keeps no analyses, because they are large. It analyses a method again when it plans
//! probes, makes a version, or describes the flow graph. The result is the same each time, because
//! it depends only on the original class file and on the policy.

use crate::classes::registry::Class;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{self, ArmedCode};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::policy::Policy;

/// An armed method with its analyses and the layout of its armed body.
pub struct AnalysedMethod<'f> {
    /// The id of the method.
    pub id: u32,
    pub method: Method<'f>,
    pub armed: ArmedCode,
}

/// Analyses a method of an armed class. `file` is the parsed original class file, and `id` is one
/// of the ids of the class.
///
/// # Errors
/// The refusals of the analysis. A method that was armed with the same class file and policy has
/// none.
pub fn analyse<'f>(
    policy: &Policy,
    file: &'f ClassFile<'f>,
    class: &Class,
    id: u32,
) -> Result<AnalysedMethod<'f>, Refusal> {
    let index = (id - class.first_id) as usize;
    let method = Method::analyse(file, index, &|instruction, pool| {
        policy.cuts(instruction, pool)
    })?;
    let armed = arming::layout(&method, policy, true)?;
    Ok(AnalysedMethod { id, method, armed })
}
