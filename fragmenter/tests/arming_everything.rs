//! Arms the JDK's own classes under each policy, and emits versions of all their methods with a
//! counter on every fragment. No class is loaded; a small verifier of the tests checks the result.
//!
//! No class may cause a panic, `Refusal::Internal`, or a class file that does not verify.

mod arming_support;
mod classfile_support;

use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, ArmedCode, Request};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::{CounterPlan, calls_and_allocations};
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::types::Type;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::{CounterSlot, LocalSlot, LogPoint};

/// The results of all stages.
#[derive(Default)]
struct Totals {
    classes: usize,
    armed: usize,
    emitted: usize,
    refusals: BTreeMap<String, usize>,
    faults: Vec<String>,
}

impl Totals {
    fn refuse(&mut self, stage: &str, at: &str, refusal: &Refusal) {
        *self
            .refusals
            .entry(format!("{stage} {}", refusal.name()))
            .or_default() += 1;
        if matches!(
            refusal,
            Refusal::Internal(_) | Refusal::BrokenClass(_) | Refusal::BrokenCode(_)
        ) {
            self.faults.push(format!("{stage} {at}: {refusal}"));
        }
    }

    /// Runs a stage. A panic in it is recorded as a fault.
    fn guard(&mut self, stage: &str, path: &Path, run: impl FnOnce(&mut Totals)) {
        let mut inner = Totals::default();
        if catch_unwind(AssertUnwindSafe(|| run(&mut inner))).is_err() {
            self.faults
                .push(format!("{stage} {}: a panic", path.display()));
        }
        self.armed += inner.armed;
        self.emitted += inner.emitted;
        for (name, n) in inner.refusals {
            *self.refusals.entry(name).or_default() += n;
        }
        self.faults.extend(inner.faults);
    }

    fn finish(&self) {
        println!(
            "{} classes; {} methods armed, {} bodies emitted",
            self.classes, self.armed, self.emitted
        );
        for (name, n) in &self.refusals {
            println!("{n:8} {name}");
        }
        // Print a few messages of each kind. Messages are of one kind if they differ only in
        // numbers and names.
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut first = Vec::new();
        for fault in &self.faults {
            let stage: String = fault.split(['/', ':']).next().unwrap_or_default().into();
            let what = fault.rsplit_once(": ").map_or("", |(_, what)| what);
            let what: String = what.chars().filter(|c| !c.is_ascii_digit()).collect();
            let n = kinds.entry(stage + &what).or_default();
            *n += 1;
            if *n <= 3 {
                first.push(fault.clone());
            }
        }
        let first: Vec<_> = first.into_iter().take(60).collect();
        assert!(
            self.faults.is_empty(),
            "{} faults:\n{}",
            self.faults.len(),
            first.join("\n")
        );
    }
}

fn policies() -> Vec<Policy> {
    let calls = Policy::Call(Arc::new(|class: &str, _: &str, _: &str| {
        class.starts_with("java.util")
    }));
    vec![Policy::Method, Policy::Loop, calls, Policy::Block]
}

fn arm(totals: &mut Totals, path: &Path, bytes: &[u8], policy: &Policy, forced: bool) {
    let stage = format!("arm {policy:?}");
    let request = Request {
        policy,
        first_id: veneer_names::MethodId(1000),
        generation: 0,
        wanted: &|_, _| true,
        forced: &|_, _| forced,
        points: false,
        only_loops: false,
        earlier: None,
    };
    match arming::arm(bytes, &request) {
        Err(refusal) => totals.refuse(&stage, &path.display().to_string(), &refusal),
        Ok(armed) => {
            for (method, refusal) in &armed.refusals {
                totals.refuse(&stage, &format!("{}.{method}", armed.name), refusal);
            }
            totals.armed += armed.methods.len();
            if armed.methods.is_empty() {
                return;
            }
            for bytes in [&armed.bytes, &armed.anchor_bytes] {
                if let Err(fault) = arming_support::verify(bytes) {
                    totals.faults.push(format!("{stage}: {fault}"));
                }
            }
        }
    }
}

/// The probes to insert.
#[derive(Clone, Copy, Debug)]
enum ProbeSet {
    /// One counter per fragment.
    Counters,
    /// Timers of the method and its fragments, counters on edges, and logs of live variables.
    Everything,
    /// All blocks are counted in methods that are split into parts. No count is derived.
    Parts,
}

/// The size of the parts of split methods in bytes.
const PART_BYTES: u16 = 60;

/// The live local variables of a fragment, as the values of a log.
fn logged_values(method: &Method, fragment: FragmentId) -> Vec<(LocalSlot, Type)> {
    let live = method.live_locals(fragment).into_iter();
    live.map(|(slot, ty)| (LocalSlot(slot), ty)).collect()
}

