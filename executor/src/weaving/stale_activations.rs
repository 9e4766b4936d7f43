//! The number of activations that still run code older than the current version of their method.
//!
//! An activation is stale if it runs a superseded version, or the armed body of a method that has a
//! version. The plan thread asks for the number when a plan or the unloading of the agent waits for
//! old code to end. The scan looks at the stacks of all platform threads; activations of unmounted
//! virtual threads are not seen.

use crate::agent::Agent;
use crate::classes::method_analysis::analyse;
use crate::jvm::jni::{Env, WeakGlobal, jobject};
use crate::weaving::woven_methods::{MethodInstrumentation, WovenMethods};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::{runtime, version};
use veneer_names::MethodId;

/// The code that a frame has called. Frames of the JVM between a call site and its target are
/// ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callee {
    /// A body of a version.
    Version,
    /// The trampoline, which runs the activation of its caller in the current version.
    Trampoline,
    Other,
}

/// The scan of one stack, from the innermost frame outwards.
struct StackScan {
    callee: Callee,
    stale: u64,
}

impl StackScan {
    fn new() -> StackScan {
        StackScan {
            callee: Callee::Other,
            stale: 0,
        }
    }

    /// A frame of a version. A version that has called the trampoline has handed its activation
    /// over.
    fn version(&mut self, is_current: bool) {
        self.stale += u64::from(!is_current && self.callee != Callee::Trampoline);
        self.callee = Callee::Version;
    }

    /// A frame of the runtime class.
    fn runtime(&mut self, is_trampoline: bool) {
        self.callee = if is_trampoline {
            Callee::Trampoline
        } else {
            Callee::Other
        };
    }

    /// A frame of any other class. If the frame has called a version or the trampoline, its
    /// activation has been handed over.
    fn other(&mut self, is_left_behind: impl FnOnce() -> bool) {
        if self.callee == Callee::Other {
            self.stale += u64::from(is_left_behind());
        }
        self.callee = Callee::Other;
    }
}

/// Whether the JVM uses frames of this class between a call site and the method to which the site
/// is linked.
fn is_linkage_class(class: &str) -> bool {
    let Some(name) = class.strip_prefix("java/lang/invoke/") else {
        return false;
    };
    ["LambdaForm", "DirectMethodHandle", "Invokers"]
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix))
        .any(|rest| rest.is_empty() || rest.starts_with(['$', '.', '/']))
}

/// Whether a method of the runtime class is the trampoline, or one of the stubs that call it.
fn is_trampoline(name: &str) -> bool {
    name.starts_with("go") || name.starts_with("exit")
}

/// A frame of a method that is not a version.
struct MethodFrame<'a> {
    class: jobject,
    class_name: &'a str,
    name: &'a str,
    descriptor: &'a str,
    pc: i64,
}

impl WovenMethods {
    /// The number of stale activations. See the module documentation.
    pub fn stale_count(&self, agent: &Agent, env: Env) -> u64 {
        // The scan creates local references to threads and classes. The frame releases all of them.
        env.frame(|env| Ok(self.count_stale(agent, env)))
            .unwrap_or(0)
    }

    fn count_stale(&self, agent: &Agent, env: Env) -> u64 {
        let mut count = 0;
        for stack in agent.tool.stacks(env) {
            let mut scan = StackScan::new();
            for (class, name, descriptor, pc) in stack {
                let is_version = agent.tool.is_version(class);
                let class_name = agent.tool.class_name(class).unwrap_or_default();
                if is_version && let Some(id) = version::method_id(&name) {
                    scan.version(self.is_current(env, id, class));
                } else if class_name == runtime::RUNTIME {
                    scan.runtime(is_trampoline(&name));
                } else if !is_version && !is_linkage_class(&class_name) {
                    let frame = MethodFrame {
                        class,
                        class_name: &class_name,
                        name: &name,
                        descriptor: &descriptor,
                        pc,
                    };
                    scan.other(|| self.is_left_behind(agent, env, &frame));
                }
            }
            count += scan.stale;
        }
        count
    }

    /// Whether a version class is the one that new or running activations of the method enter now.
    fn is_current(&self, env: Env, id: MethodId, class: jobject) -> bool {
        let is_same = |known: &Option<WeakGlobal>| {
            let known = known.as_ref();
            known.is_some_and(|known| env.refers_to(known, class))
        };
        let entries = self.entries();
        entries.get(&id).is_some_and(|entry| {
            (entry.has_version() && is_same(&entry.enter_class)) || is_same(&entry.resume_class)
        })
    }

    /// Whether an activation runs the armed body's own code although the method has a version. An
    /// activation in a stub is not left behind: it is about to transfer, or its version has just
    /// returned.
    fn is_left_behind(&self, agent: &Agent, env: Env, frame: &MethodFrame) -> bool {
        if !agent.registry.contains(frame.class_name) {
            return false;
        }
        let loader = agent.tool.loader(frame.class);
        let class = agent.registry.find(env, frame.class_name, loader);
        // SAFETY: `Tool::loader` has made the local reference, which is not used again.
        unsafe { env.delete(loader) };
        let Some(class) = class else {
            return false;
        };
        let id = {
            let state = class.state();
            let method = state.methods.named(frame.name, frame.descriptor);
            method.map(|method| method.id)
        };
        let has_version = |id: &MethodId| {
            let entries = self.entries();
            entries
                .get(id)
                .is_some_and(MethodInstrumentation::has_version)
        };
        let Some(id) = id.filter(has_version) else {
            return false;
        };
        let first_stub = || {
            let original = class.original_file().ok()?;
            let file = ClassFile::parse(&original).ok()?;
            let analysed = analyse(&agent.policy, &file, &class, id).ok()?;
            Some(analysed.armed.stubs)
        };
        first_stub().is_none_or(|stubs| frame.pc < i64::from(stubs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_linked_call_sites_are_recognised_by_their_class() {
        assert!(is_linkage_class("java/lang/invoke/LambdaForm$MH.0x00007f"));
        assert!(is_linkage_class("java/lang/invoke/LambdaForm"));
        assert!(is_linkage_class(
            "java/lang/invoke/DirectMethodHandle$Holder"
        ));
        assert!(is_linkage_class("java/lang/invoke/Invokers$Holder"));
        assert!(!is_linkage_class("java/lang/invoke/LambdaForms"));
        assert!(!is_linkage_class("java/lang/invoke/MethodHandle"));
        assert!(!is_linkage_class("shop/LambdaForm"));
    }

    #[test]
    fn superseded_versions_are_stale_and_current_ones_are_not() {
        let mut scan = StackScan::new();
        scan.version(true);
        scan.version(false);
        assert_eq!(scan.stale, 1);
    }

    #[test]
    fn an_activation_that_called_the_trampoline_runs_in_another_version() {
        let mut scan = StackScan::new();
        scan.version(true);
        scan.runtime(is_trampoline("go"));
        scan.version(false);
        assert_eq!(scan.stale, 0);
        scan.runtime(is_trampoline("request"));
        scan.version(false);
        assert_eq!(scan.stale, 1);
    }

    #[test]
    fn an_armed_body_is_asked_only_if_it_did_not_call_its_version() {
        let mut scan = StackScan::new();
        scan.version(true);
        scan.other(|| true);
        assert_eq!(scan.stale, 0, "the stub that called the version");
        scan.other(|| true);
        assert_eq!(scan.stale, 1, "the caller of that stub");
        scan.runtime(is_trampoline("exitInt"));
        scan.other(|| true);
        scan.other(|| false);
        assert_eq!(scan.stale, 1);
    }
}
