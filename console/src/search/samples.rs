//! Turns thread dumps into stack samples of the search.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use veneer_client::thread_dump::{DumpedFrame, DumpedThread, ThreadState};
use veneer_search::cause::Cause;
use veneer_search::observation::{Fact, Frame, Observation, StackSample};
use veneer_search::place::{GroupId, MethodId, MethodName};

use super::evidence::PlaceEvidence;
use super::thread_costs::{SampleCost, ThreadCosts};
use crate::dumps::library::{self, Blame, is_jdk};
use crate::targets;

/// Classes and packages whose native methods wait for sockets, and those that wait for files. The
/// JVM reports a thread in such a method as running.
const SOCKETS: [&str; 4] = [
    "java.net.Socket",
    "sun.nio.ch.Net",
    "sun.nio.ch.Socket",
    "sun.nio.ch.NioSocketImpl",
];
const FILES: [&str; 5] = [
    "java.io.File",
    "java.io.RandomAccessFile",
    "java.io.UnixFileSystem",
    "sun.nio.ch.FileDispatcherImpl",
    "sun.nio.ch.UnixFileDispatcherImpl",
];
/// The samples of a method after which the driver asks whether it has compiled code.
const MIN_OWN_SAMPLES: u64 = 3;

/// The observations of one dump.
#[derive(Debug, Default)]
pub struct DumpSamples {
    /// Names that occur for the first time.
    pub names: Vec<Observation>,
    pub samples: Vec<StackSample>,
    /// The number of samples that are not idle.
    pub active: u64,
}

/// Numbers methods and thread groups, and collects what the samples of a place have in common.
#[derive(Debug, Default)]
pub struct Sampler {
    /// Threads whose name or group does not match are left out.
    pattern: Option<String>,
    methods: HashMap<(String, String), MethodId>,
    groups: HashMap<String, GroupId>,
    costs: ThreadCosts,
    places: BTreeMap<(MethodId, Option<u32>), PlaceEvidence>,
    /// The samples in the own code of methods, by their names in lists of compiled methods.
    own_samples: HashMap<String, u64>,
    /// The last two lists of compiled methods, the older one first.
    compiled: Vec<HashSet<String>>,
}

impl Sampler {
    pub fn new(pattern: Option<String>) -> Sampler {
        Sampler {
            pattern,
            ..Sampler::default()
        }
    }

    /// Converts one dump. `at` is its time since the beginning, and `collections` the share of the
    /// time since the last dump in which collections stopped all threads.
    pub fn convert(
        &mut self,
        threads: &[DumpedThread],
        at: Duration,
        collections: f64,
    ) -> DumpSamples {
        let mut found = DumpSamples::default();
        let mut owners: HashMap<&str, &DumpedFrame> = HashMap::new();
        for frame in threads.iter().flat_map(|thread| &thread.frames) {
            owners.extend(frame.locked.iter().map(|lock| (lock.as_str(), frame)));
        }
        self.costs.retain(threads);
        for thread in threads {
            // A thread without a frame of the application belongs to the JVM.
            let Some(blame) = library::blame(&thread.frames) else {
                continue;
            };
            let group = group_name(&thread.name);
            if !self.is_wanted(&thread.name, &group) {
                continue;
            }
            let frames: Vec<Frame> = thread.frames[blame.leaf..]
                .iter()
                .rev()
                .map(|frame| self.frame(frame, &mut found.names))
                .collect();
            let idle = library::is_idle(thread);
            let cost = self.costs.add(thread, at, collections);
            let cause = self.cause(thread, blame, cost);
            if let Some(place) = frames.last()
                && !idle
            {
                let evidence = self.places.entry((place.method, place.line)).or_default();
                let lock = thread.waits_for.as_deref();
                evidence.add_holder(lock.and_then(|lock| owners.get(lock)).copied());
                evidence.add_library(&thread.frames[..blame.leaf]);
            }
            found.active += u64::from(!idle);
            found.samples.push(StackSample {
                group: self.group(group, &mut found.names),
                frames,
                cause,
                idle,
            });
        }
        found
    }