/// Returns the probes for one method. `slots` is incremented over a class.
fn probes(method: &Method, probe_set: ProbeSet, slots: &mut u32) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut add = |site: Site, action: &dyn Fn(CounterSlot) -> ProbeAction| {
        *slots += 4;
        probes.push(Probe {
            site,
            action: action(CounterSlot(*slots)),
        });
    };
    let fragments: Vec<_> = method.flow.fragments().map(|f| f.id).collect();
    if let ProbeSet::Counters = probe_set {
        for f in fragments {
            add(Site::Before(f), &|slot| ProbeAction::Count { slot });
        }
        return probes;
    }
    for site in [Site::Entry, Site::Return, Site::Throw] {
        add(site, &|_| match site {
            Site::Entry => ProbeAction::Start {
                slot: CounterSlot(0),
            },
            _ => ProbeAction::Stop {
                slot: CounterSlot(0),
            },
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
    // The number is limited, because each timer is a local variable of the version.
    for f in fragments.iter().copied().step_by(3).take(20) {
        let timer = CounterSlot(4_000_000 + 4 * f.0);
        let values = logged_values(method, f);
        if !values.iter().any(|v| v.1.is_uninitialized()) {
            add(Site::Before(f), &|slot| ProbeAction::Log {
                point: LogPoint(slot.0),
                values: values.clone(),
            });
        }
        add(Site::Before(f), &|_| ProbeAction::Start { slot: timer });
        add(Site::After(f), &|_| ProbeAction::Stop { slot: timer });
    }
    for f in fragments.iter().copied().skip(1).step_by(5).take(10) {
        add(Site::Before(f), &|_| ProbeAction::LapTimer {
            slot: CounterSlot(8_000_000 + 4 * f.0),
        });
    }
    for (from, to) in method.flow.edges() {
        add(Site::Edge(from, to), &|slot| ProbeAction::Count { slot });
    }
    probes
}

/// Emits versions of all methods of a class.
fn emit(totals: &mut Totals, path: &Path, bytes: &[u8], policy: &Policy, probe_set: ProbeSet) {
    let stage = format!("emit {policy:?} {probe_set:?}");
    let file = match ClassFile::parse(bytes) {
        Ok(file) => file,
        Err(e) => return totals.faults.push(format!("{}: {e}", path.display())),
    };
    let anchor = format!("{}$Veneer", file.name().unwrap());
    let mut kept: Vec<(Method, ArmedCode, Vec<Probe>, Vec<Edit>)> = Vec::new();
    let mut slots = 0;
    for index in 0..file.methods.len() {
        let Ok(method) = Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) else {
            continue;
        };
        let Ok(armed) = arming::layout(&method, policy, true) else {
            continue;
        };
        let mut probes = probes(&method, probe_set, &mut slots);
        if let ProbeSet::Everything = probe_set {
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
        let mut edits = Vec::new();
        if let ProbeSet::Parts = probe_set {
            edits.push(Edit::Split { budget: PART_BYTES });
            if patch::apply(&method, &edits, &armed.points).is_err() {
                edits.clear();
            }
        }
        kept.push((method, armed, probes, edits));
    }
    let plans: Vec<VersionPlan> = kept
        .iter()
        .enumerate()
        .map(|(i, (method, armed, probes, edits))| VersionPlan {
            method,
            id: veneer_names::MethodId(i as u32),
            armed,
            edits,
            kept: &[],
            probes,
            clean: false,
        })
        .collect();
    let protected = HashSet::from([("clone".to_string(), "()Ljava/lang/Object;".to_string())]);
    for bodies in [Bodies::Enter, Bodies::Resume] {
        // A method with no point but its entry has no OSR entry.
        let resumed = |p: &&VersionPlan| {
            bodies == Bodies::Enter || p.armed.points.len() > 1 || !p.edits.is_empty()
        };
        let plans: Vec<VersionPlan> = plans.iter().filter(resumed).map(copy).collect();
        match version::emit(&file, &anchor, &plans, bodies, &protected) {
            Err(refusal) => totals.refuse(&stage, &path.display().to_string(), &refusal),
            Ok(class) => {
                for (id, refusal) in &class.refused {
                    let method = &kept[id.0 as usize].0;
                    let at = format!(
                        "{bodies:?} {}.{}{}",
                        method.class, method.name, method.descriptor
                    );
                    totals.refuse(&stage, &at, refusal);
                }
                totals.emitted += class.methods.len();
                if !class.methods.is_empty()
                    && let Err(fault) = arming_support::verify(&class.bytes)
                {
                    totals.faults.push(format!("{stage} {bodies:?}: {fault}"));
                }
            }
        }
    }
}

fn copy<'p>(p: &VersionPlan<'p>) -> VersionPlan<'p> {
    VersionPlan { ..*p }
}

fn everything(label: &str, include: &str, sparse: usize) {
    let mut totals = Totals::default();
    let policies = policies();
    let mut n = 0;
    classfile_support::for_each_class(label, include, |path, bytes| {
        for policy in &policies {
            n += 1;
            // Only a part of the classes is tested under every policy.
            if n % sparse != 0 {
                continue;
            }
            if let Err(fault) = arming_support::verify(bytes)
                && ClassFile::parse(bytes).is_ok_and(|f| f.major >= 51)
            {
                totals.faults.push(format!(
                    "the verifier of the tests refuses the original: {fault}"
                ));
            }
            totals.guard("arm", path, |t| arm(t, path, bytes, policy, false));
            totals.guard("arm", path, |t| arm(t, path, bytes, policy, true));
            for probe_set in [ProbeSet::Counters, ProbeSet::Everything, ProbeSet::Parts] {
                totals.guard("emit", path, |t| emit(t, path, bytes, policy, probe_set));
            }
        }
        totals.classes += 1;
    });
    totals.finish();
}

#[test]
fn a_part_of_the_jdk() {
    everything("quick", classfile_support::QUICK, 149);
}

#[test]
#[ignore = "takes minutes: all classes of java.base and jdk.compiler under each policy"]
fn java_base_and_jdk_compiler() {
    everything(
        "arming",
        "regex:/(java[.]base|jdk[.]compiler)/.*[.]class",
        1,
    );
}
