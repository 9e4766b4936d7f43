use super::*;
use crate::flow_counts::Block;
use crate::top::measurements::{MeasuredPoint, RecordedValues};
use crate::top::open_method::tests::graph;
use serde_json::json;

fn row(method: &str, hits: u64) -> MeasuredPoint {
    MeasuredPoint {
        class: "a.B".into(),
        method: method.into(),
        hits,
        ..MeasuredPoint::default()
    }
}

fn print(model: &mut Model, channel: Channel, output: TopPlanLine) {
    let message = FeedMessage::PlanOutput(output);
    assert_eq!(
        model.update(ModelEvent::Feed(FeedEvent { channel, message })),
        []
    );
}

fn add_sample(
    model: &mut Model,
    channel: Channel,
    at: f64,
    role: InstrumentRole,
    rows: Vec<MeasuredPoint>,
) {
    let rows = rows.into_iter().map(|row| (role, row)).collect();
    let message = FeedMessage::Sample(MeasurementSample { at, rows });
    assert_eq!(
        model.update(ModelEvent::Feed(FeedEvent { channel, message })),
        []
    );
}

fn press(model: &mut Model, keys: &str) -> Vec<ModelEffect> {
    let key = |letter| match letter {
        '\n' => PressedKey::Enter,
        '\x1b' => PressedKey::Escape,
        '>' => PressedKey::Down,
        letter => PressedKey::Letter(letter),
    };
    let keys: Vec<PressedKey> = keys.chars().map(key).collect();
    keys.into_iter()
        .flat_map(|key| model.update(ModelEvent::Key(key)))
        .collect()
}

fn calls(model: &mut Model, at: f64, m: u64, n: u64) {
    let rows = vec![row("m(I)V", m), row("n()V", n)];
    add_sample(model, Channel::Calls, at, InstrumentRole::Calls, rows);
}

fn model() -> Model {
    let mut model = Model::new(42, "of a..*");
    calls(&mut model, 1.0, 100, 10);
    model
}

fn location(fragment: Option<u32>) -> MethodLocation {
    MethodLocation {
        class: "a.B".into(),
        method: "m(I)V".into(),
        fragment,
    }
}

