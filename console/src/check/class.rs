//! Checks one class: parses, writes, arms, emits and proves it.
//!
//! ```text
//!   bytes ─▶ parse ─▶ write = bytes?
//!              └─ each policy ─┬▶ arm, unnamed and named ─▶ verify types, prove the armed bodies
//!                              └▶ emit: every block counted; clean; edited ─▶ prove the versions
//! ```
//!
//! Versions are emitted as in the agent: up to a hundred methods in one class, and one by one if
//! that fails. There is one difference. The protected members that a class inherits from other
//! packages are known only after the class is loaded. This check assumes those of
//! `java.lang.Object`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::time::{ClockId, clock_gettime};
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, Armed, ArmedCode, Request};
use veneer_fragmenter::cell_path::on_cell_path;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::{CounterPlan, calls_and_allocations};
use veneer_fragmenter::hotspot::null_message::NullMessageAnalysis;
use veneer_fragmenter::inference::upgrade_class_file;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::points::reachable;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::verify;
use veneer_fragmenter::version::{self, Bodies, ProtectedMembers, VersionPlan};
use veneer_fragmenter::{Refusal, anchor};
use veneer_names::{CounterSlot, MethodId, internal_form, java_form};

use super::proof;
use super::totals::{CheckFailure, CheckStage, CheckTotals, PolicyTotals, UnsafeNullMessage};

/// Maximum number of methods in one version class; the same limit as in the agent.
const MAX_METHODS_PER_CLASS: usize = 100;

/// Number of edges of a method that are redirected, and number of targets that are tried for each.
const MAX_REDIRECT_TARGETS: usize = 4;

/// Maximum number of edits of a method that are tried.
const MAX_EDIT_TRIALS: usize = 12;

/// The policies and variants that are checked for each class.
pub struct Task<'t> {
    /// The policies with their names.
    pub policies: &'t [(&'static str, Policy)],
    /// Whether versions with edits are checked too.
    pub edits: bool,
}

thread_local! {
    /// The message and position of the last panic of this thread.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs a panic hook that records panics instead of printing them. Each panic becomes a failure
/// with the name of its class.
pub fn record_panics() {
    std::panic::set_hook(Box::new(|panic| {
        LAST_PANIC.with(|last| *last.borrow_mut() = panic.to_string());
    }));
}

/// Checks a class. `place` is the name of the class according to its path.
pub fn check_class(place: &str, bytes: &[u8], task: &Task) -> CheckTotals {
    let began = processor_time();
    let mut totals = CheckTotals {
        classes: 1,
        policies: vec![PolicyTotals::default(); task.policies.len()],
        ..CheckTotals::default()
    };
    let mut check = ClassCheck {
        class: java_form(place),
        failures: Vec::new(),
    };
    check.guard("read", |e| e.all(bytes, task, &mut totals));
    totals.failures = check.failures;
    totals.nanos = processor_time().saturating_sub(began);
    totals
}

/// Returns the processor time of this thread, in nanoseconds.
fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// A method with its armed layout and the counters for its versions.
struct Prepared<'f> {
    method: Method<'f>,
    armed: ArmedCode,
    /// A counter on each fragment, for edited graphs.
    direct: Vec<Probe>,
    /// Spanning-tree counters, from which the counts of all fragments are derived.
    derived: Vec<Probe>,
}

struct ClassCheck {
    class: String,
    failures: Vec<CheckFailure>,
}

impl ClassCheck {
    fn fail(&mut self, doing: &str, method: &str, reason: impl ToString) {
        self.failures.push(CheckFailure {
            class: self.class.clone(),
            method: method.to_string(),
            doing: doing.to_string(),
            reason: reason.to_string(),
        });
    }

