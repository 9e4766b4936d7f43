//! Analyses of armed methods, made again when a version is needed.

use crate::agent::Agent;
use crate::classes::inherited_members::inherited_protected_members;
use crate::classes::registry::Class;
use crate::jvm::jni::Env;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{self, ArmedCode};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::version::{self, Bodies, Plan};

/// Whether activations at these edit points could go on in the method's own graph: the body that takes them back can be emitted.
pub fn takes_back(
    (agent, env, class, file): (&Agent, Env, &Class, &ClassFile),
    method: &Method,
    armed: &ArmedCode,
    id: u32,
    points: &[FragmentId],
) -> Result<(), Refusal> {
    if points.is_empty() {
        return Ok(());
    }
    let host = class
        .local(env)
        .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
    let protected = inherited_protected_members(agent.tool, env, class, host);
    env.delete(host);
    let anchor = class.state().anchor.clone();
    let plan = Plan {
        method,
        id,
        armed,
        edits: &[],
        kept: points,
        probes: &[],
        clean: true,
    };
    let mut emitted = version::emit(file, &anchor, &[plan], Bodies::Resume, &protected)?;
    match emitted.refused.pop() {
        Some((_, reason)) => Err(reason),
        None => Ok(()),
    }
}

/// Analyses an armed method again, and its armed layout.
pub fn analyse<'f>(
    agent: &Agent,
    file: &'f ClassFile<'f>,
    class: &Class,
    id: u32,
) -> Result<(Method<'f>, ArmedCode), Refusal> {
    let index = (id - class.first_id) as usize;
    let method = Method::analyse(file, index, &|i, p| agent.policy.cuts(i, p))?;
    let armed = arming::layout(&method, &agent.policy, true)?;
    Ok((method, armed))
}
