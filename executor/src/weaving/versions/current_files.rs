//! The class files of the versions that are installed, emitted again.
//!
//! The agent keeps no class file of a version, because a version is a function of the original class
//! file, the policy and the instrumentation of its method. A version class may contain several
//! methods; here each method has a class file of its own, with the same code.

use super::{Host, MethodToEmit};
use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, WeakGlobal};
use crate::weaving::woven_methods::WovenMethods;
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::version::{Bodies, VersionClass};
use veneer_names::MethodId;

/// The version classes of a method; `None` if no such class is installed.
#[derive(Default)]
pub struct CurrentFiles {
    /// The class that new activations enter.
    pub enter: Option<VersionClass>,
    /// The class in which running activations resume.
    pub resume: Option<VersionClass>,
}

impl WovenMethods {
    /// Emits the installed versions of a method. Called by the plan thread, which also changes the
    /// instrumentation, so the snapshot is that of the installed version.
    ///
    /// # Errors
    /// The refusals of the analysis and of the emission. A version that is installed has none.
    pub fn current_files(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        id: MethodId,
    ) -> Result<CurrentFiles, Refusal> {
        let is_alive = |class: &Option<WeakGlobal>| {
            let class = class.as_ref();
            class.is_some_and(|class| !env.is_cleared(class))
        };
        let (has_enter, has_resume) = {
            let entries = self.entries();
            let entry = entries.get(&id).filter(|entry| entry.has_version());
            entry.map_or((false, false), |entry| {
                (is_alive(&entry.enter_class), is_alive(&entry.resume_class))
            })
        };
        if !has_enter && !has_resume {
            return Ok(CurrentFiles::default());
        }
        let make = |env: Env| {
            let object = class
                .local(env)
                .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
            let original = class.original_file()?;
            let file = &ClassFile::parse(&original)?;
            let snapshot = self.snapshot(id);
            let method = [self.analyse_for(agent, class, file, &snapshot)?];
            let host = Host {
                class,
                object,
                file,
            };
            let emit = |is_there: bool, bodies: Bodies| match is_there {
                true => self.emit_one(agent, env, host, &method, bodies).map(Some),
                false => Ok(None),
            };
            Ok(CurrentFiles {
                enter: emit(has_enter, Bodies::Enter)?,
                resume: emit(has_resume, Bodies::Resume)?,
            })
        };
        env.frame(|env| Ok(make(env)))
            .unwrap_or_else(|e| Err(Refusal::Internal(e.to_string())))
    }

    fn emit_one(
        &self,
        agent: &Agent,
        env: Env,
        host: Host,
        method: &[MethodToEmit; 1],
        bodies: Bodies,
    ) -> Result<VersionClass, Refusal> {
        let mut emitted = self.emit(agent, env, host, method, bodies, false)?;
        match emitted.refused.pop() {
            Some((_, reason)) => Err(reason),
            None => Ok(emitted),
        }
    }
}
