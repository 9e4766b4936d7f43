//! The class files of armed classes and of versions, for a client that shows or keeps them.
//!
//! The agent sends bytes only. The client analyses them.

use crate::agent::Agent;
use crate::classes::armed_file::armed_file;
use crate::classes::queries;
use crate::classes::registry::Class;
use crate::jvm::jni::Env;
use crate::plans::class_code_error::{ClassCodeError, MAX_CLASS_FILE_BYTES};
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::version::VersionClass;
use veneer_instruments::{ArmedMethod, MethodPattern};
use veneer_protocol as p;

/// Returns the class files of the armed classes with methods that the patterns select, and those of
/// the versions of these methods. Called by the plan thread.
pub fn class_code(
    agent: &Agent,
    env: Env,
    patterns: &[MethodPattern],
) -> Result<Vec<p::ClassCode>, ClassCodeError> {
    let mut found: Vec<(Arc<Class>, Vec<ArmedMethod>)> = Vec::new();
    for method in queries::armed_methods(agent, env, patterns, None) {
        let Some(class) = agent.registry.class_of_method(method.id) else {
            continue;
        };
        match found.last_mut() {
            Some((last, methods)) if Arc::ptr_eq(last, &class) => methods.push(method),
            _ => found.push((class, vec![method])),
        }
    }
    if found.is_empty() {
        let texts: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        return Err(ClassCodeError::NothingArmed(texts.join(", ")));
    }
    let mut size = 0;
    let mut all = Vec::with_capacity(found.len());
    for (class, methods) in found {
        let one = code_of_class(agent, env, &class, methods);
        let one = one.map_err(|reason| ClassCodeError::Refused {
            class: class.dotted.to_string(),
            reason,
        })?;
        size += one.size();
        if size > MAX_CLASS_FILE_BYTES {
            return Err(ClassCodeError::TooLarge);
        }
        all.push(one);
    }
    Ok(all)
}

fn code_of_class(
    agent: &Agent,
    env: Env,
    class: &Arc<Class>,
    methods: Vec<ArmedMethod>,
) -> Result<p::ClassCode, Refusal> {
    let files = armed_file(agent, class)?;
    let version = |version: VersionClass| p::VersionFile {
        body: version.bodies.into_iter().next().unwrap_or_default(),
        bytes: version.bytes,
    };
    let method = |method: ArmedMethod| {
        let files = agent.methods.current_files(agent, env, class, method.id)?;
        Ok(p::MethodCode {
            method: method.method,
            enter: files.enter.map(version),
            resume: files.resume.map(version),
        })
    };
    let methods: Result<Vec<p::MethodCode>, Refusal> = methods.into_iter().map(method).collect();
    Ok(p::ClassCode {
        class: class.dotted.to_string(),
        original: files.original,
        armed: files.armed,
        methods: methods?,
    })
}
