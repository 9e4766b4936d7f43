//! Sends class files through everything that Veneer does with them: armed under a policy, edited at
//! random, and emitted with a counter on every block.
//!
//! ```text
//!   input:  n | n choices | a class file     choices: policy, forced, edits (kind, 3 fragments) …
//! ```
//!
//! Promises for any bytes: the code does not panic, and its memory is bounded.
//!
//! Promises for a class file that verifies: the output verifies too, the checker proves that it
//! behaves like the original, and no refusal is [`Refusal::Internal`].

use std::collections::HashSet;
use std::sync::Arc;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, ArmedCode, Request};
use veneer_fragmenter::check::{self, Checked, Expected};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::{CounterPlan, calls_and_allocations};
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::CounterSlot;

use crate::memory;
use crate::verifier;

/// Bytes of memory that are allowed for each byte of class file. A method needs memory in
/// proportion to the product of its positions and its variables, so the factor is large.
/// `MEMORY_BASE` bytes are allowed in addition.
const MEMORY_FACTOR: usize = 16 << 10;
const MEMORY_BASE: usize = 64 << 20;

/// Arms, edits and emits a class file.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let Some((choices, class)) = split(data) else {
        return;
    };
    memory::within(
        MEMORY_BASE + MEMORY_FACTOR * class.len(),
        "the pipeline",
        || {
            let verifies = verifier::verify(class).is_ok()
                && ClassFile::parse(class).is_ok_and(|f| f.major >= 51 && f.check_closed().is_ok());
            let mut choices = Choices { bytes: choices };
            let policy = policy(choices.next());
            arm(class, &policy, choices.next() % 2 == 1, verifies);
            emit(class, &policy, &mut choices, verifies);
        },
    );
}

/// Splits an input into its choices and its class file.
pub fn split(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (count, rest) = data.split_first()?;
    rest.split_at_checked(usize::from(*count))
}

/// The inverse of [`split`]. Only the first 255 choices are kept.
pub fn join(choices: &[u8], class: &[u8]) -> Vec<u8> {
    let choices = &choices[..choices.len().min(255)];
    let mut data = Vec::with_capacity(1 + choices.len() + class.len());
    data.push(choices.len() as u8);
    data.extend_from_slice(choices);
    data.extend_from_slice(class);
    data
}

/// A source of decisions: one byte per decision, and zero after the last byte.
pub struct Choices<'c> {
    /// The bytes that are not used yet.
    pub bytes: &'c [u8],
}

impl Choices<'_> {
    /// Returns the next byte.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    fn fragment(&mut self, count: usize) -> FragmentId {
        FragmentId(u32::from(self.next()) % count.max(1) as u32)
    }
}

fn policy(choice: u8) -> Policy {
    match choice % 4 {
        0 => Policy::Block,
        1 => Policy::Loop,
        2 => Policy::Method,
        _ => Policy::Call(Arc::new(|class: &str, _: &str, _: &str| {
            class.len().is_multiple_of(2)
        })),
    }
}

fn refuse_internal(refusal: &Refusal, verifies: bool, at: &str) {
    assert!(
        !(verifies && matches!(refusal, Refusal::Internal(_))),
        "{at}: {refusal}"
    );
}

fn arm(class: &[u8], policy: &Policy, forced: bool, verifies: bool) {
    let request = Request {
        policy,
        first_id: veneer_names::MethodId(1000),
        generation: 0,
        wanted: &|_, _| true,
        forced: &|_, _| forced,
        points: true,
        only_loops: false,
        earlier: None,
    };
    match arming::arm(class, &request) {
        Err(refusal) => refuse_internal(&refusal, verifies, "arming"),
        Ok(armed) => {
            for (method, refusal) in &armed.refusals {
                refuse_internal(refusal, verifies, method);
            }
            if armed.methods.is_empty() || !verifies {
                return;
            }
            for bytes in [&armed.bytes, &armed.anchor_bytes] {
                if let Err(fault) = verifier::verify(bytes) {
                    panic!("armed under {policy:?}: {fault}");
                }
            }
            let (Ok(original), Ok(file)) =
                (ClassFile::parse(class), ClassFile::parse(&armed.bytes))
            else {
                panic!("what verified cannot be read");
            };
            require_proof(
                &check::armed_class(&original, &file, &armed.anchor, &armed.methods),
                &format!("armed under {policy:?}"),
            );
        }
    }
}

/// One method with its edits and probes.
struct InstrumentedMethod<'f> {
    method: Method<'f>,
    armed: ArmedCode,
    edits: Vec<Edit>,
    probes: Vec<Probe>,
}