    fn is_wanted(&self, thread: &str, group: &str) -> bool {
        let matches = |pattern: &String| {
            targets::matches(pattern, thread) || targets::matches(pattern, group)
        };
        !thread.starts_with("veneer") && self.pattern.as_ref().is_none_or(matches)
    }

    /// Returns the facts about each line with samples, and about each method.
    pub fn facts(&self) -> Vec<Fact> {
        let mut places = self.places.clone();
        for ((method, line), evidence) in &self.places {
            if line.is_some() {
                places.entry((*method, None)).or_default().merge(evidence);
            }
        }
        let facts = places.iter();
        facts
            .flat_map(|((method, line), evidence)| evidence.facts(*method, *line))
            .collect()
    }

    /// Takes a new list of compiled methods.
    pub fn set_compiled(&mut self, methods: HashSet<String>) {
        if self.compiled.len() == 2 {
            self.compiled.remove(0);
        }
        self.compiled.push(methods);
    }

    /// Returns whether a new list of compiled methods can change a cause: samples are in the own
    /// code of a method that the last list does not contain.
    pub fn needs_compiled(&self) -> bool {
        let is_missing = |name: &String| {
            let last = self.compiled.last();
            last.is_none_or(|list| !list.contains(name))
        };
        let mut samples = self.own_samples.iter();
        samples.any(|(name, samples)| *samples >= MIN_OWN_SAMPLES && is_missing(name))
    }

    fn cause(&mut self, thread: &DumpedThread, blame: Blame, cost: SampleCost) -> Cause {
        let called = &thread.frames[..blame.leaf];
        if blame.is_statement {
            return Cause::Statement;
        }
        match thread.state {
            ThreadState::Blocked => Cause::Monitor,
            ThreadState::Sleeping => Cause::Sleep,
            ThreadState::Waiting => Cause::Park,
            ThreadState::Parking if called.iter().any(is_lock) => Cause::Lock,
            ThreadState::Parking => Cause::Park,
            ThreadState::Runnable | ThreadState::Other => {
                let waits = native_wait(thread, cost);
                waits.unwrap_or_else(|| self.running_cause(thread, called, cost))
            }
        }
    }

    /// Returns the cause of a sample of a thread that can run.
    fn running_cause(
        &mut self,
        thread: &DumpedThread,
        called: &[DumpedFrame],
        cost: SampleCost,
    ) -> Cause {
        if cost.is_collection {
            Cause::Collections
        } else if called.iter().any(makes_exception) {
            Cause::Exceptions
        } else if called.iter().any(loads_class) {
            Cause::ClassLoading
        } else if called.is_empty() && self.is_interpreted(thread) {
            Cause::Interpreted
        } else if cost.is_allocation {
            Cause::Allocation
        } else {
            Cause::Processor
        }
    }

    /// Returns whether the innermost method had no compiled code in both of the last two lists. Two
    /// lists are necessary, because a method that has just become hot is not compiled yet.
    fn is_interpreted(&mut self, thread: &DumpedThread) -> bool {
        let Some(frame) = thread.frames.first().filter(|frame| frame.file.is_some()) else {
            return false;
        };
        let name = format!("{}.{}", frame.class, frame.method);
        let is_in_none = self.compiled.iter().all(|list| !list.contains(&name));
        *self.own_samples.entry(name).or_default() += 1;
        self.compiled.len() == 2 && is_in_none
    }

    fn frame(&mut self, frame: &DumpedFrame, names: &mut Vec<Observation>) -> Frame {
        let key = (frame.class.clone(), frame.method.clone());
        let next = MethodId(u32::try_from(self.methods.len()).unwrap_or(u32::MAX));
        let id = *self.methods.entry(key).or_insert_with(|| {
            names.push(Observation::Method {
                id: next,
                name: MethodName {
                    module: frame.module.clone(),
                    class: frame.class.clone(),
                    method: frame.method.clone(),
                    file: frame.file.clone(),
                },
            });
            next
        });
        Frame {
            method: id,
            line: frame.line,
            loop_line: None,
        }
    }

