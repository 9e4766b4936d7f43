use super::*;
use crate::top::figures::{Block, Row, Seen, Variable};
use crate::top::inside::tests::graph;
use serde_json::json;

fn row(method: &str, hits: u64) -> Row {
    Row {
        class: "a.B".into(),
        method: method.into(),
        hits,
        ..Row::default()
    }
}

fn news(model: &mut Model, channel: Channel, told: Told) {
    let what = What::Told(told);
    assert_eq!(model.update(Event::News(News { channel, what })), []);
}

fn look(model: &mut Model, channel: Channel, at: f64, role: Role, rows: Vec<Row>) {
    let rows = rows.into_iter().map(|row| (role, row)).collect();
    let what = What::Look(Look { at, rows });
    assert_eq!(model.update(Event::News(News { channel, what })), []);
}

fn press(model: &mut Model, keys: &str) -> Vec<Wish> {
    let key = |letter| match letter {
        '\n' => Key::Enter,
        '\x1b' => Key::Escape,
        '>' => Key::Down,
        letter => Key::Letter(letter),
    };
    let keys: Vec<Key> = keys.chars().map(key).collect();
    keys.into_iter()
        .flat_map(|key| model.update(Event::Key(key)))
        .collect()
}

fn calls(model: &mut Model, at: f64, m: u64, n: u64) {
    let rows = vec![row("m(I)V", m), row("n()V", n)];
    look(model, Channel::Calls, at, Role::Calls, rows);
}

fn model() -> Model {
    let mut model = Model::new(42, "of a..*");
    calls(&mut model, 1.0, 100, 10);
    model
}

fn place(fragment: Option<u32>) -> Place {
    Place {
        class: "a.B".into(),
        method: "m(I)V".into(),
        fragment,
    }
}

#[test]
fn enter_opens_the_hottest_method_and_escape_closes_it() {
    let mut model = model();
    let wishes = press(&mut model, "\n");
    let [Wish::Inside(number, at)] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    let (number, channel) = (*number, Channel::Inside(*number));
    assert_eq!(*at, place(None));
    assert_eq!(model.busy().count(), 2);
    news(&mut model, channel, Told::Graph(graph()));
    // What comes late from a connection that was closed belongs to nothing.
    let late = Told::Graph(Graph {
        blocks: vec![Block::default(); 9],
        ..graph()
    });
    news(&mut model, Channel::Inside(number + 7), late);
    assert_eq!(model.inside.as_ref().unwrap().graph().blocks.len(), 4);
    assert_eq!(model.selected(), Some(place(Some(0))));
    assert_eq!(press(&mut model, ">>\x1b"), [Wish::Close(channel)]);
    assert_eq!(model.selected(), Some(place(None)));
    assert_eq!(press(&mut model, "q"), [Wish::Quit]);
}

#[test]
fn a_key_attaches_and_the_same_key_takes_off() {
    let mut model = model();
    let wishes = press(&mut model, "t");
    let [Wish::Attach(number, at, Kind::Timer)] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    assert_eq!((at, model.probes.len()), (&place(None), 1));
    let channel = Channel::Probe(*number);
    let rows = vec![Row {
        count: 3,
        total_ns: 30,
        min_ns: 5,
        max_ns: 15,
        ..Row::default()
    }];
    look(&mut model, channel, 1.0, Role::Probe, rows);
    assert_eq!(model.probes[0].state, State::On);
    assert_eq!(model.probes[0].average_ns(), 10);
    assert_eq!(press(&mut model, "t"), [Wish::Close(channel)]);
    assert!(model.probes.is_empty());
    for _ in 0..PROBES {
        model.move_on();
        press(&mut model, "c");
    }
    assert_eq!(model.probes.len(), PROBES);
    model.move_on();
    assert!(press(&mut model, "c").is_empty() && model.message().unwrap().bad);
    assert_eq!(press(&mut model, "D").len(), PROBES);
}

impl Model {
    /// Another method for another instrument.
    fn move_on(&mut self) {
        let number = self.number();
        let rows = vec![row(&format!("x{number}()V"), 1 + number)];
        self.methods.look(1.0 + number as f64, rows, true);
    }
}

