//! Weaving of classes that another agent has changed after Veneer (`classes/later_agents.rs`).
//!
//! The plan thread calls these functions. Each of them leaves the classes in a state in which their
//! versions have the changes of all agents, or in which no version of them is made.

use crate::agent::Agent;
use crate::classes::later_agents::{has_own_code, repair};
use crate::classes::queries::armed_classes;
use crate::classes::registry::{Class, CodeInJvm};
use crate::jvm::jni::Env;
use crate::weaving::target_switch::SwitchBatch;
use crate::weaving::weaver::{install_versions, weave_class};
use std::sync::Arc;
use std::time::Instant;
use veneer_instruments::MethodPattern;

/// The armed classes of which the patterns may select methods, in the order of their ids. A class
/// that another agent has changed after Veneer gets a new record first. Classes of which no version
/// can be made are left out.
pub fn settled_classes(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<Arc<Class>> {
    let mut classes = armed_classes(agent, env, patterns);
    let changed: Vec<Arc<Class>> = classes
        .iter()
        .filter(|class| is_newly_changed(agent, env, class))
        .cloned()
        .collect();
    if !changed.is_empty() {
        repair_and_weave(agent, env, &changed);
        classes = armed_classes(agent, env, patterns);
    }
    classes.retain(|class| class.state().code_in_jvm != CodeInJvm::Changed);
    classes
}

/// Checks the classes that other agents may have retransformed since the last call.
pub fn check_hooked_classes(agent: &Agent, env: Env) {
    let mut changed = Vec::new();
    for (class, is_awaited) in agent.hooked_again.due(Instant::now()) {
        let methods = class.state().methods.clone();
        let is_woven = || methods.iter().any(|m| !agent.methods.is_idle(m.id));
        if (is_awaited || is_woven()) && is_newly_changed(agent, env, &class) {
            changed.push(class);
        }
    }
    if !changed.is_empty() {
        repair_and_weave(agent, env, &changed);
    }
}

fn is_newly_changed(agent: &Agent, env: Env, class: &Class) -> bool {
    let is_open = {
        let state = class.state();
        state.code_in_jvm == CodeInJvm::NotChecked && !state.restored
    };
    is_open && !has_own_code(agent, env, class)
}

fn repair_and_weave(agent: &Agent, env: Env, changed: &[Arc<Class>]) {
    let mut batch = SwitchBatch::default();
    for class in repair(agent, env, changed) {
        // An instrument that does not fit a method of the class has been reported when it was
        // attached.
        weave_class(agent, env, &class, true, &mut batch);
    }
    install_versions(agent, env, &mut batch);
}