    fn group(&mut self, name: String, names: &mut Vec<Observation>) -> GroupId {
        let next = GroupId(u32::try_from(self.groups.len()).unwrap_or(u32::MAX));
        *self.groups.entry(name.clone()).or_insert_with(|| {
            names.push(Observation::Group { id: next, name });
            next
        })
    }
}

/// Replaces each number in the name of a thread by `*`, so that a pool is one group.
fn group_name(thread: &str) -> String {
    let mut group = String::new();
    for c in thread.chars() {
        let c = if c.is_ascii_digit() { '*' } else { c };
        if c != '*' || !group.ends_with('*') {
            group.push(c);
        }
    }
    group
}

fn is_lock(frame: &DumpedFrame) -> bool {
    frame.class.starts_with("java.util.concurrent.locks.") && frame.method.starts_with("lock")
}

fn makes_exception(frame: &DumpedFrame) -> bool {
    frame.class == "java.lang.Throwable"
        && matches!(frame.method.as_str(), "<init>" | "fillInStackTrace")
}

fn loads_class(frame: &DumpedFrame) -> bool {
    let (class, method) = (frame.class.as_str(), frame.method.as_str());
    let is_loader = class == "java.lang.ClassLoader"
        && (method.starts_with("loadClass") || method.starts_with("defineClass"));
    is_loader
        || class == "java.lang.Class" && method.starts_with("forName")
        || class == "java.lang.invoke.MethodHandleNatives" && method.starts_with("link")
}

