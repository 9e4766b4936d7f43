//! Arms and emits a class in many variants, and passes each variant to the checker.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod explain;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, Armed, ArmedCode, Request};
use veneer_fragmenter::check::{self, Checked, Expected};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::{CounterPlan, calls_and_allocations};
use veneer_fragmenter::devirtualisation::virtual_calls;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::guard_outcome::outcomes;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::specialisation::parameter_slot;
use veneer_fragmenter::types::Type;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::{CounterSlot, LocalSlot, LogPoint};

/// The results of all checks.
#[derive(Default)]
pub struct Totals {
    pub bodies: usize,
    pub states: usize,
    pub edited: usize,
    pub time: Duration,
    pub failures: Vec<(String, String)>,
}

impl Totals {
    pub fn add(&mut self, at: &str, checked: Checked) {
        self.bodies += checked.methods;
        self.states += checked.states;
        for (method, failure) in checked.failures {
            self.failures.push((
                failure.name().to_string(),
                format!("{at} {method}: {failure}"),
            ));
        }
    }

    pub fn finish(&self) {
        println!(
            "{} bodies ({} edited), {} states, {:?}: {:.1} us a body",
            self.bodies,
            self.edited,
            self.states,
            self.time,
            self.time.as_secs_f64() * 1e6 / self.bodies.max(1) as f64
        );
        let mut kinds: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
        for (kind, text) in &self.failures {
            let entry = kinds.entry(kind).or_default();
            entry.0 += 1;
            if entry.1.len() < 5 {
                entry.1.push(text);
            }
        }
        for (kind, (n, some)) in &kinds {
            println!("{n:7} {kind}");
            some.iter().for_each(|s| println!("        {s}"));
        }
        assert!(self.bodies > 1000, "hardly anything was checked");
        assert!(
            self.failures.is_empty(),
            "{} bodies did not pass",
            self.failures.len()
        );
    }
}

pub fn policies() -> Vec<Policy> {
    let calls = Policy::Call(Arc::new(|class: &str, _: &str, _: &str| {
        class.starts_with("java.util")
    }));
    vec![Policy::Method, Policy::Loop, calls, Policy::Block]
}

/// The probes and edits to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeSet {
    /// The armed class itself, and uninstrumented versions.
    Nothing,
    /// One counter per fragment.
    Counters,
    /// Timers of the method and its fragments, counters on edges, derived counters, and logs of
    /// live variables.
    Everything,
    /// Random edits, if they are accepted.
    Edits,
    /// The probes of `Everything` without derived counters, and random edits of methods that are
    /// split into small parts.
    Parts,
    /// The probes of `Everything` without derived counters, random edits of some methods, tests of the
    /// receivers of all virtual calls, and counters of their outcomes.
    Receivers,
    /// The probes of `Everything` without derived counters, random edits of some methods, constants for
    /// all parameters that may be constants, and counters of the outcomes of their guards.
    Constants,
    /// The probes of `Everything` without derived counters, random edits of some methods, and copies of random
    /// paths and loops. A mutant that leads to another copy changes nothing, so `path_mutants.rs` and `loop_mutants.rs`
    /// have the mutants of copies.
    Copies,
}

impl ProbeSet {
    fn has_edits(self) -> bool {
        use ProbeSet::*;
        matches!(self, Edits | Parts | Receivers | Constants | Copies)
    }
}

/// The live local variables of a fragment, as the values of a log.
pub fn logged_values(method: &Method, fragment: FragmentId) -> Vec<(LocalSlot, Type)> {
    let live = method.live_locals(fragment).into_iter();
    live.map(|(slot, ty)| (LocalSlot(slot), ty)).collect()
}