    /// Runs a part of the check. A panic in it is recorded as a failure of the class.
    fn guard(&mut self, doing: &str, part: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| part(self))).is_err() {
            let panic = LAST_PANIC.with(|last| last.borrow().clone());
            self.fail(doing, "", format!("a panic: {panic}"));
        }
    }

    /// Counts a refusal. The refusal `Internal` reports a fault in Veneer, so it is also a failure.
    fn refuse(
        &mut self,
        to: &mut PolicyTotals,
        stage: CheckStage,
        at: (&str, &str),
        reason: &Refusal,
    ) {
        to.refuse(stage, reason, 1);
        if let Refusal::Internal(_) = reason {
            self.fail(at.0, at.1, reason);
        }
    }

    fn all(&mut self, bytes: &[u8], task: &Task, totals: &mut CheckTotals) {
        let file = match ClassFile::parse(bytes) {
            Ok(file) => file,
            Err(error) => return self.fail("read", "", error),
        };
        match file.name() {
            Ok(name) => self.class = java_form(&name),
            Err(error) => return self.fail("read", "", error),
        }
        match file.to_bytes() {
            Ok(written) if written == bytes => totals.identical += 1,
            Ok(_) => self.fail(
                "write",
                "",
                "the written class differs from the class that was read",
            ),
            Err(error) => self.fail("write", "", error),
        }
        totals.versions = Some((file.major, file.major));
        for member in &file.methods {
            if member.attributes.iter().any(|a| a.is(&file.pool, "Code")) {
                let name = file.pool.text(member.name);
                totals.methods += 1;
                totals.initialisers += u64::from(name.is_ok_and(|name| name == "<clinit>"));
            }
        }
        totals.unsafe_null_messages = self.unsafe_null_messages(&file);
        if on_cell_path(&internal_form(&self.class)) {
            totals.on_cell_path += 1;
            totals.methods_on_cell_path += totals.methods;
        }
        if totals.methods == 0 {
            return;
        }
        // Class files from before Java 7 are armed and emitted in a modern form with stack maps and
        // `invokedynamic`. If there is no such form, arming reports the reason.
        let modern = upgrade_class_file(bytes).unwrap_or(Cow::Borrowed(bytes));
        let file = match ClassFile::parse(&modern) {
            Ok(file) => file,
            Err(error) => return self.fail("read", "", error),
        };
        for ((name, policy), sum) in task.policies.iter().zip(&mut totals.policies) {
            let methods = totals.methods;
            let mut unnamed = None;
            for named in [false, true] {
                let doing = format!("arm {name}");
                self.guard(&doing, |e| {
                    let Some(armed) = e.arm(bytes, policy, named, methods, &doing, sum) else {
                        return;
                    };
                    // Most classes have the same code in both forms. It is checked once.
                    if !unnamed
                        .as_ref()
                        .is_some_and(|other| has_same_code(other, &armed))
                    {
                        e.check_armed(&file, &armed, &doing, sum);
                    }
                    unnamed = Some(armed);
                });
            }
            let doing = format!("emit {name}");
            self.guard(&doing, |e| {
                e.emit(&file, policy, task.edits, &doing, sum);
            });
        }
    }

    /// Returns the methods of a class file for which HotSpot's analysis of null pointers is unsound.
    fn unsafe_null_messages(&self, file: &ClassFile) -> Vec<UnsafeNullMessage> {
        let mut analysis = NullMessageAnalysis::new(&file.pool);
        let mut found = Vec::new();
        for member in &file.methods {
            // Arming reports code that cannot be parsed.
            let Ok(Some(code)) = member.code(&file.pool) else {
                continue;
            };
            if let Err(inconsistency) = analysis.check(&code) {
                let text = |index| file.pool.text(index).unwrap_or_default();
                found.push(UnsafeNullMessage {
                    class: self.class.clone(),
                    method: format!("{}{}", text(member.name), text(member.descriptor)),
                    reason: inconsistency.to_string(),
                });
            }
        }
        found
    }

    /// Arms a class, and counts its methods and refusals. `None` if no method was armed.
    fn arm(
        &mut self,
        bytes: &[u8],
        policy: &Policy,
        named: bool,
        methods: u64,
        doing: &str,
        sum: &mut PolicyTotals,
    ) -> Option<Armed> {
        let stage = if named {
            CheckStage::Named
        } else {
            CheckStage::Arm
        };
        let request = Request {
            policy,
            first_id: MethodId(0),
            generation: 0,
            wanted: &|_, _| true,
            forced: &|_, _| named,
            points: true,
            only_loops: false,
            earlier: None,
        };
        let armed = match arming::arm(bytes, &request) {
            Ok(armed) => armed,
            Err(reason) => {
                sum.refuse(stage, &reason, methods);
                if let Refusal::Internal(_) = reason {
                    self.fail(doing, "", reason);
                }
                return None;
            }
        };
        for (method, reason) in &armed.refusals {
            let place = method.contains('@');
            match (place, named) {
                (false, _) => self.refuse(sum, stage, (doing, method), reason),
                // Places are refused in the same way with and without the name. They are counted
                // for the named run only, because that run arms all methods.
                (true, true) => self.refuse(sum, CheckStage::Place, (doing, method), reason),
                (true, false) => {}
            }
        }
        let count = armed.methods.len() as u64;
        *(if named {
            &mut sum.named
        } else {
            &mut sum.armed
        }) += count;
        (count > 0).then_some(armed)
    }

    /// Verifies the types of an armed class, and proves its methods.
    fn check_armed(
        &mut self,
        file: &ClassFile,
        armed: &Armed,
        doing: &str,
        sum: &mut PolicyTotals,
    ) {
        let sound = |written| {
            let file = ClassFile::parse(written)?;
            file.check_closed().map(|()| file)
        };
        let outcome = match (sound(&armed.bytes), sound(&armed.anchor_bytes)) {
            (Ok(written), Ok(_)) => written,
            (Err(error), _) | (_, Err(error)) => {
                return self.fail(doing, "", format!("what was written is damaged: {error}"));
            }
        };
        if let Err(reason) = verify::guard::armed(file, &outcome) {
            self.fail(&doing.replace("arm", "verify armed"), "", reason);
        }
        let proved = proof::armed(file, &outcome, armed);
        sum.proved += proved.count;
        for (method, reason) in proved.failures {
            self.fail(&doing.replace("arm", "prove armed"), &method, reason);
        }
    }

    fn emit(
        &mut self,
        file: &ClassFile,
        policy: &Policy,
        edits: bool,
        doing: &str,
        sum: &mut PolicyTotals,
    ) {
        let prepared = prepare(file, policy);
        sum.points += prepared
            .iter()
            .map(|p| p.armed.points.len() as u64)
            .sum::<u64>();
        let anchor = match file.name() {
            Ok(name) => anchor::name(&name, 0),
            Err(error) => return self.fail(doing, "", error),
        };
        let host = HostClass {
            file,
            anchor: &anchor,
            protected: HashSet::from([
                ("clone".to_string(), "()Ljava/lang/Object;".to_string()),
                ("finalize".to_string(), "()V".to_string()),
            ]),
        };
        let mut refused: HashSet<MethodId> = HashSet::new();
        let every = || 0..prepared.len();
        let resumed = || every().filter(|i| prepared[*i].armed.points.len() > 1);
        for (bodies, clean) in [
            (Bodies::Enter, false),
            (Bodies::Resume, false),
            (Bodies::Resume, true),
        ] {
            let plans: Vec<VersionPlan> = match bodies {
                Bodies::Enter => every()
                    .filter_map(|i| plan(&prepared, i, clean, &[]))
                    .collect(),
                Bodies::Resume => resumed()
                    .filter_map(|i| plan(&prepared, i, clean, &[]))
                    .collect(),
            };
            for (id, reason) in self.versions(&host, &plans, bodies, doing, sum) {
                // A method is counted once, even if several of its bodies are refused.
                if refused.insert(id) {
                    let label = label(&prepared[id.0 as usize].method);
                    self.refuse(sum, CheckStage::Emit, (doing, &label), &reason);
                }
            }
        }
        sum.emitted += (prepared.len() - refused.len()) as u64;
        if !edits {
            return;
        }
        let chosen: Vec<Option<[Edit; 1]>> = prepared.iter().map(edit).collect();
        for bodies in [Bodies::Enter, Bodies::Resume] {
            let edited = chosen.iter().enumerate().filter_map(|(i, edit)| {
                let enough = bodies == Bodies::Enter || prepared[i].armed.points.len() > 1;
                edit.as_ref()
                    .filter(|_| enough)
                    .and_then(|e| plan(&prepared, i, false, e))
            });
            let plans: Vec<VersionPlan> = edited.collect();
            let bad = self.versions(&host, &plans, bodies, doing, sum);
            sum.edited += (plans.len() - bad.len()) as u64;
            for (id, reason) in bad {
                let label = label(&prepared[id.0 as usize].method);
                self.refuse(sum, CheckStage::Edit, (doing, &label), &reason);
            }
        }
    }

    /// Emits and proves versions. Returns the refusals with the ids of their methods.
    fn versions(
        &mut self,
        host: &HostClass,
        plans: &[VersionPlan],
        bodies: Bodies,
        doing: &str,
        sum: &mut PolicyTotals,
    ) -> Vec<(MethodId, Refusal)> {
        let mut refused = Vec::new();
        for part in plans.chunks(MAX_METHODS_PER_CLASS) {
            let emitted = version::emit(host.file, host.anchor, part, bodies, &host.protected);
            let class = match emitted {
                Ok(class) => class,
                Err(reason) => {
                    match part {
                        [one] => refused.push((one.id, reason)),
                        _ => {
                            for one in part.chunks(1) {
                                refused.extend(self.versions(host, one, bodies, doing, sum));
                            }
                        }
                    }
                    continue;
                }
            };
            refused.extend(class.refused.iter().cloned());
            if class.methods.is_empty() {
                continue;
            }
            let sound = ClassFile::parse(&class.bytes).and_then(|file| {
                file.check_closed()?;
                Ok(file)
            });
            let emitted = match sound {
                Ok(emitted) => emitted,
                Err(error) => {
                    self.fail(doing, "", format!("what was written is damaged: {error}"));
                    continue;
                }
            };
            let proved = proof::version(host.file, &emitted, host.anchor, part, &class);
            sum.proved += proved.count;
            for (method, reason) in proved.failures {
                self.fail(&doing.replace("emit", "prove"), &method, reason);
            }
        }
        refused
    }
}

