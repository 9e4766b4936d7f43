//! Records and their replay: equal observations give equal results, and damage is noticed.

use veneer_search::Search;
use veneer_search::cause::Cause;
use veneer_search::observation::{Fact, Observation};
use veneer_search::outcome::Outcome;
use veneer_search::place::MethodId;
use veneer_search::record::{RecordError, RecordReader, RecordWriter};
use veneer_search::replay::Replay;
use veneer_search::settings::{Settings, Strategy};

use crate::draw::Draw;
use crate::driver::{Simulation, found};
use crate::fuzz::observation;
use crate::program::{Program, call, work};
use crate::programs;

/// Writes a record.
fn write(settings: &Settings, observations: &[Observation]) -> String {
    let (mut writer, mut text) = RecordWriter::begin(settings).expect("plain data");
    for one in observations {
        text.push_str(&writer.lines(one).expect("plain data"));
    }
    text.push_str(&writer.end().expect("plain data"));
    text
}

/// Reads a record to its end.
fn read(text: &str) -> Result<(Settings, Vec<Observation>, bool), RecordError> {
    let mut lines = text.lines();
    let mut reader = RecordReader::begin(lines.next().unwrap_or(""))?;
    let mut all = Vec::new();
    for line in lines {
        all.extend(reader.line(line)?);
    }
    Ok((reader.settings().clone(), all, reader.is_complete()))
}

/// Replays a record with its own settings, or with others.
fn replay(text: &str, change: impl FnOnce(Settings) -> Settings) -> Outcome {
    let (settings, observations, is_complete) = read(text).expect("the record is whole");
    assert!(is_complete);
    let mut replay = Replay::new(change(settings), f64::INFINITY).expect("valid");
    observations.into_iter().for_each(|o| replay.observe(o));
    replay.search().outcome()
}

/// Runs a program under a driver that samples only. Returns the result and the record.
fn recorded(program: Program, settings: &Settings, seed: u64) -> (Outcome, String) {
    let mut simulation = Simulation::new(program, settings.clone(), seed);
    simulation.samples_only = true;
    simulation.run(6.0);
    let fact = Observation::Fact(Fact {
        method: Some(MethodId(0)),
        line: None,
        causes: Vec::new(),
        source: "library".to_string(),
        text: "a fact of the driver".to_string(),
        locality: None,
    });
    simulation.record.push(fact.clone());
    simulation.search.observe(fact);
    let text = write(settings, &simulation.record);
    (simulation.search.outcome(), text)
}

#[test]
fn any_observations_survive_a_record() {
    for seed in 0..40 {
        let mut draw = Draw(seed);
        let observations: Vec<Observation> = (0..200).map(|_| observation(&mut draw, 8)).collect();
        let text = write(&Settings::default(), &observations);
        let (settings, again, is_complete) = read(&text).expect("what was written is read");
        assert_eq!(settings, Settings::default());
        assert_eq!(again, observations);
        assert!(is_complete);
        let result = |observations: Vec<Observation>| {
            let mut search = Search::new(Settings::default()).expect("valid");
            observations.into_iter().for_each(|o| search.observe(o));
            (search.requests(), search.outcome())
        };
        assert_eq!(result(observations), result(again));
    }
}

/// Each seeded program, with the settings of the record and with those that a user may choose.
#[test]
fn a_replay_has_the_result_of_the_live_search() {
    let others = Settings {
        strategy: Strategy::TopDown,
        threshold: 0.037,
        ..Settings::default()
    };
    for (seed, settings) in [(1, Settings::default()), (2, others)] {
        for seeded in programs::seeded() {
            let (live, text) = recorded(seeded.program, &settings, seed);
            let replayed = replay(&text, |same| same);
            assert!(!live.findings.is_empty(), "{}", seeded.name);
            assert_eq!(live, replayed, "{}", seeded.name);
            let json = |outcome: &Outcome| serde_json::to_string(outcome).expect("plain data");
            assert_eq!(json(&live), json(&replayed), "{}", seeded.name);
        }
    }
}

