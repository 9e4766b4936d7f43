//! One class: read, written, armed, emitted, proved.
//!
//! ```text
//!   bytes ─▶ parse ─▶ write = bytes?
//!              └─ for each policy ─▶ arm, unnamed and named ─▶ check their types, prove the armed bodies
//!                                └─▶ emit: every block counted; clean; edited ─▶ prove the versions
//! ```
//!
//! Versions are emitted as the agent does it: up to a hundred methods in a class, and one by one where that fails. There is
//! one difference. Which protected members a class inherits from other packages is known only once it is loaded; here
//! those of `java.lang.Object` stand for all.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use veneer_fragmenter::advice::{Action, Probe, Site};
use veneer_fragmenter::arming::{self, ArmedCode, Request};
use veneer_fragmenter::cell_path::on_cell_path;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::Counting;
use veneer_fragmenter::inference::modern;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::points::reachable;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::verify;
use veneer_fragmenter::version::{self, Bodies, Plan, ProtectedMembers};
use veneer_fragmenter::{Refusal, anchor};

use super::proof;
use super::tally::{ByPolicy, Failure, Stage, Tally};

/// As many methods as the agent puts into one version class.
const TOGETHER: usize = 100;

/// Edges of a method, and new targets of each, that are tried for an edit.
const TARGETS: usize = 4;

/// Edits of a method that are tried.
const TRIES: usize = 12;

/// What to check.
pub struct Task<'t> {
    /// With their names.
    pub policies: &'t [(&'static str, Policy)],
    /// Versions with edits too.
    pub edits: bool,
}

thread_local! {
    /// Where the last panic of this thread was, and its message.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics are noted instead of printed: each becomes a failure with the name of its class.
pub fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        PANIC.with(|last| *last.borrow_mut() = panic.to_string());
    }));
}

/// Checks a class. `place` is its name as its place tells.
pub fn examine(place: &str, bytes: &[u8], task: &Task) -> Tally {
    let began = processor_time();
    let mut tally = Tally {
        classes: 1,
        policies: vec![ByPolicy::default(); task.policies.len()],
        ..Tally::default()
    };
    let mut examined = Examined {
        class: place.replace('/', "."),
        failures: Vec::new(),
    };
    examined.guard("read", |e| e.all(bytes, task, &mut tally));
    tally.failures = examined.failures;
    tally.nanos = processor_time().saturating_sub(began);
    tally
}

/// The time that this thread has had a processor, in nanoseconds.
fn processor_time() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a plain system call that fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// A method with its armed layout, and what is woven into it.
struct Prepared<'f> {
    method: Method<'f>,
    armed: ArmedCode,
    /// A counter on each fragment: for graphs that are edited.
    each: Vec<Probe>,
    /// Counters from which those of all fragments follow.
    by_flow: Vec<Probe>,
}

struct Examined {
    class: String,
    failures: Vec<Failure>,
}

impl Examined {
    fn fail(&mut self, doing: &str, method: &str, reason: impl ToString) {
        self.failures.push(Failure {
            class: self.class.clone(),
            method: method.to_string(),
            doing: doing.to_string(),
            reason: reason.to_string(),
        });
    }