fn emit(class: &[u8], policy: &Policy, choices: &mut Choices, verifies: bool) {
    let Ok(file) = ClassFile::parse(class) else {
        return;
    };
    // Arming refuses such a file too, and a file that is not armed is not emitted.
    if file.check_closed().is_err() || file.major < 51 {
        return;
    }
    let mut methods = Vec::new();
    let mut slots = 0;
    for index in 0..file.methods.len() {
        let method = match Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) {
            Ok(method) => method,
            Err(refusal) => {
                refuse_internal(&refusal, verifies, "analysis");
                continue;
            }
        };
        let armed = match arming::layout(&method, policy, true) {
            Ok(armed) => armed,
            Err(refusal) => {
                refuse_internal(&refusal, verifies, &method.name);
                continue;
            }
        };
        let edits = edits(&method, &armed, choices, verifies);
        let mut probes = probes(&method, &mut slots);
        if edits.is_empty() {
            let counting = CounterPlan::place_counters(&method, &armed.points);
            probes.extend(counting.probes(CounterSlot(slots + 4)));
            slots += 4 + counting.flow.counter_count();
            let calls = calls_and_allocations(&method, &armed.points);
            let counting = CounterPlan::place_at_instructions(&method, &armed.points, &calls);
            if let Some(counting) = counting {
                probes.extend(counting.probes(CounterSlot(slots + 4)));
                slots += 4 + counting.flow.counter_count();
            }
        }
        methods.push(InstrumentedMethod {
            method,
            armed,
            edits,
            probes,
        });
    }
    let Ok(name) = file.name() else {
        return;
    };
    let anchor = format!("{name}$Veneer");
    for bodies in [Bodies::Enter, Bodies::Resume] {
        let plans: Vec<VersionPlan> = methods
            .iter()
            .enumerate()
            .filter(|(_, w)| bodies == Bodies::Enter || w.armed.points.len() > 1)
            .map(|(i, w)| VersionPlan {
                method: &w.method,
                id: veneer_names::MethodId(i as u32),
                armed: &w.armed,
                edits: &w.edits,
                kept: &[],
                probes: &w.probes,
                clean: false,
            })
            .collect();
        let at = format!("emitted under {policy:?} as {bodies:?}");
        match version::emit(&file, &anchor, &plans, bodies, &HashSet::new()) {
            Err(refusal) => refuse_internal(&refusal, verifies, &at),
            Ok(version) => {
                for (_, refusal) in &version.refused {
                    refuse_internal(refusal, verifies, &at);
                }
                if verifies
                    && !version.methods.is_empty()
                    && let Err(fault) = verifier::verify(&version.bytes)
                {
                    panic!("{at}: {fault}");
                }
                if verifies && !version.methods.is_empty() {
                    let expected: Vec<Expected> = version
                        .methods
                        .iter()
                        .filter_map(|id| plans.iter().find(|plan| plan.id == *id))
                        .map(Expected::version_contents)
                        .collect();
                    match ClassFile::parse(&version.bytes) {
                        Ok(class) => require_proof(
                            &check::version_class(&file, &class, &anchor, &expected),
                            &at,
                        ),
                        Err(error) => panic!("{at}: {error}"),
                    }
                }
            }
        }
    }
}

/// Requires that the checker proved the emitted class equivalent to the original.
fn require_proof(checked: &Checked, at: &str) {
    if let Some((method, failure)) = checked.failures.first() {
        panic!("{at}: the checker: {method}: {failure}");
    }
}

/// Chooses up to three edits. An edit that is refused, alone or after the others, is omitted.
fn edits(method: &Method, armed: &ArmedCode, choices: &mut Choices, verifies: bool) -> Vec<Edit> {
    let count = method.flow.len();
    let mut edits = Vec::new();
    for _ in 0..choices.next() % 4 {
        let kind = choices.next();
        let (one, other) = (choices.fragment(count), choices.fragment(count));
        let edit = match kind % 4 {
            0 => {
                let edges = method.flow.edges();
                match edges.get(usize::from(choices.next()) % edges.len().max(1)) {
                    Some((from, to)) => Edit::Redirect {
                        from: *from,
                        to: *to,
                        target: if kind.is_multiple_of(2) { *to } else { other },
                    },
                    None => continue,
                }
            }
            1 => Edit::Skip { fragment: one },
            2 => Edit::Split {
                budget: 8 + u16::from(kind) * 4,
            },
            _ => Edit::Replace {
                fragment: one,
                by: other,
            },
        };
        edits.push(edit);
        if let Err(refusal) = patch::apply(method, &edits, &armed.points) {
            refuse_internal(&refusal, verifies, &method.name);
            edits.pop();
        }
    }
    edits
}

/// A counter before each fragment and on each edge, and a timer around the method.
fn probes(method: &Method, slots: &mut u32) -> Vec<Probe> {
    let mut sites = vec![Site::Entry, Site::Return, Site::Throw];
    sites.extend(method.flow.fragments().map(|f| Site::Before(f.id)));
    sites.extend(
        method
            .flow
            .edges()
            .into_iter()
            .map(|(from, to)| Site::Edge(from, to)),
    );
    let probe = |site: Site| {
        *slots += 4;
        let action = match site {
            Site::Entry => ProbeAction::Start {
                slot: CounterSlot(0),
            },
            Site::Return | Site::Throw => ProbeAction::Stop {
                slot: CounterSlot(0),
            },
            _ => ProbeAction::Count {
                slot: CounterSlot(*slots),
            },
        };
        Probe { site, action }
    };
    sites.into_iter().map(probe).collect()
}