/// `price` takes 21 % of the time. The live search looks for places above 50 %.
#[test]
fn a_replay_with_a_lower_threshold_finds_smaller_places() {
    let seeded = programs::processor();
    let program = seeded.program.clone();
    let high = Settings {
        threshold: 0.5,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(seeded.program, high.clone(), 3);
    simulation.samples_only = true;
    let live = simulation.run(10.0);
    let text = write(&high, &simulation.record);
    let lower = replay(&text, |same| Settings {
        threshold: 0.05,
        ..same
    });
    let is_found = |outcome: &Outcome| found(outcome, &program, "price", Cause::Processor);
    assert!(!is_found(&live));
    assert!(is_found(&lower), "{lower:#?}");
    let waiting = replay(&text, |same| Settings {
        threshold: 0.05,
        causes: [Cause::Waiting].into(),
        ..same
    });
    assert!(!is_found(&waiting));
}

#[test]
fn a_replay_of_the_first_seconds_ignores_later_measurements_and_keeps_facts() {
    let (_, text) = recorded(programs::processor().program, &Settings::default(), 4);
    let (settings, observations, _) = read(&text).expect("whole");
    let mut replay = Replay::new(settings, 2.0).expect("valid");
    observations.into_iter().for_each(|o| replay.observe(o));
    let outcome = replay.search().outcome();
    assert!((outcome.seconds - 2.0).abs() < 0.06, "{}", outcome.seconds);
    assert_eq!(outcome.ended, None);
}

/// A cut record is read up to the cut. A changed byte is noticed or makes another valid record; it
/// never makes the reader panic.
#[test]
fn damage_is_noticed_or_harmless() {
    let mut p = Program::default();
    let leaf = p.method("leaf", vec![work(200.0, 4)]);
    p.thread("main", "run", vec![call(leaf)]);
    let mut simulation = Simulation::new(p, Settings::default(), 5);
    simulation.samples_only = true;
    simulation.run(0.5);
    let text = write(&Settings::default(), &simulation.record);
    let whole = text.lines().count();
    for cut in 1..whole {
        let part: String = text.split_inclusive('\n').take(cut).collect();
        let (_, _, is_complete) = read(&part).expect("whole lines are read");
        assert!(!is_complete);
    }
    let mut draw = Draw(6);
    let mut noticed = 0;
    for _ in 0..2_000 {
        let mut bytes = text.clone().into_bytes();
        let at = draw.below(bytes.len());
        bytes[at] = b' ' + (draw.below(95) as u8);
        let damaged = String::from_utf8(bytes).expect("one ASCII character replaces another");
        noticed += usize::from(read(&damaged).is_err());
    }
    assert!(noticed > 1_000, "{noticed}");
}

#[test]
fn what_is_no_record_of_this_version_is_refused_with_the_reason() {
    let text = write(&Settings::default(), &[]);
    let message = |text: &str| read(text).map(drop).expect_err("refused").to_string();
    for other in ["", "{}", "hello", "{\"schema\":1}", "[1]"] {
        assert!(message(other).contains("no record of a search"), "{other}");
    }
    let newer = text.replace("\"version\":1", "\"version\":2");
    assert!(
        message(&newer).contains("has version 2"),
        "{}",
        message(&newer)
    );
    let wrong = text.replace("\"threshold\":0.05", "\"threshold\":5.0");
    assert!(
        message(&wrong).contains("invalid settings"),
        "{}",
        message(&wrong)
    );
    let header = text.lines().next().unwrap_or("");
    for (line, reason) in [
        (
            "{\"weather\":{}}",
            "line 2 is damaged: it has the unknown kind `weather`",
        ),
        ("{}", "it must have one key"),
        ("{\"overhead\":{\"nanos\":\"many\"}}", "line 2 is damaged"),
        (
            "{\"samples\":{\"cost_nanos\":1,\"threads\":[{\"group\":0,\"stack\":9,\"cause\":\"time\"}]}}",
            "no line before it declares the stack 9",
        ),
        ("{\"end\":{\"lines\":7}}", "it counts 7 lines before it"),
        ("{\"overhead\":{", "line 2 is damaged"),
    ] {
        let text = format!("{header}\n{line}\n");
        assert!(message(&text).contains(reason), "{}", message(&text));
    }
    let twice = format!("{text}{text}");
    assert!(message(&twice).contains("the line before it is the last one"));
}

/// A setting that a record does not name has its default.
#[test]
fn an_older_record_without_a_setting_is_read() {
    let text = write(&Settings::default(), &[]);
    let old = text.replace("\"max_probes\":64", "\"unknown\":64");
    assert_ne!(old, text);
    let (settings, ..) = read(&old).expect("read");
    assert_eq!(settings, Settings::default());
}