    /// Does a part of the work; a panic in it is a failure of the class.
    fn guard(&mut self, doing: &str, part: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| part(self))).is_err() {
            let panic = PANIC.with(|last| last.borrow().clone());
            self.fail(doing, "", format!("a panic: {panic}"));
        }
    }

    /// A refusal: counted, or, where it says that Veneer made a mistake, a failure.
    fn refuse(&mut self, to: &mut ByPolicy, stage: Stage, at: (&str, &str), reason: &Refusal) {
        to.refuse(stage, reason, 1);
        if let Refusal::Internal(_) = reason {
            self.fail(at.0, at.1, reason);
        }
    }

    fn all(&mut self, bytes: &[u8], task: &Task, tally: &mut Tally) {
        let file = match ClassFile::parse(bytes) {
            Ok(file) => file,
            Err(error) => return self.fail("read", "", error),
        };
        match file.name() {
            Ok(name) => self.class = name.replace('/', "."),
            Err(error) => return self.fail("read", "", error),
        }
        match file.to_bytes() {
            Ok(written) if written == bytes => tally.identical += 1,
            Ok(_) => self.fail("write", "", "the class comes out with other bytes"),
            Err(error) => self.fail("write", "", error),
        }
        tally.versions = Some((file.major, file.major));
        for member in &file.methods {
            if member.attributes.iter().any(|a| a.is(&file.pool, "Code")) {
                let name = file.pool.text(member.name);
                tally.methods += 1;
                tally.initialisers += u64::from(name.is_ok_and(|name| name == "<clinit>"));
            }
        }
        if on_cell_path(&self.class.replace('.', "/")) {
            tally.on_cell_path += 1;
            tally.methods_on_cell_path += tally.methods;
        }
        if tally.methods == 0 {
            return;
        }
        // Class files before Java 7 are armed, and emitted, in the form that has stack maps and `invokedynamic`. Where there is
        // none, arming says why.
        let modern = modern(bytes).unwrap_or(Cow::Borrowed(bytes));
        let file = match ClassFile::parse(&modern) {
            Ok(file) => file,
            Err(error) => return self.fail("read", "", error),
        };
        for ((name, policy), sum) in task.policies.iter().zip(&mut tally.policies) {
            let methods = tally.methods;
            for named in [false, true] {
                let doing = format!("arm {name}");
                self.guard(&doing, |e| {
                    e.arm((bytes, &file), policy, named, methods, &doing, sum);
                });
            }
            let doing = format!("emit {name}");
            self.guard(&doing, |e| {
                e.emit(&file, policy, task.edits, &doing, sum);
            });
        }
    }

    fn arm(
        &mut self,
        (bytes, file): (&[u8], &ClassFile),
        policy: &Policy,
        named: bool,
        methods: u64,
        doing: &str,
        sum: &mut ByPolicy,
    ) {
        let stage = if named { Stage::Named } else { Stage::Arm };
        let request = Request {
            policy,
            first_id: 0,
            generation: 0,
            wanted: &|_, _| true,
            forced: &|_, _| named,
            points: true,
            earlier: None,
        };
        let armed = match arming::arm(bytes, &request) {
            Ok(armed) => armed,
            Err(reason) => {
                sum.refuse(stage, &reason, methods);
                if let Refusal::Internal(_) = reason {
                    self.fail(doing, "", reason);
                }
                return;
            }
        };
        for (method, reason) in &armed.refusals {
            let place = method.contains('@');
            match (place, named) {
                (false, _) => self.refuse(sum, stage, (doing, method), reason),
                // Places are those of the methods as armed by name: all that there are.
                (true, true) => self.refuse(sum, Stage::Place, (doing, method), reason),
                (true, false) => {}
            }
        }
        let count = armed.methods.len() as u64;
        *(if named {
            &mut sum.named
        } else {
            &mut sum.armed
        }) += count;
        if count == 0 {
            return;
        }
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
        let proved = proof::armed(file, &outcome, &armed);
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
        sum: &mut ByPolicy,
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
        let host = Host {
            file,
            anchor: &anchor,
            protected: HashSet::from([
                ("clone".to_string(), "()Ljava/lang/Object;".to_string()),
                ("finalize".to_string(), "()V".to_string()),
            ]),
        };
        let mut refused: HashSet<u32> = HashSet::new();
        let every = || 0..prepared.len();
        let resumed = || every().filter(|i| prepared[*i].armed.points.len() > 1);
        for (bodies, clean) in [
            (Bodies::Enter, false),
            (Bodies::Resume, false),
            (Bodies::Resume, true),
        ] {
            let plans: Vec<Plan> = match bodies {
                Bodies::Enter => every()
                    .filter_map(|i| plan(&prepared, i, clean, &[]))
                    .collect(),
                Bodies::Resume => resumed()
                    .filter_map(|i| plan(&prepared, i, clean, &[]))
                    .collect(),
            };
            for (id, reason) in self.versions(&host, &plans, bodies, doing, sum) {
                // Once for a method, however many of its bodies are refused.
                if refused.insert(id) {
                    let label = label(&prepared[id as usize].method);
                    self.refuse(sum, Stage::Emit, (doing, &label), &reason);
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
            let plans: Vec<Plan> = edited.collect();
            let bad = self.versions(&host, &plans, bodies, doing, sum);
            sum.edited += (plans.len() - bad.len()) as u64;
            for (id, reason) in bad {
                let label = label(&prepared[id as usize].method);
                self.refuse(sum, Stage::Edit, (doing, &label), &reason);
            }
        }
    }

    /// Emits and proves versions; gives what was refused.
    fn versions(
        &mut self,
        host: &Host,
        plans: &[Plan],
        bodies: Bodies,
        doing: &str,
        sum: &mut ByPolicy,
    ) -> Vec<(u32, Refusal)> {
        let mut refused = Vec::new();
        for part in plans.chunks(TOGETHER) {
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

/// The class whose versions are emitted.
struct Host<'h> {
    file: &'h ClassFile<'h>,
    anchor: &'h str,
    protected: ProtectedMembers,
}

/// What is woven into the method of this number.
fn plan<'p>(
    prepared: &'p [Prepared<'p>],
    i: usize,
    clean: bool,
    edits: &'p [Edit],
) -> Option<Plan<'p>> {
    let one = prepared.get(i)?;
    Some(Plan {
        method: &one.method,
        id: i as u32,
        armed: &one.armed,
        edits,
        kept: &[],
        probes: match (clean, edits) {
            (true, _) => &[],
            (false, []) => &one.by_flow,
            _ => &one.each,
        },
        clean,
    })
}

