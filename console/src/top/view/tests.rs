//! Compares drawn screens with the files in `screens`. `VENEER_BLESS=1` overwrites the files.

use std::path::Path;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::json;

use super::*;
use crate::flow_counts::Variable;
use crate::top::events::{Channel, FeedEvent, FeedMessage};
use crate::top::keys::PressedKey;
use crate::top::measurements::{
    AttachCounts, InstrumentRole, MeasuredPoint, MeasurementSample, RecordedValues, TopPlanLine,
};
use crate::top::model::{ModelEffect, ModelEvent};
use crate::top::open_method::tests::graph;
use crate::top::stack_times::{SampledFrame, StackDump};

fn row(class: &str, method: &str, line: u32, hits: u64) -> MeasuredPoint {
    MeasuredPoint {
        class: class.into(),
        method: method.into(),
        line: Some(line),
        hits,
        ..MeasuredPoint::default()
    }
}

fn print(model: &mut Model, channel: Channel, output: TopPlanLine) {
    let message = FeedMessage::PlanOutput(output);
    model.update(ModelEvent::Feed(FeedEvent { channel, message }));
}

fn add_sample(
    model: &mut Model,
    channel: Channel,
    at: f64,
    rows: Vec<(InstrumentRole, MeasuredPoint)>,
) {
    let message = FeedMessage::Sample(MeasurementSample { at, rows });
    model.update(ModelEvent::Feed(FeedEvent { channel, message }));
}

fn press(model: &mut Model, keys: &[PressedKey]) -> Vec<ModelEffect> {
    let keys = keys.iter();
    keys.flat_map(|key| model.update(ModelEvent::Key(*key)))
        .collect()
}

/// Two samples of four methods.
fn methods() -> Model {
    let mut model = Model::new(4711, "of com.shop..*");
    let rows = |n: u64| {
        vec![
            row(
                "com.shop.Desk",
                "serve(ILjava/lang/String;)J",
                17,
                1_000 * n,
            ),
            row("com.shop.Order", "total()J", 41, 1_234_567 * n),
            row("com.shop.Order", "<init>(I)V", 9, 3),
            row("com.shop.Never", "called()V", 5, 0),
        ]
    };
    let attached = AttachCounts {
        methods: 4,
        points: 4,
    };
    print(&mut model, Channel::Calls, TopPlanLine::Attached(attached));
    model.update(ModelEvent::Processor(0.0));
    let frame = |class: &str, method: &str, line| SampledFrame {
        class: class.into(),
        method: method.into(),
        line: Some(line),
    };
    let serve = frame("com.shop.Desk", "serve", 19);
    let total = vec![frame("com.shop.Order", "total", 42), serve.clone()];
    let stacks = vec![total.clone(), total, vec![serve]];
    let message = FeedMessage::Stacks(StackDump { stacks });
    let channel = Channel::Stacks;
    model.update(ModelEvent::Feed(FeedEvent { channel, message }));
    for n in 1..=2 {
        let rows = rows(n)
            .into_iter()
            .map(|row| (InstrumentRole::Calls, row))
            .collect();
        add_sample(&mut model, Channel::Calls, n as f64, rows);
    }
    model.update(ModelEvent::Processor(1e9));
    let message = FeedMessage::Attached;
    let channel = Channel::Calls;
    model.update(ModelEvent::Feed(FeedEvent { channel, message }));
    model.update(ModelEvent::Tick(Duration::from_secs(2)));
    model
}

