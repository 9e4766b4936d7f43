//! The answer to `status`: the age of the agent, what it has armed, what is attached, and the
//! owners. Client threads build it.

use crate::agent::Agent;
use crate::jvm::jvm_name::jvm_name;
use std::sync::atomic::Ordering;
use veneer_protocol::Status;

/// Returns the current status. `clients` is the number of connected clients.
pub fn make_status(agent: &Agent, clients: u32) -> Status {
    let (vm, vm_version) = jvm_name();
    let mut classes = agent.registry.all();
    classes.retain(|class| !class.state().restored);
    Status {
        version: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        vm,
        vm_version,
        millis: agent.began.elapsed().as_millis() as u64,
        loaded_again_at: agent.loaded_again_at.load(Ordering::Relaxed),
        attached: agent.filter.only_plans.load(Ordering::Relaxed),
        classes_armed: classes.len() as u64,
        methods_armed: classes.iter().map(|c| c.state().methods.len() as u64).sum(),
        clients,
        loads: agent.loads.list(&agent.table),
        components: agent.loads.components(),
        problems: agent.agent_problems(),
    }
}