/// Whether two forms of an armed class have the same code, capture points and anchor.
fn has_same_code(a: &Armed, b: &Armed) -> bool {
    (&a.bytes, &a.anchor, &a.anchor_bytes, &a.methods)
        == (&b.bytes, &b.anchor, &b.anchor_bytes, &b.methods)
}

/// The class whose methods are emitted in versions.
struct HostClass<'h> {
    file: &'h ClassFile<'h>,
    anchor: &'h str,
    protected: ProtectedMembers,
}

/// Returns the plan for the method with the index `i`.
fn plan<'p>(
    prepared: &'p [Prepared<'p>],
    i: usize,
    clean: bool,
    edits: &'p [Edit],
) -> Option<VersionPlan<'p>> {
    let one = prepared.get(i)?;
    Some(VersionPlan {
        method: &one.method,
        id: MethodId(i as u32),
        armed: &one.armed,
        edits,
        kept: &[],
        probes: match (clean, edits) {
            (true, _) => &[],
            (false, []) => &one.derived,
            _ => &one.direct,
        },
        clean,
    })
}

pub fn label(method: &Method) -> String {
    format!("{}{}", method.name, method.descriptor)
}

/// Analyses all methods that can be armed if a plan names them.
fn prepare<'f>(file: &'f ClassFile<'f>, policy: &Policy) -> Vec<Prepared<'f>> {
    let mut slots = 0;
    let analysed = (0..file.methods.len()).filter_map(|index| {
        // A method that cannot be analysed was already counted as a refusal when the class was
        // armed.
        let method = Method::analyse(file, index, &|i, p| policy.cuts(i, p)).ok()?;
        let armed = arming::layout(&method, policy, true).ok()?;
        Some((method, armed))
    });
    analysed
        .map(|(method, armed)| {
            let each = reachable(&method, &armed.points)
                .into_iter()
                .map(|fragment| {
                    slots += 1;
                    Probe {
                        site: Site::Before(fragment),
                        action: ProbeAction::Count {
                            slot: CounterSlot(slots),
                        },
                    }
                });
            let direct = each.collect();
            let counting = CounterPlan::place_counters(&method, &armed.points);
            let mut derived = counting.probes(CounterSlot(slots + 1));
            slots += counting.flow.counter_count();
            let calls = calls_and_allocations(&method, &armed.points);
            let counting = CounterPlan::place_at_instructions(&method, &armed.points, &calls);
            if let Some(counting) = counting {
                derived.extend(counting.probes(CounterSlot(slots + 1)));
                slots += counting.flow.counter_count();
            }
            Prepared {
                method,
                armed,
                direct,
                derived,
            }
        })
        .collect()
}

