//! Giving up what the agent keeps of classes that are unloaded.
//!
//! ```text
//!   loader gone (weak reference) ─▶ veneer-events sees it, once a second ─▶ plan thread: forget
//!        record, class file, edits, probes, token ─▶ dropped          cells' entries ─▶ cleared, ids serve again
//!        points of instruments: figures are final, those of classes of one name become one row; counters serve again
//! ```
//!
//! All of it is done by the plan thread, which alone attaches and detaches. Other threads weave into classes that they are just
//! preparing, whose loaders live. Once the loader is gone, no activation of its methods is left anywhere, in no version either,
//! so a counter of theirs may serve any other point.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::plans::journal_records;
use crate::weaving::derived_counts::figures;

/// Forgets all classes whose loader is gone.
pub fn forget(agent: &Agent, env: Env) {
    let gone = agent.registry.take_gone(env);
    if gone.is_empty() {
        return;
    }
    let mut ids: Vec<std::ops::Range<u32>> = gone.iter().map(|class| class.ids()).collect();
    ids.sort_unstable_by_key(|range| range.start);
    let is_gone = |id: u32| {
        let after = ids.partition_point(|range| range.start <= id);
        after > 0 && ids[after - 1].contains(&id)
    };
    agent.methods.forget(&is_gone);
    let finals = agent
        .table
        .lock()
        .finalize(&is_gone, &|points| figures(agent, points));
    // Before the counters serve others: a record that is torn off here says too much of these, and nothing false of those.
    let records: Vec<_> = finals.iter().map(journal_records::finalized).collect();
    agent.note(&records);
    agent.table.lock().reuse(&is_gone, &finals);
    for class in gone {
        // Where a cell is still there after all, its id stays with it.
        if agent.library.forget(env, class.ids()).is_ok() {
            agent.registry.give_back(&class);
        }
    }
}