/// Name and descriptor.
pub fn label(method: &Method) -> String {
    format!("{}{}", method.name, method.descriptor)
}

/// All methods that can be armed where a plan names them.
fn prepare<'f>(file: &'f ClassFile<'f>, policy: &Policy) -> Vec<Prepared<'f>> {
    let mut slots = 0;
    let analysed = (0..file.methods.len()).filter_map(|index| {
        // What cannot be analysed was refused, and counted, when the class was armed.
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
                        action: Action::Count { slot: slots },
                    }
                });
            let each = each.collect();
            let counting = Counting::of(&method, &armed.points);
            let by_flow = counting.probes(slots + 1);
            slots += counting.flow.width();
            Prepared {
                method,
                armed,
                each,
                by_flow,
            }
        })
        .collect()
}

/// An edit of a method, where one is sound: in one method a fragment is skipped, in the next an edge leads elsewhere.
fn edit(prepared: &Prepared) -> Option<[Edit; 1]> {
    let kinds: [fn(&Prepared) -> Option<Edit>; 2] = match prepared.method.index % 2 {
        0 => [skipped, redirected],
        _ => [redirected, skipped],
    };
    kinds.iter().find_map(|kind| kind(prepared)).map(|e| [e])
}

/// The first fragment of a method that can be skipped.
fn skipped(prepared: &Prepared) -> Option<Edit> {
    let method = &prepared.method;
    let edits = method
        .flow
        .fragments()
        .map(|f| Edit::Skip { fragment: f.id });
    sound(method, &prepared.armed, edits)
}

/// The first edge of a method that can lead elsewhere.
fn redirected(prepared: &Prepared) -> Option<Edit> {
    let method = &prepared.method;
    let edges = method.flow.edges().into_iter().take(TARGETS);
    let edits = edges.flat_map(|(from, to)| {
        let others = method
            .flow
            .fragments()
            .map(|f| f.id)
            .filter(move |f| *f != to);
        let others = others.take(TARGETS);
        others.map(move |target| Edit::Redirect { from, to, target })
    });
    sound(method, &prepared.armed, edits)
}

fn sound(method: &Method, armed: &ArmedCode, edits: impl Iterator<Item = Edit>) -> Option<Edit> {
    let mut edits = edits.take(TRIES);
    edits.find(|edit| patch::apply(method, &[*edit], &armed.points).is_ok())
}
