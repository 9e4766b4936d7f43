//! Releases the data that the agent keeps of unloaded classes.
//!
//! ```text
//!   loader collected (weak reference) ─▶ veneer-events sees it, once a second ─▶ plan thread: forget
//!        record, class file, edits, probes, token ─▶ dropped          entries of cells ─▶ cleared, ids are reused
//!        points of instruments: readings are final, points of classes of one name are merged; counters are reused
//! ```
//!
//! The plan thread does all of this, because only this thread attaches and detaches. Other threads
//! weave only into classes that they prepare, and the loaders of those classes are alive. When the
//! loader has been collected, no activation of its methods is left, not even in a version. So their
//! counters can be reused for any other point.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::plans::derived_counts::read_points;
use crate::plans::journal_records;
use veneer_names::MethodId;

/// Forgets all classes whose loader has been collected. Called by the plan thread.
pub fn forget_unloaded_classes(agent: &Agent, env: Env) {
    let gone = agent.registry.remove_unloaded(env);
    if gone.is_empty() {
        return;
    }
    let mut ids: Vec<std::ops::Range<MethodId>> = gone.iter().map(|class| class.ids()).collect();
    ids.sort_unstable_by_key(|range| range.start);
    let is_gone = |id: MethodId| {
        let after = ids.partition_point(|range| range.start <= id);
        after > 0 && ids[after - 1].contains(&id)
    };
    agent.methods.forget(&is_gone);
    let finals = agent
        .table
        .lock()
        .finalize(&is_gone, &|points| read_points(agent, points));
    // The final readings are written before the counters are reused. If the JVM is killed in
    // between, the journal has final readings for counters that nothing else has used yet, so no
    // reading is wrong.
    let records: Vec<_> = finals.iter().map(journal_records::finalized).collect();
    agent.append_records(&records);
    agent.table.lock().reuse(&is_gone, &finals);
    for class in gone {
        // If the runtime classes still have an entry of a cell, the ids of the class stay reserved.
        if agent.library.forget(env, class.ids()).is_ok() {
            agent.registry.release_ids(&class);
        }
    }
}
