//! Activations that still run code older than the current version of their method.

use crate::agent::Agent;
use crate::jvm::jni::{Env, Global, jobject};
use crate::weaving::analysis::analyse;
use crate::weaving::woven_methods::{Methods, Woven};
use veneer_fragmenter::arming::ArmedMethod;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::{runtime, version};

/// The owner of the frame that a frame has called. Frames of the JVM between a call site and its target are skipped.
#[derive(PartialEq, Eq)]
enum Above {
    /// A body of a version.
    Version,
    /// The executor loop.
    Loop,
    Other,
}

/// Whether frames of a class are the JVM's own between a call site and what it is linked to.
fn is_link(class: &str) -> bool {
    ["LambdaForm", "DirectMethodHandle", "Invokers"]
        .iter()
        .any(|one| {
            let rest = class.strip_prefix("java/lang/invoke/");
            rest.and_then(|rest| rest.strip_prefix(one))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['$', '.', '/']))
        })
}

impl Methods {
    /// Activations that still run code older than the current version: in a superseded version, or in the armed body of a
    /// method that has a version.
    pub fn stale(&self, agent: &Agent, env: Env) -> u64 {
        // The walk makes references to threads and classes; the frame frees them all.
        env.frame(|env| Ok(self.count_stale(agent, env)))
            .unwrap_or(0)
    }

    fn count_stale(&self, agent: &Agent, env: Env) -> u64 {
        let mut count = 0;
        for stack in agent.tool.stacks(env) {
            let mut above = Above::Other;
            for (class, name, descriptor, pc) in stack {
                let hidden = agent.tool.is_version(class);
                let class_name = agent.tool.class_name(class).unwrap_or_default();
                if hidden && let Some(id) = version::method_of(&name) {
                    let woven = self.woven();
                    let is =
                        |c: &Option<Global>| c.as_ref().is_some_and(|c| env.same(c.raw(), class));
                    let current = woven.get(&id).is_some_and(|w| {
                        (is(&w.enter) && w.token.is_some() && !w.counts) || is(&w.resume)
                    });
                    count += !(current || above == Above::Loop) as u64;
                    above = Above::Version;
                } else if class_name == runtime::RUNTIME {
                    // Whatever called the executor loop has handed its activation over.
                    above = if name.starts_with("go") || name.starts_with("exit") {
                        Above::Loop
                    } else {
                        Above::Other
                    };
                } else if !hidden && !is_link(&class_name) {
                    if above == Above::Other {
                        let of = (class, &*name, &*descriptor, pc);
                        count += u64::from(self.is_left_behind(agent, env, of));
                    }
                    above = Above::Other;
                }
            }
        }
        count
    }

    /// Whether an activation runs the armed body's own code although the method has a version. In a stub the activation hands itself
    /// over, or the version has just returned.
    fn is_left_behind(
        &self,
        agent: &Agent,
        env: Env,
        (class, name, descriptor, pc): (jobject, &str, &str, i64),
    ) -> bool {
        let Some(class_name) = agent
            .tool
            .class_name(class)
            .filter(|n| agent.registry.knows(n))
        else {
            return false;
        };
        let loader = agent.tool.loader(class);
        let record = agent.registry.find(env, &class_name, loader);
        env.delete(loader);
        let Some(record) = record else {
            return false;
        };
        let (id, original) = {
            let state = record.state();
            let is = |m: &&ArmedMethod| m.name == name && m.descriptor == descriptor;
            let id = state.methods.iter().find(is).map(|m| m.id);
            (id, state.original.clone())
        };
        let leaves = |w: &Woven| w.token.is_some() && !w.counts;
        let Some(id) = id.filter(|id| self.woven().get(id).is_some_and(leaves)) else {
            return false;
        };
        let first_stub = ClassFile::parse(&original)
            .ok()
            .and_then(|file| Some(analyse(agent, &file, &record, id).ok()?.1.stubs));
        first_stub.is_none_or(|stubs| pc < i64::from(stubs))
    }
}