/// Returns a valid edit of a method, if there is one. Methods alternate between skipping a fragment
/// and redirecting an edge.
fn edit(prepared: &Prepared) -> Option<[Edit; 1]> {
    let kinds: [fn(&Prepared) -> Option<Edit>; 2] = match prepared.method.index % 2 {
        0 => [find_skip, find_redirect],
        _ => [find_redirect, find_skip],
    };
    kinds.iter().find_map(|kind| kind(prepared)).map(|e| [e])
}

/// Returns the first fragment of a method that can be skipped.
fn find_skip(prepared: &Prepared) -> Option<Edit> {
    let method = &prepared.method;
    let edits = method
        .flow
        .fragments()
        .map(|f| Edit::Skip { fragment: f.id });
    find_valid_edit(method, &prepared.armed, edits)
}

/// Returns the first edge of a method that can be redirected.
fn find_redirect(prepared: &Prepared) -> Option<Edit> {
    let method = &prepared.method;
    let edges = method.flow.edges().into_iter().take(MAX_REDIRECT_TARGETS);
    let edits = edges.flat_map(|(from, to)| {
        let others = method
            .flow
            .fragments()
            .map(|f| f.id)
            .filter(move |f| *f != to);
        let others = others.take(MAX_REDIRECT_TARGETS);
        others.map(move |target| Edit::Redirect { from, to, target })
    });
    find_valid_edit(method, &prepared.armed, edits)
}

fn find_valid_edit(
    method: &Method,
    armed: &ArmedCode,
    edits: impl Iterator<Item = Edit>,
) -> Option<Edit> {
    let mut edits = edits.take(MAX_EDIT_TRIALS);
    edits.find(|edit| patch::apply(method, std::slice::from_ref(edit), &armed.points).is_ok())
}