#[test]
fn a_watch_asks_for_variables_of_a_method_and_has_those_of_a_fragment() {
    let mut model = model();
    let wishes = press(&mut model, "w");
    let [Wish::Ask(number, _)] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    let mut asked = graph();
    let variable = |name: &str| Variable {
        name: name.into(),
        of: "int".into(),
    };
    asked.blocks[0].variables = vec![variable("n"), variable("k")];
    asked.blocks[1].variables = vec![variable("sum")];
    news(
        &mut model,
        Channel::Question(*number),
        Told::Graph(asked.clone()),
    );
    let wishes = press(&mut model, " > \n");
    let [Wish::Attach(number, at, Kind::Watch(values))] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    assert_eq!(
        (at, values.as_slice()),
        (&place(None), &["n".to_owned(), "k".to_owned()][..])
    );
    let seen = Seen {
        values: vec![json!(7), json!("x")],
        time_ns: 1,
        thread_id: 1,
        number: 0,
    };
    let channel = Channel::Probe(*number);
    news(&mut model, channel, Told::Watch(vec![seen]));
    let passes = vec![Row {
        hits: 9,
        ..Row::default()
    }];
    look(&mut model, channel, 1.0, Role::Probe, passes);
    assert_eq!(model.probes[0].figures.values.len(), 1);
    assert_eq!(model.probes[0].figures.passes, 9);

    let wishes = press(&mut model, "\n");
    let [Wish::Inside(number, _)] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    news(&mut model, Channel::Inside(*number), Told::Graph(asked));
    let wishes = press(&mut model, ">w\n");
    assert!(
        matches!(wishes.as_slice(), [Wish::Attach(_, at, Kind::Watch(values))] if *at == place(Some(1)) && *values == ["sum"]),
        "{wishes:?}"
    );
    // Escape takes nothing.
    assert!(press(&mut model, ">w\x1b").is_empty());
    assert_eq!(model.mode, Mode::View);
}

#[test]
fn a_filter_is_typed_kept_or_dropped() {
    let mut model = model();
    press(&mut model, "/N(q");
    assert_eq!(model.methods.rows().len(), 0);
    model.update(Event::Key(Key::Backspace));
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
    model.update(Event::Processor(1e9));
    press(&mut model, " ");
    calls(&mut model, 2.0, 100_000_100, 10);
    model.update(Event::Processor(2e9));
    assert_eq!(model.methods.selected().unwrap().calls, 100);
    assert!((model.cost.share().unwrap() - 0.1).abs() < 1e-6);
    press(&mut model, " ");
    calls(&mut model, 3.0, 100_000_300, 10);
    let first = model.methods.selected().unwrap();
    // Since the last look that was shown.
    assert_eq!((first.calls, first.rate), (100_000_300, 50_000_100.0));
}

#[test]
fn what_is_refused_is_said_and_gone() {
    let mut model = model();
    let wishes = press(&mut model, "c");
    let [Wish::Attach(number, ..)] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    let news = |channel, what| Event::News(News { channel, what });
    let refused = What::Failed("no fragment 9".into());
    model.update(news(Channel::Probe(*number), refused));
    assert!(model.probes.is_empty());
    assert_eq!(model.message().unwrap().text, "no fragment 9");
    model.update(news(Channel::Calls, What::Ended));
    assert_eq!(model.end, Some(End::Jvm));
    model.update(news(Channel::Calls, What::Failed("x".into())));
    assert_eq!(model.end, Some(End::Refused("x".into())));
}

#[test]
fn long_actions_show_until_they_are_done() {
    let mut model = Model::new(1, "");
    model.update(Event::Tick(Duration::from_secs(3)));
    let news = |what| {
        Event::News(News {
            channel: Channel::Calls,
            what,
        })
    };
    model.update(news(What::Stage("attaching".into())));
    assert_eq!(
        model.busy().collect::<Vec<_>>(),
        [("attaching", Duration::from_secs(3))]
    );
    model.update(news(What::Holds));
    assert_eq!(model.busy().count(), 0);
    model.say("done", false);
    assert!(model.message().is_some());
    model.update(Event::Tick(Duration::from_secs(30)));
    assert!(model.message().is_none());
}

#[test]
fn what_somebody_else_takes_off_is_gone() {
    let mut model = model();
    let wishes = press(&mut model, "c");
    let [Wish::Attach(number, ..)] = wishes.as_slice() else {
        panic!("{wishes:?}");
    };
    let channel = Channel::Probe(*number);
    let news = |channel| {
        Event::News(News {
            channel,
            what: What::TakenOff,
        })
    };
    model.update(news(channel));
    assert!(model.probes.is_empty() && model.message().unwrap().bad);
    model.update(news(Channel::Calls));
    assert!(matches!(model.end, Some(End::Lost(_))));
}