/// Returns the probes for one method. `slots` is incremented over a class.
pub fn probes(method: &Method, probe_set: ProbeSet, slots: &mut u32) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut add = |site: Site, action: &dyn Fn(CounterSlot) -> ProbeAction| {
        *slots += 4;
        probes.push(Probe {
            site,
            action: action(CounterSlot(*slots)),
        });
    };
    let fragments: Vec<FragmentId> = method.flow.fragments().map(|f| f.id).collect();
    match probe_set {
        ProbeSet::Nothing => {}
        ProbeSet::Counters | ProbeSet::Edits => {
            for f in fragments {
                add(Site::Before(f), &|slot| ProbeAction::Count { slot });
            }
        }
        ProbeSet::Everything
        | ProbeSet::Parts
        | ProbeSet::Receivers
        | ProbeSet::Constants
        | ProbeSet::Copies => {
            add(Site::Entry, &|_| ProbeAction::Start {
                slot: CounterSlot(0),
            });
            for site in [Site::Return, Site::Throw] {
                add(site, &|_| ProbeAction::Stop {
                    slot: CounterSlot(0),
                });
            }
            let call = CounterSlot(8);
            add(Site::Entry, &|_| ProbeAction::TraceEntry { slot: call });
            add(Site::Return, &|_| ProbeAction::TraceExit { slot: call });
            add(Site::Throw, &|_| ProbeAction::TraceThrow { slot: call });
            for f in fragments.iter().copied().step_by(4) {
                add(Site::Before(f), &|_| ProbeAction::TraceAllocation);
                add(Site::Before(f), &|slot| ProbeAction::CountInWindow { slot });
            }
            for f in fragments.iter().copied().step_by(3).take(20) {
                let values = logged_values(method, f);
                if !values.iter().any(|v| v.1.is_uninitialized()) {
                    add(Site::Before(f), &|slot| ProbeAction::Log {
                        point: LogPoint(slot.0),
                        values: values.clone(),
                    });
                }
                let slot = veneer_names::CounterSlot(4_000_000 + 4 * f.0);
                add(Site::Before(f), &|_| ProbeAction::Start { slot });
                add(Site::After(f), &|_| ProbeAction::Stop { slot });
            }
            for (from, to) in method.flow.edges() {
                add(Site::Edge(from, to), &|slot| ProbeAction::Count { slot });
            }
        }
    }
    probes
}

/// A deterministic random number generator (splitmix64).
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

/// Returns up to three accepted edits of a method.
fn edits(method: &Method, armed: &ArmedCode, random: &mut SplitMix) -> Vec<Edit> {
    let count = method.flow.len();
    let edges = method.flow.edges();
    let mut kept: Vec<Edit> = Vec::new();
    for _ in 0..12 {
        let mut any = || FragmentId(random.below(count) as u32);
        let (a, b) = (any(), any());
        let edit = match random.below(4) {
            0 => Edit::Skip { fragment: a },
            1 => Edit::Replace { fragment: a, by: b },
            2 if !edges.is_empty() => {
                let (from, to) = edges[random.below(edges.len())];
                Edit::Redirect {
                    from,
                    to,
                    target: b,
                }
            }
            _ if !edges.is_empty() => {
                let (from, to) = edges[random.below(edges.len())];
                Edit::Redirect {
                    from,
                    to,
                    target: to,
                }
            }
            _ => continue,
        };
        kept.push(edit);
        if patch::apply(method, &kept, &armed.points).is_err() {
            kept.pop();
        }
        if kept.len() == 3 {
            break;
        }
    }
    kept
}

/// Splits a method into parts, the size of which is drawn at random, after the edits.
fn split(method: &Method, armed: &ArmedCode, edits: &mut Vec<Edit>, random: &mut SplitMix) {
    for _ in 0..4 {
        let budget = (8 << random.below(7)) + random.below(40);
        edits.push(Edit::Split {
            budget: budget as u16,
        });
        if patch::apply(method, edits, &armed.points).is_ok() {
            break;
        }
        edits.pop();
    }
    if random.below(2) == 0 {
        for _ in 0..random.below(6) {
            edits.push(Edit::Passes {
                fragment: FragmentId(random.below(method.flow.len()) as u32),
                count: random.below(1000) as u64,
            });
        }
    }
}

/// Tests each virtual call for one or two classes of its receiver, after the edits: for the class that the
/// call names, and for a class that no class file has.
fn receivers(method: &Method, armed: &ArmedCode, edits: &mut Vec<Edit>, random: &mut SplitMix) {
    if random.below(2) == 0 {
        edits.clear();
    }
    for call in virtual_calls(method) {
        let named: Arc<str> = call.class.into();
        let classes = [named, "some/Other".into()];
        for class in classes.iter().rev().take(1 + random.below(2)) {
            edits.push(Edit::Receiver {
                pc: call.pc,
                class: class.clone(),
            });
        }
    }
    if patch::apply(method, edits, &armed.points).is_err() {
        edits.clear();
    }
}

