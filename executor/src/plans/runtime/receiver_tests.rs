//! The tests of virtual calls for which a plan asks with `optimise("devirtualise")`: the calls that it
//! selects, and the classes that code of the method can name.
//!
//! A test must load no class. So a class is refused unless the loader of the method's class already knows it
//! by its name, and unless the method may access it. The instructions of the version then resolve at once.

use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, jclass};
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::devirtualisation::{VirtualCall, virtual_calls};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::Edit;
use veneer_instruments::{EditKind, MethodPattern};
use veneer_names::java_form;

/// The text that selects all virtual calls.
const ALL_CALLS: &str = "*";

/// The edits that test the selected calls of a method for these receivers, which are class names with dots.
/// None if the method has no such call.
///
/// # Errors
/// A class cannot be tested.
pub(super) fn receiver_tests(
    agent: &Agent,
    env: Env,
    class: &Class,
    method: &Method,
    (calls, receivers): (&str, &[String]),
) -> Result<Vec<Edit>, Refusal> {
    let calls = selected_calls(method, calls);
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let make = |env: Env| {
        let host = class
            .local(env)
            .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
        let mut tests = Vec::new();
        for receiver in receivers {
            tests.extend(tests_for(agent, env, host, &calls, receiver)?);
        }
        Ok(tests)
    };
    env.frame(|env| Ok(make(env)))
        .unwrap_or_else(|e| Err(Refusal::Internal(e.to_string())))
}

/// The virtual calls of a method that a text selects: a pattern of the called method, `@` and a pc, or
/// [`ALL_CALLS`].
fn selected_calls(method: &Method, text: &str) -> Vec<VirtualCall> {
    let mut calls = virtual_calls(method);
    match text.strip_prefix('@') {
        Some(pc) => calls.retain(|call| pc.parse() == Ok(call.pc)),
        None if text == ALL_CALLS => {}
        None => {
            let pattern = MethodPattern::parse(text).ok();
            calls.retain(|call| {
                let class = java_form(&call.class);
                pattern
                    .as_ref()
                    .is_some_and(|p| p.matches(&class, &call.name, &call.descriptor))
            });
        }
    }
    calls
}

/// The refusal of edits that test no call of any method, or no call for one of their receivers.
pub(super) fn missing_test(edits: &[EditKind], made: &[Edit]) -> Option<(EditKind, Refusal)> {
    let is_tested = |receiver: &str| {
        let name = receiver.replace('.', "/");
        made.iter()
            .any(|edit| matches!(edit, Edit::Receiver { class, .. } if **class == name))
    };
    edits.iter().find_map(|edit| {
        let EditKind::Devirtualise { calls, receivers } = edit else {
            return None;
        };
        let missing = receivers.iter().find(|receiver| !is_tested(receiver))?;
        let reason = match receivers.iter().any(|receiver| is_tested(receiver)) {
            true => {
                let why = "none of the calls has such a receiver";
                Refusal::ReceiverRefused(missing.clone(), why.into())
            }
            false => Refusal::NoVirtualCall(format!(
                "among {calls} that may have a receiver of the class {missing}"
            )),
        };
        Some((edit.clone(), reason))
    })
}

/// The tests for one class. `receiver` is its name with dots.
fn tests_for(
    agent: &Agent,
    env: Env,
    host: jclass,
    calls: &[VirtualCall],
    receiver: &str,
) -> Result<Vec<Edit>, Refusal> {
    let refused = |why: String| Refusal::ReceiverRefused(receiver.into(), why);
    let failed = |e: crate::jvm::jni::JvmError| refused(e.to_string());
    let library = &agent.library;
    let name: Arc<str> = receiver.replace('.', "/").into();
    env.ensure(8);
    let found = library.loaded(env, host, &name).map_err(failed)?;
    if found.is_null() {
        let why = "the loader of the method's class knows no loaded class of this name";
        return Err(refused(why.into()));
    }
    if let Some(why) = library
        .unreachable(env, host, found, true)
        .map_err(failed)?
    {
        return Err(refused(why));
    }
    if agent.tool.is_interface(found) {
        let why = "it is an interface, which does not determine the called method";
        return Err(refused(why.into()));
    }
    let mut tests = Vec::new();
    for call in calls {
        env.ensure(8);
        let named = library.loaded(env, host, &call.class).map_err(failed)?;
        if env.is_assignable(found, named) {
            tests.push(Edit::Receiver {
                pc: call.pc,
                class: name.clone(),
            });
        }
    }
    Ok(tests)
}
