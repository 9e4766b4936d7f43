//! The contents that a version class must have, derived from the plans of its methods.

use crate::advice::{Probe, ProbeAction, ProbeArgument};
use crate::counting::ExternalEdges;
use crate::patch::{self, Edit};
use crate::points::Point;
use crate::version::VersionPlan;
use veneer_names::{CounterSlot, MethodId};
use veneer_probes::step::ProbeStep;

/// The expected contents of a version class for one method.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Index in the host's method list.
    pub index: usize,
    /// Id of the method's cell.
    pub id: MethodId,
    /// The edits, in the order of their application.
    pub edits: Vec<Edit>,
    /// The first pc of each fragment, by fragment number; edits refer to these fragments.
    pub fragments: Vec<u16>,
    /// The capture points of the armed body, with their numbers.
    pub points: Vec<Point>,
    /// The points that only versions have, with their numbers; see [`crate::edit_points`].
    pub edit_points: Vec<Point>,
    /// Whether the version has no probes and no edits; see [`VersionPlan::clean`].
    pub clean: bool,
    /// The thread's counters at which probes of the method may count or measure.
    pub counters: Vec<CounterSlot>,
    /// Addresses of cells. A cell that limits how often an action may run has its limit beside it.
    /// A cell that holds the start time of activations has 0.
    pub limits: Vec<(i64, u64)>,
    /// Whether a probe of the method reads the address of the thread's counters.
    pub reads_shard: bool,
    /// Casts and application method calls in compiled probes of the plan.
    pub steps: Vec<ProbeStep>,
}

impl Expected {
    /// Derives the expectation from a plan.
    pub fn version_contents(plan: &VersionPlan) -> Expected {
        Expected {
            index: plan.method.index,
            id: plan.id,
            edits: plan.edits.to_vec(),
            fragments: plan.method.flow.fragments().map(|f| f.start).collect(),
            points: plan.armed.points.clone(),
            edit_points: edit_points(plan),
            clean: plan.clean,
            counters: counters(plan),
            limits: limits(plan),
            reads_shard: reads_shard(plan),
            steps: steps(plan),
        }
    }
}

/// Returns the edit points of a plan's version, or none if the edits are refused; then no version
/// exists.
fn edit_points(plan: &VersionPlan) -> Vec<Point> {
    patch::apply_keeping(plan.method, plan.edits, &plan.armed.points, plan.kept)
        .map_or_else(|_| Vec::new(), |patched| patched.edit_points)
}

/// Returns the cells that the advice of a plan uses, sorted and without duplicates.
fn limits(plan: &VersionPlan) -> Vec<(i64, u64)> {
    let limit = |p: &Probe| match p.action {
        ProbeAction::Limited { cell, most, .. } => Some((cell, most)),
        ProbeAction::LateStart { cell, .. } => Some((cell, 0)),
        _ => None,
    };
    let mut all: Vec<(i64, u64)> = plan.probes.iter().filter_map(limit).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether a probe of a plan reads the address of the thread's counters.
fn reads_shard(plan: &VersionPlan) -> bool {
    plan.probes.iter().any(|probe| match &probe.action {
        ProbeAction::RunProbe { reads, .. } => {
            let mut reads = reads.iter();
            reads.any(|one| matches!(one, ProbeArgument::Shard | ProbeArgument::ShardInWindow))
        }
        _ => false,
    })
}

/// Returns the casts and application calls in the probes of a plan, without duplicates.
fn steps(plan: &VersionPlan) -> Vec<ProbeStep> {
    let mut all: Vec<ProbeStep> = Vec::new();
    for p in plan.probes {
        let ProbeAction::RunProbe { method, .. } = &p.action else {
            continue;
        };
        for step in &method.steps {
            if matches!(step, ProbeStep::Cast(_) | ProbeStep::Invoke(_)) && !all.contains(step) {
                all.push(step.clone());
            }
        }
    }
    all
}

/// Returns the thread's counters that the advice of a plan writes.
fn counters(plan: &VersionPlan) -> Vec<CounterSlot> {
    let mut all = Vec::new();
    for p in plan.probes {
        match &p.action {
            ProbeAction::CountExternalEdge {
                arrivals,
                departures,
                steps,
            } => {
                let edges =
                    ExternalEdges::entries_and_exits(plan.method, &plan.armed.points, steps);
                all.extend(arrivals.block(edges.arrivals.len() as u32));
                all.extend(departures.block(edges.departures.len() as u32));
            }
            action => all.extend(action.counter()),
        }
    }
    all
}
