//! Tests of the recorder.

use super::*;
use crate::data::monotonic::monotonic;
use crate::data::recorder::thread_events::{BlockedNode, EventValue, MonitorObject};
use crate::data::recorder::track::EventTime;
use crate::data::scratch::ScratchDirectory;
use veneer_instruments::VmEventKind;
use veneer_probes::tree::EventPart;
use veneer_traces::format::word::kind;
use veneer_traces::reader::ProbeCost;
use veneer_traces::{Node, Trace, Visitor};

const INSTRUMENT: InstrumentId = InstrumentId(4);

/// The ids of nodes, with their depths, in the order of their ends.
#[derive(Default)]
struct Ended(Vec<(u64, u32)>);

impl Visitor for Ended {
    fn leave(&mut self, node: &Node, _: &[veneer_traces::reader::OpenNode]) {
        self.0.push((node.id, node.depth));
    }
}

/// A recording of events.
fn events(filter: TraceFilter) -> RecordingSpec<'static> {
    RecordingSpec {
        form: RecordingForm::Events,
        filter,
        filter_lines: &[],
        is_late: false,
        clock: TraceClock::default(),
        caches: None,
        sampling_interval: None,
    }
}

fn begin(recorder: &Recorder, data: &Path, rules: &str) -> Result<i32, RecordError> {
    let rules = format!("processor_time none\n{rules}");
    let filter = TraceFilter::parse(&rules).expect("a filter");
    recorder.begin(INSTRUMENT, data, ("VM", "25"), events(filter))
}

fn thread(name: &str) -> RecordedThread {
    RecordedThread {
        java_id: 9,
        name: name.into(),
        group: "main".into(),
    }
}

/// Stores an event as `VeneerTrace` does: through the position of the track.
fn store_as_java(recorder: &Recorder, shard: usize, word: u64, deeper: i64) {
    let at = recorder.get(shard, AT);
    assert_ne!(at, recorder.get(shard, END), "the segment has room");
    // SAFETY: the address is that of the next word of the mapped segment.
    unsafe { *(at as usize as *mut u64) = word };
    recorder.set(shard, AT, at + 8);
    recorder.set(shard, DEPTH, recorder.get(shard, DEPTH) + deeper);
}