/// Makes the parameters of a method constants, after the edits.
fn constants(method: &Method, armed: &ArmedCode, edits: &mut Vec<Edit>, random: &mut SplitMix) {
    if random.below(2) == 0 {
        edits.clear();
    }
    let before = edits.len();
    for parameter in 0..method.signature.parameters.len() as u16 {
        let Ok(slot) = parameter_slot(method, parameter) else {
            continue;
        };
        let value = [0, 1, 8, -70_000][random.below(4)];
        edits.push(Edit::Constant { slot, value });
        if patch::apply(method, edits, &armed.points).is_err() {
            edits.pop();
        }
    }
    if edits.len() == before {
        edits.clear();
    }
}

/// Copies up to four random paths and loops, after the edits. Some of the methods are split too.
fn copies(method: &Method, armed: &ArmedCode, edits: &mut Vec<Edit>, random: &mut SplitMix) {
    match random.below(3) {
        0 => edits.clear(),
        1 => split(method, armed, edits, random),
        _ => {}
    }
    let before = edits.len();
    for _ in 0..12 {
        let mut at = FragmentId(random.below(method.flow.len()) as u32);
        let mut path = vec![at];
        for _ in 0..1 + random.below(6) {
            let next = method.flow.successors(at);
            if next.is_empty() {
                break;
            }
            at = next[random.below(next.len())];
            path.push(at);
        }
        edits.push(match random.below(2) {
            0 => Edit::Duplicate { path: path.into() },
            _ => Edit::Unswitch { fragment: path[0] },
        });
        if patch::apply(method, edits, &armed.points).is_err() {
            edits.pop();
        }
        if edits.len() == before + 4 {
            break;
        }
    }
    if edits.len() == before {
        edits.clear();
    }
}

/// Returns up to three fragments that may have an edit point because of earlier edits.
fn edit_points(
    method: &Method,
    armed: &ArmedCode,
    edits: &[Edit],
    random: &mut SplitMix,
) -> Vec<FragmentId> {
    let mut kept = Vec::new();
    for _ in 0..6 {
        kept.push(FragmentId(random.below(method.flow.len()) as u32));
        if patch::apply_keeping(method, edits, &armed.points, &kept).is_err() || kept.len() > 3 {
            kept.pop();
        }
    }
    kept
}

/// A method with the inputs of its versions.
struct PreparedMethod<'f> {
    method: Method<'f>,
    armed: ArmedCode,
    probes: Vec<Probe>,
    edits: Vec<Edit>,
    kept: Vec<FragmentId>,
}

/// An emitted version class with its expected contents.
pub struct Version {
    pub bytes: Vec<u8>,
    pub bodies: Bodies,
    pub expected: Vec<Expected>,
}

