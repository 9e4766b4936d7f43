//! The times at which callbacks run, with simulated time.

mod recorder;

use recorder::Recorder;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veneer_scripts::{Plan, PlanSession};

struct Clock {
    recorder: Arc<Recorder>,
    session: PlanSession,
    zero: Instant,
}

impl Clock {
    fn new(source: &str) -> Self {
        let (recorder, session) = Recorder::session();
        let clock = Clock {
            recorder,
            session,
            zero: Instant::now(),
        };
        clock.load(source);
        clock
    }

    fn load(&self, source: &str) {
        let plan = Plan::compile("plan.rhai", source).unwrap_or_else(|error| panic!("{error}"));
        let loaded = self.session.load_at(plan, self.zero);
        loaded.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Runs the callbacks that are due at this second. Returns the printed lines.
    fn at(&self, seconds: f64) -> Vec<String> {
        self.session
            .run_due(self.zero + Duration::from_secs_f64(seconds));
        self.recorder.printed()
    }

    /// Returns the next deadline, in seconds.
    fn next(&self) -> Option<f64> {
        let next = self.session.next_deadline()?;
        Some(next.duration_since(self.zero).as_secs_f64())
    }

    fn finish(&self) -> Vec<String> {
        self.session.finish();
        self.recorder.printed()
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn the_example_of_the_documentation() {
    let clock = Clock::new(
        r#"
        let m    = methods("com.sun.tools.javac.parser..*::*(..)");   // `*` within a segment, `..` across packages or arguments
        let hits = m.blocks().before(counter());                      // also .loops(), .exits(), .edges()
        let took = methods("*..JavaCompiler::parse(..)").around(timer());
        every(1.0, || print(hits.table(10)));                         // seconds
        after(5.0, || { hits.detach(); took.detach(); });
        at_exit(|| print(took.table(10)));
        "#,
    );
    assert_eq!(
        clock.recorder.calls(),
        [
            "attach counter before blocks of com.sun.tools.javac.parser..*::*(..)",
            "attach timer around method of *..JavaCompiler::parse(..)",
        ]
    );
    assert_eq!(clock.next(), Some(1.0));
    assert_eq!(clock.at(0.999), NOTHING);
    let printed = clock.at(1.0);
    assert_eq!(printed.len(), 1);
    assert!(printed[0].ends_with("3,000 in 2 rows"), "{printed:?}");
    assert_eq!(clock.next(), Some(2.0));
    assert_eq!(clock.recorder.calls(), NOTHING);
    assert_eq!(clock.at(5.0).len(), 1);
    assert_eq!(clock.recorder.calls(), ["detach i1", "detach i2"]);
    let printed = clock.finish();
    assert_eq!(printed.len(), 1);
    assert!(printed[0].ends_with("\n2 rows"), "{printed:?}");
    assert_eq!(clock.next(), None);
    assert_eq!(clock.finish(), NOTHING);
}

#[test]
fn order_is_by_deadline_then_by_registration() {
    let clock = Clock::new(
        r#"
        at_exit(|| print("exit 1"));
        after(2, || print("after 2 first"));
        after(1.5, || print("after 1.5"));
        every(2, || print("every 2"));
        after(2.0, || print("after 2 second"));
        at_exit(|| print("exit 2"));
        "#,
    );
    clock.load("after(0.5, || print(\"other plan\")); at_exit(|| print(\"exit 3\"));");
    assert_eq!(
        clock.at(2.0),
        [
            "other plan",
            "after 1.5",
            "after 2 first",
            "every 2",
            "after 2 second"
        ]
    );
    assert_eq!(clock.next(), Some(4.0));
    assert_eq!(clock.finish(), ["exit 1", "exit 2", "exit 3"]);
}

#[test]
fn missed_ticks_are_skipped() {
    let clock = Clock::new("let n = 0; every(1, || { n += 1; print(n); });");
    assert_eq!(clock.at(1.0), ["1"]);
    assert_eq!(clock.at(7.4), ["2"]);
    assert_eq!(clock.next(), Some(8.0));
    assert_eq!(clock.at(7.9), NOTHING);
    assert_eq!(clock.at(8.0), ["3"]);
    assert_eq!(clock.next(), Some(9.0));
}

#[test]
fn closures_share_what_they_capture() {
    let clock = Clock::new(
        "let n = 0; every(1, || n += 1); after(3.5, || { print(n); n = 100; }); at_exit(|| print(n));",
    );
    for second in 1..=4 {
        let printed = clock.at(f64::from(second) + 0.1);
        assert_eq!(printed, if second == 4 { vec!["3"] } else { vec![] });
    }
    // At 4.1, the callback of 3.5 ran before the tick of 4.0.
    assert_eq!(clock.finish(), ["101"]);
}

#[test]
fn callbacks_register_callbacks() {
    let clock =
        Clock::new("after(1, || { after(1, || print(\"inner\")); at_exit(|| print(\"exit\")); });");
    assert_eq!(clock.at(1.25), NOTHING);
    assert_eq!(clock.next(), Some(2.25));
    assert_eq!(clock.at(2.25), ["inner"]);
    assert_eq!(clock.finish(), ["exit"]);
}

#[test]
fn a_callback_can_be_cancelled_by_another_of_the_same_tick_and_by_itself() {
    let clock = Clock::new(
        r#"
        let other = ();
        after(1, || other.cancel());
        other = every(1, || print("never"));
        let me = ();
        me = every(1, || { print("once"); me.cancel(); });
        let exit = at_exit(|| print("no exit"));
        exit.cancel();
        "#,
    );
    assert_eq!(clock.at(1.0), ["once"]);
    assert_eq!(clock.next(), None);
    assert_eq!(clock.finish(), NOTHING);
}

#[test]
fn errors_are_reported_once_and_then_the_callback_is_cancelled() {
    let clock = Clock::new(
        "let n = 0;\nevery(1, || { n += 1; if n > 1 { [][n % 1] } });\nevery(1, || print(\"fine\"));",
    );
    assert_eq!(clock.at(1.0), ["fine"]);
    let printed = clock.at(2.0);
    assert_eq!(printed.len(), 2);
    assert!(
        printed[0].starts_with("plan.rhai:2:39: array index 0 out of bounds"),
        "{printed:?}"
    );
    assert!(
        printed[0].ends_with("\n                                      ^"),
        "{printed:?}"
    );
    assert_eq!(clock.at(3.0), ["fine"]);
    assert_eq!(
        clock.at(4.0),
        [
            "plan.rhai:2:1: every: cancelled after 3 errors in a row",
            "fine"
        ]
    );
    assert_eq!(clock.at(5.0), ["fine"]);
}

#[test]
fn an_endless_callback_is_stopped() {
    let clock = Clock::new(
        "after(1, || { loop { } });\nafter(2, || print(\"next\"));\nat_exit(|| { loop { } });\nat_exit(|| print(\"last\"));",
    );
    let begin = Instant::now();
    let printed = clock.at(2.0);
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!(printed.len(), 2);
    assert!(
        printed[0].contains("plan.rhai:1:") && printed[0].contains("stopped: more than"),
        "{printed:?}"
    );
    assert_eq!(printed[1], "next");
    let printed = clock.finish();
    assert_eq!(printed.len(), 2);
    assert_eq!(printed[1], "last");
}

#[test]
fn exit_ends_one_call_only() {
    let clock = Clock::new("every(1, || { print(\"a\"); exit(); print(\"b\"); });");
    assert_eq!(clock.at(1.0), ["a"]);
    assert_eq!(clock.at(2.0), ["a"]);
}

#[test]
fn nothing_runs_after_finish() {
    let clock =
        Clock::new("every(1, || print(\"tick\")); at_exit(|| at_exit(|| print(\"inner\")));");
    assert_eq!(clock.finish(), NOTHING);
    assert_eq!(clock.at(9.0), NOTHING);
    let error = clock
        .session
        .load(Plan::compile("p.rhai", "1").unwrap())
        .unwrap_err();
    assert!(error.to_string().contains("shutting down"), "{error}");
}

#[test]
fn a_session_can_move_between_threads() {
    let clock = Clock::new("let n = 1; after(1, || print(n));");
    let printed = std::thread::spawn(move || clock.at(1.0)).join().unwrap();
    assert_eq!(printed, ["1"]);
}

#[test]
fn a_plan_that_ends_early_runs_its_at_exit_and_leaves_the_others() {
    let clock = Clock::new("at_exit(|| print(\"other\"));");
    let plan = Plan::compile(
        "held.rhai",
        "let h = methods(\"a.B\").before(counter()); every(1.0, || print(\"tick\"));
         at_exit(|| { print(\"first\"); after(0.0, || print(\"late\")); }); at_exit(|| print(\"second\"));",
    );
    let instance = clock.session.reserve();
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let loaded = clock.session.load_as(instance, plan, clock.zero);
    assert_eq!(loaded.as_deref(), Ok(""), "a timer is no result");
    clock.recorder.calls();
    clock.session.end(instance);
    assert_eq!(clock.recorder.printed(), ["first", "second"]);
    assert_eq!(clock.recorder.calls(), ["detach i1"]);
    assert_eq!(clock.at(5.0), NOTHING);
    clock.session.end(instance);
    assert_eq!(clock.finish(), ["other"]);
}
