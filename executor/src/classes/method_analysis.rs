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
use veneer_names::MethodId;

/// An armed method with its analyses and the layout of its armed body.
pub struct AnalysedMethod<'f> {
    /// The id of the method.
    pub id: MethodId,
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
    id: MethodId,
) -> Result<AnalysedMethod<'f>, Refusal> {
    let index = (id.0 - class.first_id.0) as usize;
    let method = Method::analyse(file, index, &|instruction, pool| {
        policy.cuts(instruction, pool)
    })?;
    let armed = arming::layout(&method, policy, true)?;
    Ok(AnalysedMethod { id, method, armed })
}
