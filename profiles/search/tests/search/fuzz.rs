//! Any observations in any order.

use veneer_search::Search;
use veneer_search::cause::CAUSES;
use veneer_search::locality::LocalityCause;
use veneer_search::observation::{Fact, Frame, Observation, StackSample};
use veneer_search::place::{GroupId, MethodId, MethodName};
use veneer_search::request::{ProbeId, Request};
use veneer_search::sentence::sentences;
use veneer_search::settings::{Settings, Strategy};

use crate::draw::Draw;

/// Returns a small or an extreme number.
fn number(draw: &mut Draw) -> u64 {
    match draw.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => draw.bits(),
        _ => draw.bits() % 100_000_000,
    }
}

fn method(draw: &mut Draw) -> MethodId {
    MethodId(draw.below(12) as u32)
}

fn sample(draw: &mut Draw) -> StackSample {
    let depth = draw.below(6);
    let line = |draw: &mut Draw| (draw.below(2) == 0).then(|| draw.below(4) as u32);
    StackSample {
        group: GroupId(draw.below(3) as u32),
        frames: (0..depth)
            .map(|_| Frame {
                method: method(draw),
                line: line(draw),
                loop_line: line(draw),
            })
            .collect(),
        cause: CAUSES[draw.below(CAUSES.len())],
        idle: draw.below(4) == 0,
    }
}

pub fn observation(draw: &mut Draw, last_probe: u32) -> Observation {
    let probe = ProbeId(draw.below(last_probe as usize + 3) as u32);
    match draw.below(18) {
        0 => Observation::Method {
            id: method(draw),
            name: MethodName::default(),
        },
        1 => Observation::Group {
            id: GroupId(draw.below(3) as u32),
            name: "g".to_string(),
        },
        2 => Observation::Roots {
            methods: vec![method(draw)],
        },
        3 => Observation::Callees {
            of: method(draw),
            callees: (0..draw.below(4)).map(|_| method(draw)).collect(),
            complete: draw.below(2) == 0,
        },
        4 => Observation::Refused {
            probe,
            reason: "no".to_string(),
        },
        5 if draw.below(20) == 0 => Observation::SamplingRefused {
            reason: "no".to_string(),
        },
        6..=8 => Observation::Stacks {
            samples: (0..draw.below(4)).map(|_| sample(draw)).collect(),
            cost_nanos: number(draw),
        },
        9..=11 => Observation::Reading {
            probe,
            windows: number(draw) as u32,
            low_nanos: number(draw),
            high_nanos: number(draw),
            calls: number(draw),
            cost_nanos: number(draw),
        },
        12 => Observation::Overhead {
            nanos: number(draw),
        },
        13 => Observation::Fact(Fact {
            method: (draw.below(4) > 0).then(|| method(draw)),
            line: (draw.below(2) == 0).then(|| draw.below(4) as u32),
            causes: (0..draw.below(3))
                .map(|_| CAUSES[draw.below(CAUSES.len())])
                .collect(),
            source: "library".to_string(),
            text: format!("a \"fact\" {}\n", draw.below(9)),
            locality: (draw.below(5) == 0).then_some(LocalityCause::ArrayOfObjects),
        }),
        14 => Observation::NotSeen {
            cause: CAUSES[draw.below(CAUSES.len())],
            reason: format!("reason {}", draw.below(9)),
        },
        15 if draw.below(500) == 0 => Observation::Ended {
            reason: "end".to_string(),
        },
        _ => Observation::WindowEnd {
            nanos: number(draw),
            active_nanos: number(draw),
        },
    }
}

/// Any order of any observations leaves a state without panic, with all shares between 0 and 1, and
/// with reservations below the ceiling. Each probe is attached once and detached at most once.
#[test]
fn any_observations_in_any_order_are_survived() {
    let strategies = [Strategy::TopDown, Strategy::DeepStart, Strategy::Hybrid];
    for seed in 0..60 {
        let mut draw = Draw(seed);
        let settings = Settings {
            strategy: strategies[draw.below(3)],
            count_first: draw.below(2) == 0,
            epoch_windows: 1 + draw.below(30) as u32,
            max_probes: draw.below(8),
            min_windows: 1 + draw.below(8) as u32,
            ..Settings::default()
        };
        let ceiling = settings.max_cost;
        let most = settings.max_probes;
        let mut search = Search::new(settings).expect("valid");
        let (mut attached, mut detached) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let last = attached.len() as u32;
            let event = observation(&mut draw, last);
            let is_end = matches!(event, Observation::WindowEnd { .. });
            search.observe(event);
            for request in search.requests() {
                match request {
                    Request::Attach { probe, .. } => {
                        assert!(!attached.contains(&probe), "{probe:?} was used before");
                        attached.push(probe);
                    }
                    Request::Detach { probe } => {
                        assert!(attached.contains(&probe) && !detached.contains(&probe));
                        detached.push(probe);
                    }
                    _ => {}
                }
            }
            let present = search.attached().count();
            assert!(present <= most);
            if is_end && present > 0 {
                let reserved = search.reserved_cost();
                assert!(reserved <= ceiling, "{reserved} with {present} probes");
            }
        }
        let outcome = search.outcome();
        for finding in &outcome.findings {
            for share in [finding.share, finding.low, finding.high] {
                assert!((0.0..=1.0).contains(&share), "{finding:?}");
            }
        }
        sentences(&outcome);
        search.text_tree();
        search.dot();
    }
}

/// Equal observations give equal requests and equal results, through JSON too.
#[test]
fn a_replay_of_recorded_observations_gives_the_same_result() {
    let mut draw = Draw(99);
    let record: Vec<Observation> = (0..600).map(|_| observation(&mut draw, 8)).collect();
    let run = |record: &[Observation]| {
        let mut search = Search::new(Settings::default()).expect("valid");
        let mut requests = Vec::new();
        for observation in record {
            search.observe(observation.clone());
            requests.extend(search.requests());
        }
        (requests, search.outcome())
    };
    let lines: Vec<String> = record
        .iter()
        .map(|o| serde_json::to_string(o).expect("observations are plain data"))
        .collect();
    let read: Vec<Observation> = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect("what was written is read"))
        .collect();
    let (first, second) = (run(&record), run(&read));
    assert_eq!(first, second);
}
