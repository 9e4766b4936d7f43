//! The answer to `status`: the age of the agent, what it has armed, what is attached, and the
//! owners. Client threads build it.

use crate::agent::Agent;
use crate::data::aggregations::ROOM_BYTES;
use crate::jvm::jvm_name::jvm_name;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use veneer_protocol::{Status, TableUse};

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
        tables: table_use(agent),
        problems: agent.agent_problems(),
    }
}

fn table_use(agent: &Agent) -> TableUse {
    let attached = agent.table.lock().tables_of_attached_code();
    let counts = agent.tallies.table_counts(&attached);
    let mut by_plan = BTreeMap::new();
    for (_, _, label) in agent.tallies.labelled_tables() {
        *by_plan.entry(label.plan).or_default() += 1;
    }
    TableUse {
        in_use: counts.in_use as u64,
        left_behind: counts.left_behind as u64,
        by_plan,
        bytes: agent.tallies.used_bytes(),
        room: ROOM_BYTES,
    }
}
