//! The checker: shows of an emitted body that it is the original method, its edits and Veneer's own instructions aside.
//!
//! It reads the *bytes* of both class files and explores the product of the two programs (`product/`), after the
//! checker of regalloc2 and translation validation (Pnueli, Siegel, Singerman 1998; Necula 2000). It shares with the
//! emitter the class-file reader and the decoder of instructions, and nothing else.
//!
//! # Why a pass is a proof
//!
//! A *node* is a pair of places, one of each side, with what is known there: which locals hold the same value on both
//! sides; the operand stacks are always equal, word for word. The claim of a node is: *from here on, whatever the values and
//! whatever the calls return, both sides do the same things in the same order.* Things are: calls, loads and stores of
//! fields and arrays, allocations, monitors, casts, divisions, what resolves a constant, throwing, returning. The claim is shown for all
//! nodes at once by bisimulation (coinduction):
//!
//! 1. Activations begin at nodes that are there: an armed body and the original with the same parameters; `enter` where point 0
//!    stands with what point 0 carries; `resume` at each point with what that point carries.
//! 2. From a node both sides run over terms (`value.rs`), in which an unknown of the outside world is one symbol for both, until
//!    control flows together again. On the way each thing that the emitted side does must be the original's next, with equal
//!    operands (`product/event.rs`). A branch must ask the same question of the same terms; both answers are followed.
//!    An exception goes, at every thing, to the same handlers in the same order.
//! 3. Where a run ends it comes to a node again; what is known there is *met* with what was known, so that in the end it holds for
//!    every way there. Sets only shrink, so this ends.
//! 4. No cycle of the product is without a thing, unless the original goes round silently too. So neither side can be
//!    silent for ever where the other one is not.
//!
//! Veneer's own instructions are those that name exactly the members which Veneer has for that (`constants/`). They
//! may read the method's values and write none of its locals. No handler of the application sees what they throw. What
//! they write to memory is at an offset from the thread's counters that a probe of the plan has, or at the address of a cell of one.
//!
//! **Transfers.** A point has a *face*: its place and what lies where (`original.rs`). Whoever leaves at a point, from an
//! armed body or a version, brings exactly that, with the values of the original's state there, holding no monitor
//! (`leave.rs`). Whoever comes from a point is checked from that and nothing else. So any chain of transfers between
//! bodies that passed is the original too, by induction on its length. The faces that are read out of an armed body are compared
//! with the points that it is said to have (`points.rs`), and a version is refused that was made for others (`guard.rs`). Under edits, "the original" is the method with the edits laid
//! over its edges.
//!
//! # What it leaves out
//!
//! * The Java classes of the runtime (`VeneerRuntime`, `VeneerCell`, `VeneerFrame`) are taken to do what they say.
//! * Emitted code is taken to verify: types, stack maps, `max_stack` are for the JVM's verifier.
//! * Time, the depth of the stack, memory; `StackOverflowError`, `OutOfMemoryError` and asynchronous exceptions between things.
//! * When classes are loaded: a stub's call site and the casts in `resume` name classes that the agent resolves before.
//! * Casts of values out of a frame are taken to succeed: to the type that the verifier knew when they went in.
//! * Access: whether a nestmate may reach a member (`IllegalAccessError`); who calls, for methods that ask; stack traces,
//!   line tables, names of variables, annotations.
//! * A dynamic constant and a call site are linked once in the original and once for all versions.
//! * Which of its probes' counters advice counts at, what it logs, and whether it stands where a plan wants it.
//! * Whether an edit may be made at all: that is `patch.rs`. What an edit means is laid out anew here.

mod class;
mod constants;
mod failure;
pub mod guard;
mod leave;
mod live;
mod machine;
mod original;
mod points;
mod probe;
mod product;
mod program;
mod value;

pub use failure::{At, Failure};

use crate::advice::{Action, Probe};
use crate::arming::ArmedMethod;
use crate::classfile::ClassFile;
use crate::counting::Crossings;
use crate::flowgraph::FragmentId;
use crate::patch::{self, Edit};
use crate::points::Point;
use crate::version::Plan;
use veneer_probes::step::Step;

