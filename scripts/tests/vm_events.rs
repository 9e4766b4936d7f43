//! Callbacks for events of the JVM: which kinds the runtime is asked for, and what the callbacks see.

mod recorder;

use recorder::Recorder;
use veneer_instruments::{VmEvent, VmEventKind};
use veneer_scripts::Plan;

fn load(source: &str) -> (std::sync::Arc<Recorder>, veneer_scripts::PlanSession) {
    let (recorder, session) = Recorder::session();
    let plan = Plan::compile("plan.rhai", source).unwrap_or_else(|error| panic!("{error}"));
    session.load(plan).unwrap_or_else(|error| panic!("{error}"));
    (recorder, session)
}

fn contention(time_ns: u64) -> VmEvent {
    VmEvent {
        took_ns: Some(5_000),
        thread: Some("worker".into()),
        class: Some("shop.Stock".into()),
        object: Some(0x1a2b),
        owner: Some("holder".into()),
        ..VmEvent::new(VmEventKind::Contended, time_ns)
    }
}

#[test]
fn a_callback_sees_the_fields_of_its_kind_of_event() {
    let (recorder, session) = load(
        r#"on("contended", |e| print(`${e.kind} ${e.thread_name} ${e.class}@${e.object} ${e.owner} ${e.took_ns} ${e.time_ns} ${e.dropped}`));
           on("gc", |e| print(`gc ${e.thread_name == ()} ${e.took_ns}`));"#,
    );
    assert_eq!(recorder.calls(), ["watch contended,gc"]);
    let collection = VmEvent {
        took_ns: Some(7),
        ..VmEvent::new(VmEventKind::Collection, 2)
    };
    let class = VmEvent::new(VmEventKind::ClassLoad, 3);
    session.handle_vm_events(&[contention(1), collection, class]);
    assert_eq!(
        recorder.printed(),
        [
            "contended worker shop.Stock@6699 holder 5000 1 0",
            "gc true 7"
        ]
    );
    assert!(recorder.calls().is_empty(), "the kinds have not changed");
}

#[test]
fn a_kind_is_watched_as_long_as_a_callback_of_it_is_left() {
    let (recorder, session) = load(
        r#"let all = on("wait", |e| print("wait"));
           on("gc", |e| { print("gc"); all.cancel(); });"#,
    );
    assert_eq!(recorder.calls(), ["watch wait,gc"]);
    let instance = *session.remaining_work().keys().next().expect("an instance");
    assert_eq!(session.remaining_work()[&instance].callbacks, 2);
    let wait = VmEvent::new(VmEventKind::Wait, 1);
    let collection = VmEvent::new(VmEventKind::Collection, 2);
    session.handle_vm_events(&[wait.clone(), collection, wait.clone()]);
    assert_eq!(recorder.printed(), ["wait", "gc"]);
    assert_eq!(recorder.calls(), ["watch gc"]);
    session.unload(instance);
    assert_eq!(recorder.calls(), ["watch "]);
    session.handle_vm_events(&[wait]);
    assert!(recorder.printed().is_empty());
}

#[test]
fn a_callback_registers_another_one_and_a_failing_one_is_cancelled() {
    let (recorder, session) = load(
        r#"on("thread_start", |e| { on("thread_end", |f| print("end")); });
           on("gc", |e| { throw "on purpose"; });"#,
    );
    assert_eq!(recorder.calls(), ["watch thread_start,gc"]);
    let collection = || VmEvent::new(VmEventKind::Collection, 2);
    session.handle_vm_events(&[
        VmEvent::new(VmEventKind::ThreadStart, 1),
        VmEvent::new(VmEventKind::ThreadEnd, 2),
        collection(),
        collection(),
        collection(),
        collection(),
    ]);
    let printed = recorder.printed();
    assert_eq!(printed[0], "end");
    assert!(printed[1].contains("on purpose"), "{printed:?}");
    assert!(
        printed[2].ends_with("on: cancelled after 3 errors in a row"),
        "{printed:?}"
    );
    assert_eq!(printed.len(), 3, "{printed:?}");
    assert_eq!(recorder.calls(), ["watch thread_start,thread_end"]);
}

#[test]
fn an_event_that_jvmti_does_not_have_is_refused_by_its_name() {
    let message = |name: &str| {
        let (result, _) = recorder::run(&format!("on(\"{name}\", |e| print(e));"));
        result.expect_err("an error").to_string()
    };
    let text = message("deoptimise");
    assert!(text.contains("EventUnavailable: deoptimise"), "{text}");
    assert!(text.contains("jdk.Deoptimization"), "{text}");
    assert!(message("contendet").contains("did you mean `contended`?"));
    assert!(message("xyzzy").contains("thread_start, thread_end, gc"));
}