fn ended(directory: &Path, number: u32) -> Vec<(u64, u32)> {
    let trace = Trace::open(directory).expect("a trace");
    let mut ended = Ended::default();
    let thread = trace.thread(number).expect("the thread");
    thread.read(&trace.names, &mut ended).expect("its events");
    ended.0
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn events_of_java_code_and_of_the_writer_are_one_sequence() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let number = begin(&recorder, &scratch.join("1"), "").expect("a recording");
    assert_ne!(recorder.open(3, number, thread("worker")), 0);
    recorder.write(3, kind::ENTRY, 7, 100);
    store_as_java(&recorder, 3, u64::from(kind::ENTRY) | 8 << 8, 1);
    store_as_java(&recorder, 3, u64::from(kind::EXIT), -1);
    recorder.write(3, kind::EXIT, 0, 1 << 40);
    recorder.end(INSTRUMENT);
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    assert_eq!((summary.threads, &summary.problem), (1, &None));
    let directory = Path::new(&summary.directory);
    assert_eq!(ended(directory, 1), [(8, 1), (7, 0)]);
    let file = directory.join("thread-1.events");
    let length = std::fs::metadata(file).expect("the file").len();
    assert_eq!(length, 64 + 4 * 8, "a header and four words");
    // A store that was under way is not part of the file, and changes nothing.
    store_as_java(&recorder, 3, u64::from(kind::ENTRY) | 9 << 8, 1);
    recorder.write(3, kind::ENTRY, 10, 1 << 41);
    assert_eq!(ended(directory, 1), [(8, 1), (7, 0)]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn a_shard_has_a_new_file_for_each_thread_and_each_recording() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let first = begin(&recorder, &scratch.join("1"), "").expect("a recording");
    let second = begin(&recorder, &scratch.join("1"), "");
    assert!(matches!(second, Err(RecordError::Busy(INSTRUMENT))));
    recorder.open(2, first, thread("a"));
    recorder.write(2, kind::ENTRY, 1, 5);
    recorder.thread_ends(2);
    recorder.open(2, first, thread("b"));
    recorder.write(2, kind::ENTRY, 2, 6);
    recorder.end(INSTRUMENT);
    let old = recorder.summary(INSTRUMENT).expect("a summary").directory;
    assert_eq!(recorder.open(2, first, thread("late")), 0, "it is over");
    let next = begin(&recorder, &scratch.join("1"), "").expect("a second recording");
    assert_ne!(next, first);
    recorder.open(2, next, thread("b"));
    recorder.write(2, kind::ENTRY, 3, 7);
    recorder.end(INSTRUMENT);
    let new = recorder.summary(INSTRUMENT).expect("a summary").directory;
    assert_ne!(old, new);
    assert_eq!(ended(Path::new(&old), 1), [(1, 0)]);
    assert_eq!(ended(Path::new(&old), 2), [(2, 0)]);
    assert_eq!(ended(Path::new(&new), 1), [(3, 0)]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn a_directory_that_vanishes_is_a_problem_of_the_recording() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let number = begin(&recorder, &scratch.join("1"), "").expect("a recording");
    let directory = recorder.summary(INSTRUMENT).expect("a summary").directory;
    std::fs::remove_dir_all(&directory).expect("it is removed");
    assert_eq!(recorder.open(1, number, thread("a")), 0);
    assert_eq!(recorder.get(1, 0), -i64::from(number));
    let problem = recorder.summary(INSTRUMENT).and_then(|one| one.problem);
    assert!(problem.is_some_and(|text| text.contains(&directory)));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no directories")]
fn the_filter_counts_what_it_leaves_out() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    begin(&recorder, &scratch.join("1"), "excludemethod * <init>").expect("a recording");
    assert!(recorder.excludes(INSTRUMENT, "a.B", "<init>"));
    assert!(!recorder.excludes(INSTRUMENT, "a.B", "m"));
    assert!(!recorder.excludes(InstrumentId(9), "a.B", "<init>"));
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    assert_eq!(summary.excluded_methods, 1);
}

/// The nodes and instants of a thread, in the order of their ends.
#[derive(Default)]
struct Described(Vec<String>);

impl Described {
    fn push(&mut self, node: &Node) {
        let kind = veneer_traces::query::kind_text(node.kind);
        let owner = node
            .owner()
            .map_or(String::new(), |owner| format!(" by {owner}"));
        self.0.push(format!(
            "{} {kind} {}{owner} {:?}",
            node.depth,
            node.id,
            node.values()
        ));
    }
}

impl Visitor for Described {
    fn instant(&mut self, node: &Node, _: &[veneer_traces::reader::OpenNode]) {
        self.push(node);
    }

    fn leave(&mut self, node: &Node, _: &[veneer_traces::reader::OpenNode]) {
        self.push(node);
    }
}

fn described(trace: &Trace, number: u32) -> Vec<String> {
    let mut described = Described::default();
    let thread = trace.thread(number).expect("the thread");
    thread
        .read(&trace.names, &mut described)
        .expect("its events");
    described.0
}

fn blocked(kind: VmEventKind, owner: Option<u32>) -> BlockedNode {
    BlockedNode {
        kind,
        monitor: MonitorObject {
            class: "a.Lock".into(),
            hash: 0x1f,
        },
        owner,
        timeout: (kind == VmEventKind::Wait).then_some(70),
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn blocked_threads_have_nodes_with_the_owner_inside_the_call() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    begin(&recorder, &scratch.join("1"), "").expect("a recording");
    let at = EventTime::without_reading;
    // An end without its beginning closes nothing.
    assert!(recorder.open_for_event(3, || thread("worker")));
    recorder.write(3, kind::ENTRY, 7, 100);
    recorder.end_blocked(3, 105, None);
    let owner = RecordedThread {
        java_id: 11,
        ..thread("holder")
    };
    let owner = recorder.number_thread(owner);
    assert_eq!(owner, 2);
    recorder.begin_blocked(3, at(110), &blocked(VmEventKind::Contended, Some(owner)));
    recorder.end_blocked(3, 150, None);
    // A wait that throws an exception has no end; the next node ends it.
    recorder.begin_blocked(3, at(160), &blocked(VmEventKind::Wait, None));
    recorder.begin_blocked(3, at(170), &blocked(VmEventKind::Wait, None));
    recorder.end_blocked(3, 240, Some(true));
    recorder.class_loaded(3, 250, "a.B");
    recorder.write(3, kind::EXIT, 0, 300);
    recorder.thread_ended(3, 310);
    // The owner gets its events file under the number that it has.
    let holder = RecordedThread {
        java_id: 11,
        ..thread("holder")
    };
    assert!(recorder.open_for_event(4, || holder));
    recorder.thread_started(4, 400);
    recorder.end(INSTRUMENT);
    assert!(!recorder.open_for_event(5, || thread("late")), "it is over");
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    assert_eq!((summary.threads, &summary.problem), (2, &None));
    let trace = Trace::open(Path::new(&summary.directory)).expect("a trace");
    let object = "Object(1, 31)";
    assert_eq!(
        described(&trace, 1),
        [
            format!("1 contended 1 by 2 [{object}]"),
            format!("1 wait 1 [{object}, Int(70)]"),
            format!("1 wait 1 [{object}, Int(70), Int(1)]"),
            "1 class_load 2 []".into(),
            "0 call 7 []".into(),
            "0 thread_end 1 []".into(),
        ]
    );
    assert_eq!(described(&trace, 2), ["0 thread_start 2 []"]);
    assert_eq!(trace.names.thread_name(2), "holder");
    assert_eq!(trace.names.text(1), Some("a.Lock"));
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn events_of_the_jvm_have_files_of_their_own() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    begin(&recorder, &scratch.join("1"), "observe_gc\nobserve_compile").expect("a recording");
    recorder.collection_begins(5);
    recorder.open_jvm_tracks(recorder.observed(INSTRUMENT));
    // The beginning of this collection was before the recording.
    recorder.collection_ends(9);
    recorder.collection_begins(10);
    recorder.collection_ends(30);
    recorder.method_compiled(40, ("a.B", "m", "()V"), 64);
    recorder.method_compiled(50, ("a.B", "m", "()V"), 128);
    recorder.class_unloaded(60, "a.C");
    recorder.end(INSTRUMENT);
    recorder.collection_begins(70);
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    let trace = Trace::open(Path::new(&summary.directory)).expect("a trace");
    assert_eq!(described(&trace, 1), ["0 gc 0 []"]);
    let frame = ShardLayout::SLOTS;
    assert_eq!(
        described(&trace, 2),
        [
            format!("0 compile {frame} [Int(64)]"),
            format!("0 compile {frame} [Int(128)]"),
            "0 class_unload 1 []".into(),
        ]
    );
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no restartable sequences")]
fn a_thread_that_was_switched_out_writes_a_reading_of_its_clock() {
    for source in ["rseq", "clock"] {
        let scratch = ScratchDirectory::new();
        let recorder = Recorder::default();
        let filter = TraceFilter::parse(&format!("processor_time {source}")).expect("a filter");
        let number = recorder
            .begin(INSTRUMENT, &scratch.join("1"), ("VM", "25"), events(filter))
            .expect("a recording");
        recorder.open(3, number, thread("worker"));
        recorder.write(3, kind::ENTRY, 7, monotonic());
        std::thread::sleep(std::time::Duration::from_millis(30));
        recorder.write(3, kind::EXIT, 0, monotonic());
        recorder.end(INSTRUMENT);
        let summary = recorder.summary(INSTRUMENT).expect("a summary");
        let trace = Trace::open(Path::new(&summary.directory)).expect("a trace");
        #[derive(Default)]
        struct Times(Vec<(u64, Option<u64>)>);
        impl Visitor for Times {
            fn leave(&mut self, node: &Node, _: &[veneer_traces::reader::OpenNode]) {
                self.0.push((node.ticks(), node.cpu_ns));
            }
        }
        let mut times = Times::default();
        let thread = trace.thread(1).expect("the thread");
        thread.read(&trace.names, &mut times).expect("its events");
        let [(wall, Some(cpu))] = times.0[..] else {
            panic!("{source}: {:?}", times.0);
        };
        assert!(
            wall >= 30_000_000 && cpu < 15_000_000,
            "{source}: {wall} {cpu}"
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn a_trace_by_the_counter_has_its_latest_rate_and_costs_in_picoseconds() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let filter = TraceFilter::parse("processor_time none\nkeep_last 1").expect("a filter");
    // Ticks of a half and then of a quarter of a nanosecond.
    let spec = RecordingSpec {
        clock: TraceClock::Counter(1 << 61),
        ..events(filter)
    };
    let begun = recorder.begin(INSTRUMENT, &scratch.join("1"), ("VM", "25"), spec);
    let number = begun.expect("a recording");
    let calibration = recorder.begin_calibration(INSTRUMENT).expect("files");
    recorder.open(3, runtime_table::CALIBRATION, thread("veneer-calibration"));
    for n in 0..20_000 {
        recorder.write(3, kind::ENTRY, 1, n * 75);
        recorder.write(3, kind::EXIT, 0, n * 75 + 30);
    }
    let cost = calibration.read_cost().expect("a cost");
    assert_eq!((cost.inside_ps, cost.outside_ps), (15_000, 22_500));
    recorder.end_calibration(INSTRUMENT, Some(cost));
    recorder.thread_ends(3);
    recorder.open(3, number, thread("worker"));
    let now = TraceClock::Counter(1 << 61).now();
    recorder.write(3, kind::ENTRY, 9, now);
    recorder.write(3, kind::EXIT, 0, now + 4_000);
    recorder.write_rate(INSTRUMENT, TraceClock::Counter(1 << 60));
    recorder.end(INSTRUMENT);
    recorder.write_rate(INSTRUMENT, TraceClock::Counter(1));
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    let directory = Path::new(&summary.directory);
    let trace = Trace::open(directory).expect("a trace");
    assert_eq!(trace.names.clock.nanoseconds(4_000), 1_000);
    assert!(
        trace.names.clock.ticks <= now,
        "the origin is the beginning"
    );
    assert_eq!(ended(directory, 1), [(9, 0)]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn a_filter_of_threads_leaves_out_threads_of_the_program_only() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let rules = "includethread worker\nexcludethread *";
    let number = begin(&recorder, &scratch.join("1"), rules).expect("a recording");
    assert_ne!(recorder.open(3, number, thread("worker")), 0);
    assert_eq!(recorder.open(4, number, thread("other")), 0);
    // The tracks of the JVM have the number of no thread.
    let of_jvm = RecordedThread {
        java_id: 0,
        ..thread("garbage collector")
    };
    assert_ne!(recorder.open(5, number, of_jvm), 0);
    recorder.end(INSTRUMENT);
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    assert_eq!((summary.threads, summary.problem), (2, None));
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn empty_calls_give_the_recorded_methods_a_cost() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let number = begin(&recorder, &scratch.join("1"), "").expect("a recording");
    let method = |slot| RecordedMethod {
        slot: CounterSlot(slot),
        class: "a.B",
        label: "m()V",
        line: None,
    };
    recorder.name_frame(&method(8));
    let calibration = recorder.begin_calibration(INSTRUMENT).expect("files");
    assert_eq!(calibration.read_cost(), None, "no calls");
    let calls = runtime_table::CALIBRATION;
    assert_ne!(recorder.open(3, calls, thread("veneer-calibration")), 0);
    // More calls than a segment has room for, each of 30 ns, with 45 ns between two of them.
    for n in 0..20_000 {
        recorder.write(3, kind::ENTRY, 1, n * 75);
        recorder.write(3, kind::EXIT, 0, n * 75 + 30);
    }
    let cost = calibration.read_cost().expect("a cost");
    assert_eq!((cost.inside_ps, cost.outside_ps), (30_000, 45_000));
    recorder.end_calibration(INSTRUMENT, Some(cost.clone()));
    recorder.name_frame(&method(9));
    // The next thread of the shard writes to a file of the recording.
    recorder.thread_ends(3);
    assert_ne!(recorder.open(3, number, thread("worker")), 0);
    recorder.write(3, kind::ENTRY, 9, 5_000);
    recorder.write(3, kind::EXIT, 0, 5_100);
    recorder.end(INSTRUMENT);
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    assert_eq!((summary.threads, &summary.problem), (1, &None));
    let directory = Path::new(&summary.directory);
    assert!(!directory.join("calibration").exists());
    let trace = Trace::open(directory).expect("a trace");
    let names = &trace.names;
    assert_eq!(names.probes.get(&cost.id), Some(&cost));
    let cost_of = |frame: u64| names.probe_cost(names.slot(frame));
    assert_eq!(cost_of(8), ProbeCost::default(), "named before");
    assert_eq!(cost_of(9), ProbeCost::from(&cost));
    assert_eq!(ended(directory, 1), [(9, 0)]);
    assert_eq!(trace.threads.len(), 1);
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn a_trace_of_the_last_seconds_overwrites_and_removes_what_is_older() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let rules = "keep_last 0.02";
    let number = begin(&recorder, &scratch.join("1"), rules).expect("a recording");
    let named = |name: &str, java_id| RecordedThread {
        java_id,
        ..thread(name)
    };
    recorder.open(1, number, named("ended", 21));
    recorder.write(1, kind::ENTRY, 1, 5);
    recorder.thread_ends(1);
    recorder.open(2, number, named("busy", 22));
    // 20 segments of 32,760 events, which are 1 µs apart: the last 20 ms are less than a segment.
    let events = 20 * 32_760;
    for n in 0..events / 2 {
        recorder.write(2, kind::ENTRY, 1, 2_000 * n);
        recorder.write(2, kind::EXIT, 0, 2_000 * n + 1_000);
    }
    std::thread::sleep(Duration::from_millis(30));
    recorder.open(3, number, named("new", 23));
    recorder.write(3, kind::ENTRY, 1, 5);
    recorder.end(INSTRUMENT);
    let summary = recorder.summary(INSTRUMENT).expect("a summary");
    assert_eq!((summary.threads, &summary.problem), (2, &None));
    let directory = Path::new(&summary.directory);
    let trace = Trace::open(directory).expect("a trace");
    let numbers: Vec<u32> = trace.threads.iter().map(|thread| thread.number).collect();
    assert_eq!(numbers, [2, 3], "the file of the ended thread is removed");
    let length = std::fs::metadata(directory.join(events_file(2))).expect("the file");
    assert!(length.len() <= 3 * u64::from(SEGMENT_BYTES), "{length:?}");
    let calls = ended(directory, 2);
    assert!((10_000..50_000).contains(&calls.len()), "{}", calls.len());
}

/// The kind and the depth of each node, in the order of their ends.
#[derive(Default)]
struct EndedKinds(Vec<(u8, u32, u64)>);

impl Visitor for EndedKinds {
    fn leave(&mut self, node: &Node, _: &[veneer_traces::reader::OpenNode]) {
        self.0.push((node.kind, node.depth, node.end - node.start));
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no shared files")]
fn spans_of_plans_end_with_their_labels_or_with_the_call_around_them() {
    let scratch = ScratchDirectory::new();
    let recorder = Recorder::default();
    let number = begin(&recorder, &scratch.join("1"), "").expect("a recording");
    recorder.open(3, number, thread("worker"));
    let blocker = EventValue::Object("a.B".into(), 5);
    let say = |part: EventPart, label: &str, now| {
        recorder.plan_event(3, now, &part.marked_label(label), Some(&blocker));
    };
    use EventPart::{Begin, End};
    // An end without a beginning has no effect.
    say(End, "park", 10);
    recorder.write(3, kind::ENTRY, 7, 100);
    say(Begin, "park", 110);
    say(End, "park", 115);
    // The first sleep ends by an exception, so the thread can sleep again in the same call.
    say(Begin, "sleep", 120);
    say(Begin, "sleep", 130);
    say(End, "sleep", 137);
    // The end of a span ends those inside it.
    say(Begin, "outer", 200);
    say(Begin, "inner", 210);
    say(End, "outer", 220);
    // A call ends the spans in it, and its caller's spans do not end inside a call.
    say(Begin, "outer", 300);
    recorder.write(3, kind::ENTRY, 8, 310);
    say(End, "outer", 320);
    recorder.write(3, kind::EXIT, 0, 330);
    recorder.write(3, kind::EXIT, 0, 340);
    recorder.write(3, kind::EXIT, 0, 350);
    say(End, "outer", 360);
    recorder.end(INSTRUMENT);
    let trace = Trace::open(&scratch.join("1-trace-1")).expect("a trace");
    let mut ended = EndedKinds::default();
    let thread = trace.thread(1).expect("the thread");
    thread.read(&trace.names, &mut ended).expect("its events");
    let expected = [
        (kind::PARK, 1, 5),
        (kind::SLEEP, 1, 10),
        (kind::SLEEP, 1, 7),
        (kind::SPAN, 2, 10),
        (kind::SPAN, 1, 20),
        (kind::ENTRY, 2, 20),
        (kind::SPAN, 1, 40),
        (kind::ENTRY, 0, 250),
    ];
    assert_eq!(ended.0, expected);
}