#[test]
fn enter_opens_the_hottest_method_and_escape_closes_it() {
    let mut model = model();
    let effects = press(&mut model, "\n");
    let [ModelEffect::CountInside(number, at)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let (number, channel) = (*number, Channel::Inside(*number));
    assert_eq!(*at, location(None));
    assert_eq!(model.busy().count(), 2);
    print(&mut model, channel, TopPlanLine::Graph(graph()));
    // A late message from a closed connection has no effect.
    let late = TopPlanLine::Graph(Graph {
        blocks: vec![Block::default(); 9],
        ..graph()
    });
    print(&mut model, Channel::Inside(number + 7), late);
    assert_eq!(model.open_method.as_ref().unwrap().graph().blocks.len(), 4);
    assert_eq!(model.selected(), Some(location(Some(0))));
    assert_eq!(press(&mut model, ">>\x1b"), [ModelEffect::Close(channel)]);
    assert_eq!(model.selected(), Some(location(None)));
    assert_eq!(press(&mut model, "q"), [ModelEffect::Quit]);
}

#[test]
fn a_key_attaches_and_the_same_key_detaches() {
    let mut model = model();
    let effects = press(&mut model, "t");
    let [ModelEffect::Attach(number, at, ProbeKind::Timer)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!((at, model.probes.len()), (&location(None), 1));
    let channel = Channel::Probe(*number);
    let rows = vec![MeasuredPoint {
        count: 3,
        total_ns: 30,
        min_ns: 5,
        max_ns: 15,
        ..MeasuredPoint::default()
    }];
    add_sample(&mut model, channel, 1.0, InstrumentRole::Probe, rows);
    assert_eq!(model.probes[0].state, ProbeState::Attached);
    assert_eq!(model.probes[0].average_ns(), 10);
    assert_eq!(press(&mut model, "t"), [ModelEffect::Close(channel)]);
    assert!(model.probes.is_empty());
    for _ in 0..MAX_PROBES {
        model.move_on();
        press(&mut model, "c");
    }
    assert_eq!(model.probes.len(), MAX_PROBES);
    model.move_on();
    assert!(press(&mut model, "c").is_empty() && model.message().unwrap().bad);
    assert_eq!(press(&mut model, "D").len(), MAX_PROBES);
}

impl Model {
    /// Selects another method, so that another instrument can be attached.
    fn move_on(&mut self) {
        let number = self.number();
        let rows = vec![row(&format!("x{number}()V"), 1 + number)];
        self.methods.add_sample(1.0 + number as f64, rows, true);
    }
}

#[test]
fn a_watch_asks_for_variables_of_a_method_and_has_those_of_a_fragment() {
    let mut model = model();
    let effects = press(&mut model, "w");
    let [ModelEffect::QueryVariables(number, _)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let mut asked = graph();
    let variable = |name: &str| Variable {
        name: name.into(),
        type_name: "int".into(),
    };
    asked.blocks[0].variables = vec![variable("n"), variable("k")];
    asked.blocks[1].variables = vec![variable("sum")];
    print(
        &mut model,
        Channel::Question(*number),
        TopPlanLine::Graph(asked.clone()),
    );
    let effects = press(&mut model, " > \n");
    let [ModelEffect::Attach(number, at, ProbeKind::Watch(values))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (at, values.as_slice()),
        (&location(None), &["n".to_owned(), "k".to_owned()][..])
    );
    let seen = RecordedValues {
        values: vec![json!(7), json!("x")],
        time_ns: 1,
        thread_id: 1,
        number: 0,
    };
    let channel = Channel::Probe(*number);
    print(&mut model, channel, TopPlanLine::Watch(vec![seen]));
    let passes = vec![MeasuredPoint {
        hits: 9,
        ..MeasuredPoint::default()
    }];
    add_sample(&mut model, channel, 1.0, InstrumentRole::Probe, passes);
    assert_eq!(model.probes[0].shown.values.len(), 1);
    assert_eq!(model.probes[0].shown.passes, 9);

    let effects = press(&mut model, "\n");
    let [ModelEffect::CountInside(number, _)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    print(
        &mut model,
        Channel::Inside(*number),
        TopPlanLine::Graph(asked),
    );
    let effects = press(&mut model, ">w\n");
    assert!(
        matches!(effects.as_slice(), [ModelEffect::Attach(_, at, ProbeKind::Watch(values))] if *at == location(Some(1)) && *values == ["sum"]),
        "{effects:?}"
    );
    // Escape cancels the selection.
    assert!(press(&mut model, ">w\x1b").is_empty());
    assert_eq!(model.mode, InputMode::View);
}

#[test]
fn a_filter_is_typed_kept_or_dropped() {
    let mut model = model();
    press(&mut model, "/N(q");
    assert_eq!(model.methods.rows().len(), 0);
    model.update(ModelEvent::Key(PressedKey::Backspace));
    press(&mut model, "\n");
    assert_eq!(
        (model.methods.filter(), model.methods.rows().len()),
        ("N(", 1)
    );
    press(&mut model, "/zz\x1b");
    assert_eq!(model.methods.filter(), "N(");
    press(&mut model, "\x1b");
    assert_eq!(model.methods.rows().len(), 2);
}

#[test]
fn a_pause_stops_figures_and_not_the_cost() {
    let mut model = model();
    model.update(ModelEvent::Processor(1e9));
    press(&mut model, " ");
    calls(&mut model, 2.0, 100_000_100, 10);
    model.update(ModelEvent::Processor(2e9));
    assert_eq!(model.methods.selected().unwrap().calls, 100);
    assert!((model.cost.share().unwrap() - 0.1).abs() < 1e-6);
    press(&mut model, " ");
    calls(&mut model, 3.0, 100_000_300, 10);
    let first = model.methods.selected().unwrap();
    // The rate is calculated from the last sample that was shown.
    assert_eq!((first.calls, first.rate), (100_000_300, 50_000_100.0));
}

#[test]
fn a_refused_instrument_is_reported_and_removed() {
    let mut model = model();
    let effects = press(&mut model, "c");
    let [ModelEffect::Attach(number, ..)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let event = |channel, message| ModelEvent::Feed(FeedEvent { channel, message });
    let refused = FeedMessage::Refused("no fragment 9".into());
    model.update(event(Channel::Probe(*number), refused));
    assert!(model.probes.is_empty());
    assert_eq!(model.message().unwrap().text, "no fragment 9");
    model.update(event(Channel::Calls, FeedMessage::JvmEnded));
    assert_eq!(model.end, Some(EndReason::JvmEnded));
    model.update(event(Channel::Calls, FeedMessage::Refused("x".into())));
    assert_eq!(model.end, Some(EndReason::Refused("x".into())));
}

#[test]
fn long_actions_show_until_they_are_done() {
    let mut model = Model::new(1, "");
    model.update(ModelEvent::Tick(Duration::from_secs(3)));
    let event = |message| {
        ModelEvent::Feed(FeedEvent {
            channel: Channel::Calls,
            message,
        })
    };
    model.update(event(FeedMessage::Progress("attaching".into())));
    assert_eq!(
        model.busy().collect::<Vec<_>>(),
        [("attaching", Duration::from_secs(3))]
    );
    model.update(event(FeedMessage::Attached));
    assert_eq!(model.busy().count(), 0);
    model.show_message("done", false);
    assert!(model.message().is_some());
    model.update(ModelEvent::Tick(Duration::from_secs(30)));
    assert!(model.message().is_none());
}

#[test]
fn an_instrument_that_another_client_detaches_is_removed() {
    let mut model = model();
    let effects = press(&mut model, "c");
    let [ModelEffect::Attach(number, ..)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let channel = Channel::Probe(*number);
    let event = |channel| {
        ModelEvent::Feed(FeedEvent {
            channel,
            message: FeedMessage::DetachedByOther,
        })
    };
    model.update(event(channel));
    assert!(model.probes.is_empty() && model.message().unwrap().bad);
    model.update(event(Channel::Calls));
    assert!(matches!(model.end, Some(EndReason::ConnectionLost(_))));
}
