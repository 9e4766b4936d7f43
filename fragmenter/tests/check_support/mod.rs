//! Arms and emits a class in many ways and gives each to the checker.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod explain;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use veneer_fragmenter::advice::{Action, Probe, Site};
use veneer_fragmenter::arming::{self, Armed, ArmedCode, Request};
use veneer_fragmenter::check::{self, Checked, Expected};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::Counting;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::{self, Bodies, Plan};

/// What came of it all.
#[derive(Default)]
pub struct Tally {
    pub bodies: usize,
    pub states: usize,
    pub edited: usize,
    pub time: Duration,
    pub failures: Vec<(String, String)>,
}

impl Tally {
    pub fn add(&mut self, at: &str, checked: Checked) {
        self.bodies += checked.methods;
        self.states += checked.states;
        for (method, failure) in checked.failures {
            self.failures
                .push((failure.name(), format!("{at} {method}: {failure}")));
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

/// What is woven in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woven {
    /// The armed class itself, and clean versions.
    Nothing,
    /// A counter on each fragment.
    Counters,
    /// Timers of method and fragments, counters on edges and by flow, logs of what is live.
    Everything,
    /// Edits that are drawn by lot, as far as they are accepted.
    Edits,
}

/// The probes for one method; `slots` counts up over a class.
pub fn probes(method: &Method, woven: Woven, slots: &mut u32) -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut add = |site: Site, action: &dyn Fn(u32) -> Action| {
        *slots += 4;
        probes.push(Probe {
            site,
            action: action(*slots),
        });
    };
    let fragments: Vec<FragmentId> = method.flow.fragments().map(|f| f.id).collect();
    match woven {
        Woven::Nothing => {}
        Woven::Counters | Woven::Edits => {
            for f in fragments {
                add(Site::Before(f), &|slot| Action::Count { slot });
            }
        }
        Woven::Everything => {
            add(Site::Entry, &|_| Action::Start { slot: 0 });
            for site in [Site::Return, Site::Throw] {
                add(site, &|_| Action::Stop { slot: 0 });
            }
            for f in fragments.iter().copied().step_by(3).take(20) {
                let values = method.live_locals(f);
                if !values.iter().any(|v| v.1.is_uninitialized()) {
                    add(Site::Before(f), &|point| Action::Log {
                        point,
                        values: values.clone(),
                    });
                }
                let slot = 4_000_000 + 4 * f.0;
                add(Site::Before(f), &|_| Action::Start { slot });
                add(Site::After(f), &|_| Action::Stop { slot });
            }
            for (from, to) in method.flow.edges() {
                add(Site::Edge(from, to), &|slot| Action::Count { slot });
            }
        }
    }
    probes
}

/// A small generator (splitmix64).
pub struct Lot(pub u64);

impl Lot {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

/// Edits of a method that are accepted: up to three.
fn edits(method: &Method, armed: &ArmedCode, lot: &mut Lot) -> Vec<Edit> {
    let count = method.flow.len();
    let edges = method.flow.edges();
    let mut kept: Vec<Edit> = Vec::new();
    for _ in 0..12 {
        let mut any = || FragmentId(lot.below(count) as u32);
        let (a, b) = (any(), any());
        let edit = match lot.below(4) {
            0 => Edit::Skip { fragment: a },
            1 => Edit::Replace { fragment: a, by: b },
            2 if !edges.is_empty() => {
                let (from, to) = edges[lot.below(edges.len())];
                Edit::Redirect {
                    from,
                    to,
                    target: b,
                }
            }
            _ if !edges.is_empty() => {
                let (from, to) = edges[lot.below(edges.len())];
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

/// Up to three fragments at which earlier edits may have made an edit point.
fn edit_points(
    method: &Method,
    armed: &ArmedCode,
    edits: &[Edit],
    lot: &mut Lot,
) -> Vec<FragmentId> {
    let mut kept = Vec::new();
    for _ in 0..6 {
        kept.push(FragmentId(lot.below(method.flow.len()) as u32));
        if patch::apply_keeping(method, edits, &armed.points, &kept).is_err() || kept.len() > 3 {
            kept.pop();
        }
    }
    kept
}

/// A method with what its versions are made of.
struct Ready<'f> {
    method: Method<'f>,
    armed: ArmedCode,
    probes: Vec<Probe>,
    edits: Vec<Edit>,
    kept: Vec<FragmentId>,
}

/// One emitted version class with what is expected of it.
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
    woven: Woven,
    seed: u64,
) -> Vec<Version> {
    let mut ready: Vec<Ready> = Vec::new();
    let (mut slots, mut lot) = (0, Lot(seed));
    for index in 0..file.methods.len() {
        let Ok(method) = Method::analyse(file, index, &|i, p| policy.cuts(i, p)) else {
            continue;
        };
        let Ok(armed) = arming::layout(&method, policy, true) else {
            continue;
        };
        let edits = if woven == Woven::Edits {
            edits(&method, &armed, &mut lot)
        } else {
            Vec::new()
        };
        if woven == Woven::Edits && edits.is_empty() {
            continue;
        }
        let mut probes = probes(&method, woven, &mut slots);
        if woven == Woven::Everything {
            let counting = Counting::of(&method, &armed.points);
            probes.extend(counting.probes(slots + 4));
            slots += 4 + counting.flow.width();
        }
        // Rows of counters know no edit points, so what counts by flow has none.
        let mut kept = Vec::new();
        if woven != Woven::Everything {
            kept = edit_points(&method, &armed, &edits, &mut lot);
        }
        ready.push(Ready {
            method,
            armed,
            probes,
            edits,
            kept,
        });
    }
    let plans = |resumed: bool| -> Vec<Plan> {
        let comes_back = |one: &Ready| {
            let points = &one.armed.points;
            let patched = patch::apply_keeping(&one.method, &one.edits, points, &one.kept);
            points.len() > 1 || patched.is_ok_and(|p| !p.edit_points.is_empty())
        };
        let all = ready
            .iter()
            .enumerate()
            .filter(|(_, one)| !resumed || comes_back(one));
        all.map(|(i, one)| Plan {
            method: &one.method,
            id: i as u32,
            armed: &one.armed,
            edits: &one.edits,
            kept: &one.kept,
            probes: &one.probes,
            clean: woven == Woven::Nothing,
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
            .map(Expected::of)
            .collect();
        out.push(Version {
            bytes: class.bytes,
            bodies,
            expected,
        });
    }
    out
}

/// The armed class.
pub fn armed(bytes: &[u8], policy: &Policy) -> Option<Armed> {
    let request = Request {
        policy,
        first_id: 1000,
        generation: 0,
        wanted: &|_, _| true,
        forced: &|_, _| true,
        points: true,
        earlier: None,
    };
    let armed = arming::arm(bytes, &request).ok()?;
    (!armed.methods.is_empty()).then_some(armed)
}

pub fn check_all(
    tally: &mut Tally,
    at: &str,
    bytes: &[u8],
    policy: &Policy,
    woven: Woven,
    seed: u64,
) {
    let Ok(modern) = veneer_fragmenter::inference::modern(bytes) else {
        return;
    };
    let Ok(file) = ClassFile::parse(&modern) else {
        return;
    };
    let anchor = format!("{}$Veneer", file.name().unwrap());
    if woven == Woven::Nothing
        && let Some(armed) = armed(bytes, policy)
    {
        let emitted = ClassFile::parse(&armed.bytes).unwrap();
        let start = Instant::now();
        let checked = check::armed_class(&file, &emitted, &armed.anchor, &armed.methods);
        tally.time += start.elapsed();
        tally.add(&format!("{at} {policy:?} armed"), checked);
    }
    for version in versions(&file, &anchor, policy, woven, seed) {
        let emitted = ClassFile::parse(&version.bytes).unwrap();
        if woven == Woven::Edits {
            tally.edited += version.expected.len();
        }
        let start = Instant::now();
        let checked = check::version_class(&file, &emitted, &anchor, &version.expected);
        tally.time += start.elapsed();
        let stage = format!("{at} {policy:?} {woven:?} {:?}", version.bodies);
        tally.add(&stage, checked);
    }
}