/// Emits versions of all methods of a class.
pub fn versions(
    file: &ClassFile,
    anchor: &str,
    policy: &Policy,
    probe_set: ProbeSet,
    seed: u64,
) -> Vec<Version> {
    let mut ready: Vec<PreparedMethod> = Vec::new();
    let (mut slots, mut random) = (0, SplitMix(seed));
    for index in 0..file.methods.len() {
        let Ok(method) = Method::analyse(file, index, &|i, p| policy.cuts(i, p)) else {
            continue;
        };
        let Ok(armed) = arming::layout(&method, policy, true) else {
            continue;
        };
        let is_edited = probe_set.has_edits();
        let mut edits = if is_edited {
            edits(&method, &armed, &mut random)
        } else {
            Vec::new()
        };
        if probe_set == ProbeSet::Parts {
            if random.below(2) == 0 {
                edits.clear();
            }
            split(&method, &armed, &mut edits, &mut random);
        }
        if probe_set == ProbeSet::Constants {
            constants(&method, &armed, &mut edits, &mut random);
        }
        if probe_set == ProbeSet::Copies {
            copies(&method, &armed, &mut edits, &mut random);
        }
        if probe_set == ProbeSet::Receivers {
            receivers(&method, &armed, &mut edits, &mut random);
        }
        if is_edited && edits.is_empty() {
            continue;
        }
        let mut probes = probes(&method, probe_set, &mut slots);
        if matches!(probe_set, ProbeSet::Receivers | ProbeSet::Constants) {
            for outcome in outcomes(&edits) {
                slots += 4;
                let slot = CounterSlot(slots);
                probes.push(Probe {
                    site: outcome.site(),
                    action: ProbeAction::Count { slot },
                });
            }
        }
        if probe_set == ProbeSet::Everything {
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
        // Counter blocks have no counters for edit points, so derived counters are tested without
        // them.
        let mut kept = Vec::new();
        if probe_set != ProbeSet::Everything {
            kept = edit_points(&method, &armed, &edits, &mut random);
        }
        ready.push(PreparedMethod {
            method,
            armed,
            probes,
            edits,
            kept,
        });
    }
    let plans = |resumed: bool| -> Vec<VersionPlan> {
        let comes_back = |one: &PreparedMethod| {
            let points = &one.armed.points;
            let patched = patch::apply_keeping(&one.method, &one.edits, points, &one.kept);
            points.len() > 1 || patched.is_ok_and(|p| !p.edit_points.is_empty())
        };
        let all = ready
            .iter()
            .enumerate()
            .filter(|(_, one)| !resumed || comes_back(one));
        all.map(|(i, one)| VersionPlan {
            method: &one.method,
            id: veneer_names::MethodId(i as u32),
            armed: &one.armed,
            edits: &one.edits,
            kept: &one.kept,
            probes: &one.probes,
            clean: probe_set == ProbeSet::Nothing,
        })
        .collect()
    };
    let protected = HashSet::from([("clone".to_string(), "()Ljava/lang/Object;".to_string())]);
    let mut out = Vec::new();
    for bodies in [Bodies::Enter, Bodies::Resume] {
        let plans = plans(bodies == Bodies::Resume);
        let Ok(class) = version::emit(file, anchor, &plans, bodies, &protected) else {
            continue;
        };
        if class.methods.is_empty() {
            continue;
        }
        let expected = plans
            .iter()
            .filter(|p| class.methods.contains(&p.id))
            .map(Expected::version_contents)
            .collect();
        out.push(Version {
            bytes: class.bytes,
            bodies,
            expected,
        });
    }
    out
}

/// Arms a class; `None` if it is refused.
pub fn armed(bytes: &[u8], policy: &Policy) -> Option<Armed> {
    let request = Request {
        policy,
        first_id: veneer_names::MethodId(1000),
        generation: 0,
        wanted: &|_, _| true,
        forced: &|_, _| true,
        points: true,
        only_loops: false,
        earlier: None,
    };
    let armed = arming::arm(bytes, &request).ok()?;
    (!armed.methods.is_empty()).then_some(armed)
}

pub fn check_all(
    totals: &mut Totals,
    at: &str,
    bytes: &[u8],
    policy: &Policy,
    probe_set: ProbeSet,
    seed: u64,
) {
    let Ok(modern) = veneer_fragmenter::inference::upgrade_class_file(bytes) else {
        return;
    };
    let Ok(file) = ClassFile::parse(&modern) else {
        return;
    };
    let anchor = format!("{}$Veneer", file.name().unwrap());
    if probe_set == ProbeSet::Nothing
        && let Some(armed) = armed(bytes, policy)
    {
        let emitted = ClassFile::parse(&armed.bytes).unwrap();
        let start = Instant::now();
        let checked = check::armed_class(&file, &emitted, &armed.anchor, &armed.methods);
        totals.time += start.elapsed();
        totals.add(&format!("{at} {policy:?} armed"), checked);
    }
    for version in versions(&file, &anchor, policy, probe_set, seed) {
        let emitted = ClassFile::parse(&version.bytes).unwrap();
        if probe_set.has_edits() {
            totals.edited += version.expected.len();
        }
        let start = Instant::now();
        let checked = check::version_class(&file, &emitted, &anchor, &version.expected);
        totals.time += start.elapsed();
        let stage = format!("{at} {policy:?} {probe_set:?} {:?}", version.bodies);
        totals.add(&stage, checked);
    }
}