/// Shows the fragments of the hottest method, with a timer on its loop and a watch.
fn inside() -> Model {
    let mut model = methods();
    let effects = press(&mut model, &[PressedKey::Enter]);
    let [ModelEffect::CountInside(number, _)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let mut graph = graph();
    let variable = |name: &str, of: &str| Variable {
        name: name.into(),
        type_name: of.into(),
    };
    for block in &mut graph.blocks {
        block.variables = vec![variable("this", "com.shop.Order"), variable("sum", "long")];
    }
    graph.blocks[3].instructions = vec!["lload".into(), "lreturn".into()];
    let channel = Channel::Inside(*number);
    print(&mut model, channel, TopPlanLine::Graph(graph));
    let pass = |fragment, to, hits| MeasuredPoint {
        fragment: Some(fragment),
        to,
        hits,
        ..MeasuredPoint::default()
    };
    let blocks = [(0, 10), (1, 110), (2, 100), (3, 10)];
    let edges = [(0, 1, 10), (1, 2, 100), (1, 3, 10), (2, 1, 100)];
    let blocks = blocks.map(|(f, hits)| (InstrumentRole::Blocks, pass(f, None, hits)));
    let edges = edges.map(|(f, to, hits)| (InstrumentRole::Edges, pass(f, Some(to), hits)));
    let rows: Vec<(InstrumentRole, MeasuredPoint)> = blocks.into_iter().chain(edges).collect();
    add_sample(&mut model, channel, 2.0, Vec::new());
    add_sample(&mut model, channel, 4.0, rows);
    let holds = FeedEvent {
        channel,
        message: FeedMessage::Attached,
    };
    model.update(ModelEvent::Feed(holds));
    let effects = press(
        &mut model,
        &[
            PressedKey::Letter('o'),
            PressedKey::Letter('t'),
            PressedKey::Letter('w'),
            PressedKey::Down,
            PressedKey::Enter,
        ],
    );
    let [
        ModelEffect::Attach(timer, ..),
        ModelEffect::Attach(watch, ..),
    ] = effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    let timed = MeasuredPoint {
        count: 110,
        total_ns: 11_000,
        min_ns: 40,
        max_ns: 1_500,
        ..MeasuredPoint::default()
    };
    let timed = vec![(InstrumentRole::Probe, timed)];
    add_sample(&mut model, Channel::Probe(*timer), 1.0, Vec::new());
    add_sample(&mut model, Channel::Probe(*timer), 2.0, timed);
    let seen = |sum: u64| RecordedValues {
        values: vec![json!(sum)],
        time_ns: 1,
        thread_id: 1,
        number: sum,
    };
    let channel = Channel::Probe(*watch);
    print(
        &mut model,
        channel,
        TopPlanLine::Watch(vec![seen(3), seen(7)]),
    );
    let passed = MeasuredPoint {
        hits: 110,
        ..MeasuredPoint::default()
    };
    add_sample(&mut model, channel, 1.0, Vec::new());
    add_sample(
        &mut model,
        channel,
        2.0,
        vec![(InstrumentRole::Probe, passed)],
    );
    for number in [*timer, *watch] {
        let channel = Channel::Probe(number);
        model.update(ModelEvent::Feed(FeedEvent {
            channel,
            message: FeedMessage::Attached,
        }));
    }
    model
}

/// Draws the model on a screen of this size and returns its rows.
fn drawn(model: &Model, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = Theme { colour: true };
    terminal.draw(|frame| draw(frame, model, theme)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width));
    rows.map(|row| {
        let text: String = row.iter().map(|cell| cell.symbol()).collect();
        text.trim_end().to_owned()
    })
    .collect()
}

/// Compares the screen with its file.
fn same(name: &str, rows: &[String]) {
    let text = rows.join("\n") + "\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/top/view/screens");
    let file = folder.join(format!("{name}.txt"));
    if std::env::var_os("VENEER_BLESS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&file, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, expected, "\n{name} is drawn so:\n{text}");
}

#[test]
fn the_methods_fit_eighty_columns() {
    same("methods", &drawn(&methods(), 80, 24));
}

#[test]
fn the_fragments_fit_eighty_columns() {
    same("inside", &drawn(&inside(), 80, 24));
}

#[test]
fn a_small_terminal_shows_the_most_important_lines() {
    same("methods-40x8", &drawn(&methods(), 40, 8));
    same("inside-40x10", &drawn(&inside(), 40, 10));
    // Drawing succeeds on a screen of any size, and the cost has priority.
    for (width, height) in [(1, 1), (2, 3), (10, 2), (30, 1), (200, 4), (5, 60)] {
        for model in [methods(), inside()] {
            drawn(&model, width, height);
        }
    }
    assert!(drawn(&methods(), 40, 1)[0].contains("cost ≈ 0.2%"));
}

#[test]
fn windows_and_messages_are_drawn() {
    let mut model = inside();
    press(
        &mut model,
        &[
            PressedKey::Up,
            PressedKey::Letter('w'),
            PressedKey::Letter(' '),
        ],
    );
    same("picker", &drawn(&model, 80, 24));
    press(
        &mut model,
        &[PressedKey::Letter('e'), PressedKey::Letter('x')],
    );
    assert!(
        drawn(&model, 80, 24)
            .iter()
            .any(|row| row.contains("expression: x_"))
    );
    let mut model = methods();
    press(&mut model, &[PressedKey::Letter('?')]);
    same("help", &drawn(&model, 80, 24));
    press(
        &mut model,
        &[
            PressedKey::Escape,
            PressedKey::Letter(' '),
            PressedKey::Letter('/'),
            PressedKey::Letter('T'),
        ],
    );
    let rows = drawn(&model, 80, 24);
    assert!(
        rows[0].ends_with("PAUSED") && rows.iter().any(|row| row.starts_with(" /T_")),
        "{rows:?}"
    );
    model.show_message("it failed\nsecond line", true);
    press(&mut model, &[PressedKey::Enter]);
    model.show_message("it\x1b failed\nsecond line", true);
    assert!(
        drawn(&model, 80, 24)
            .iter()
            .any(|row| row == " it\u{fffd} failed")
    );
}

#[test]
fn without_colour_there_is_none() {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    for model in [methods(), inside()] {
        for colour in [false, true] {
            let theme = Theme { colour };
            terminal.draw(|frame| draw(frame, &model, theme)).unwrap();
            let cells = terminal.backend().buffer().content().iter();
            let mut coloured = cells.filter(|c| c.fg != Color::Reset || c.bg != Color::Reset);
            assert_eq!(coloured.next().is_some(), colour);
        }
    }
}

#[test]
fn the_text_has_everything() {
    let text = as_text(&inside(), 3);
    for part in [
        "com.shop.Order.total()",
        "com.shop.Desk.serve(int, String)",
        "f1 loop",
        "↺ f1",
        "timer: 100 ns on average",
        "sum = 7",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("Never"));
}