/// What was checked.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Bodies that were compared: methods of an armed class; `enter`, `resume` and packers of a version class.
    pub methods: usize,
    /// Runs from states of the product.
    pub states: usize,
    /// Method (name and descriptor; in a version class the body's name too) and what was found. At most one a body.
    pub failures: Vec<(String, Failure)>,
}

impl Checked {
    /// Whether all was shown to be right.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// What a version class is expected to hold of one method.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Position in the host's method list.
    pub index: usize,
    /// The id of its cell.
    pub id: u32,
    /// The edits, in order.
    pub edits: Vec<Edit>,
    /// pcs at which the fragments begin that the edits speak of.
    pub fragments: Vec<u16>,
    /// The capture points of the armed body.
    pub points: Vec<Point>,
    /// Those that only versions have, by number; see [`crate::edit_points`].
    pub edit_points: Vec<Point>,
    /// See [`Plan::clean`].
    pub clean: bool,
    /// Words of the thread's counters, by number, at which the method may count or measure.
    pub counters: Vec<u32>,
    /// Addresses of the cells that say how often something may act yet, each with its limit; of those that say when activations began, with 0.
    pub limits: Vec<(i64, u64)>,
    /// Casts and calls of the application's methods in code of the plan.
    pub steps: Vec<Step>,
}

impl Expected {
    /// What is expected of a plan.
    pub fn of(plan: &Plan) -> Expected {
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
            steps: steps(plan),
        }
    }
}

/// The edit points of a plan's version; none if its edits are refused, and then there is no version.
fn edit_points(plan: &Plan) -> Vec<Point> {
    patch::apply_keeping(plan.method, plan.edits, &plan.armed.points, plan.kept)
        .map_or_else(|_| Vec::new(), |patched| patched.edit_points)
}

/// Cells to which a plan's advice counts, each once.
fn limits(plan: &Plan) -> Vec<(i64, u64)> {
    let limit = |p: &Probe| match p.action {
        Action::First { cell, most, .. } => Some((cell, most)),
        Action::Since { cell, .. } => Some((cell, 0)),
        _ => None,
    };
    let mut all: Vec<(i64, u64)> = plan.probes.iter().filter_map(limit).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What code of a plan does beyond calls of the runtime, each once.
fn steps(plan: &Plan) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for p in plan.probes {
        let Action::Run { method, .. } = &p.action else {
            continue;
        };
        for step in &method.steps {
            if matches!(step, Step::Cast(_) | Step::Invoke(_)) && !all.contains(step) {
                all.push(step.clone());
            }
        }
    }
    all
}

/// Words of the thread's counters at which a plan's advice writes.
fn counters(plan: &Plan) -> Vec<u32> {
    let mut all = Vec::new();
    for p in plan.probes {
        match p.action {
            Action::Balance {
                arrivals,
                departures,
            } => {
                let crossings = Crossings::of(plan.method, &plan.armed.points);
                let row = |first: u32, of: &[FragmentId]| first..first + of.len() as u32;
                all.extend(row(arrivals, &crossings.arrivals));
                all.extend(row(departures, &crossings.departures));
            }
            ref action => all.extend(action.counter()),
        }
    }
    all
}

/// Compares an armed class with the original (of an old class file: as `inference::modern` made it). `anchor` is the
/// internal name of the class with the cells, `methods` say which methods were armed and with which points.
pub fn armed_class(
    original: &ClassFile,
    armed: &ClassFile,
    anchor: &str,
    methods: &[ArmedMethod],
) -> Checked {
    class::armed(original, armed, anchor, methods)
}

/// Compares a version class with its host. `expected` are the methods that were emitted
/// ([`crate::version::VersionClass::methods`], in that order; not the refused ones).
pub fn version_class(
    host: &ClassFile,
    version: &ClassFile,
    anchor: &str,
    expected: &[Expected],
) -> Checked {
    class::version(host, version, anchor, expected)
}