/// Returns why a thread waits in a native method, which the JVM reports as running. A Java method
/// computes.
fn native_wait(thread: &DumpedThread, cost: SampleCost) -> Option<Cause> {
    let native = thread
        .frames
        .first()
        .filter(|frame| frame.file.is_none() && is_jdk(frame))?;
    let is_in = |prefixes: &[&str]| prefixes.iter().any(|p| native.class.starts_with(p));
    if is_in(&SOCKETS) {
        Some(Cause::Socket)
    } else if is_in(&FILES) {
        Some(Cause::File)
    } else {
        cost.is_off_processor.then_some(Cause::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_client::thread_dump::parse;

    const DUMP: &str = r#"
"http-1" #12 prio=5 nid=77 waiting for monitor entry  [0x0]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.shop.Desk.audit(Desk.java:61)
	- waiting to lock <0xe1> (a java.lang.Object)
	at com.shop.Desk.serve(Desk.java:20)
	at java.lang.Thread.run(java.base@17.0.9/Thread.java:840)

"http-22" #13 prio=5 nid=78 runnable  [0x0]
   java.lang.Thread.State: RUNNABLE
	at java.util.HashMap.get(java.base@17.0.9/HashMap.java:1)
	at com.shop.Desk.price(Desk.java:41)
	- locked <0xe1> (a java.lang.Object)

"pool-1-thread-3" #14 prio=5 nid=79 waiting on condition  [0x0]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17.0.9/Native Method)
	at java.util.concurrent.locks.ReentrantLock.lock(java.base@17.0.9/ReentrantLock.java:322)
	at com.shop.Stock.take(Stock.java:9)

"loop-1" #15 prio=5 nid=80 runnable  [0x0]
   java.lang.Thread.State: RUNNABLE
	at sun.nio.ch.EPoll.wait(java.base@17.0.9/Native Method)
	at io.netty.Loop.run(Loop.java:3)

"Reference Handler" #2 prio=10 nid=3 waiting on condition
   java.lang.Thread.State: RUNNABLE
	at java.lang.ref.Reference.waitForReferencePendingList(java.base@17.0.9/Native Method)

"db-1" #16 prio=5 nid=81 runnable  [0x0]
   java.lang.Thread.State: RUNNABLE
	at sun.nio.ch.Net.poll(java.base@17.0.9/Native Method)
	at sun.nio.ch.NioSocketImpl.park(java.base@17.0.9/NioSocketImpl.java:186)
	at org.db.Driver.read(Driver.java:5)
"#;

    #[test]
    fn samples_have_causes_groups_and_holders() {
        let mut sampler = Sampler::new(None);
        let found = sampler.convert(&parse(DUMP), Duration::ZERO, 0.0);
        let causes: Vec<(Cause, bool)> = found.samples.iter().map(|s| (s.cause, s.idle)).collect();
        assert_eq!(
            causes,
            [
                (Cause::Monitor, false),
                (Cause::Processor, false),
                (Cause::Lock, false),
                (Cause::Processor, true),
                (Cause::Socket, false)
            ]
        );
        assert_eq!(found.active, 4);
        let groups: Vec<&str> = found
            .names
            .iter()
            .filter_map(|o| match o {
                Observation::Group { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(groups, ["http-*", "pool-*-thread-*", "loop-*", "db-*"]);
        // The frames of the JDK inside the application's frame are left out.
        let price = &found.samples[1];
        assert_eq!(price.frames.last().and_then(|f| f.line), Some(41));
        let facts = sampler.facts();
        let about = |sample: usize, has_line: bool| -> Vec<&str> {
            let place = found.samples[sample].frames.last();
            let key = place.map(|frame| (frame.method, frame.line.filter(|_| has_line)));
            let of_place = |fact: &&Fact| fact.method.map(|method| (method, fact.line)) == key;
            let of_place = facts.iter().filter(of_place);
            of_place.map(|fact| fact.text.as_str()).collect()
        };
        let holder = "the monitor is held in com.shop.Desk.price (Desk.java:41)";
        assert_eq!(about(0, true), [holder]);
        let called =
            "the line calls java.util.HashMap.get; 1 of 1 samples are in java.util.HashMap";
        assert_eq!(about(1, true), [called]);
        assert_eq!(
            about(1, false),
            [called],
            "the method has the facts of its lines"
        );
    }

    #[test]
    fn a_pattern_selects_threads_by_name_or_group() {
        for (pattern, count) in [("http-*", 2), ("http-1", 1), ("none", 0), ("db-*", 1)] {
            let mut sampler = Sampler::new(Some(pattern.to_owned()));
            assert_eq!(
                sampler
                    .convert(&parse(DUMP), Duration::ZERO, 0.0)
                    .samples
                    .len(),
                count,
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_hot_method_without_compiled_code_in_two_lists_is_interpreted() {
        let dump = "\"main\" #1 prio=5\n   java.lang.Thread.State: RUNNABLE\n\
                    \tat Big.run(Big.java:9)\n\tat Big.main(Big.java:1)\n";
        let mut sampler = Sampler::new(None);
        let cause = |sampler: &mut Sampler| {
            let found = sampler.convert(&parse(dump), Duration::ZERO, 0.0);
            found.samples.first().map(|sample| sample.cause)
        };
        assert!(!sampler.needs_compiled());
        for _ in 0..3 {
            assert_eq!(cause(&mut sampler), Some(Cause::Processor), "no list");
        }
        assert!(sampler.needs_compiled());
        sampler.set_compiled(HashSet::new());
        assert_eq!(cause(&mut sampler), Some(Cause::Processor), "one list");
        assert!(sampler.needs_compiled());
        sampler.set_compiled(HashSet::new());
        assert_eq!(cause(&mut sampler), Some(Cause::Interpreted));
        sampler.set_compiled(HashSet::from(["Big.run".to_owned()]));
        assert_eq!(cause(&mut sampler), Some(Cause::Processor));
        assert!(!sampler.needs_compiled());
    }
}
