//! A runtime without a JVM. It counts what is attached, and answers with invented readings.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::Arc;

use veneer_instruments::{
    ArmedMethod, AttachError, AttachSummary, EditSpec, EditSummary, EventValue, Graph,
    InstrumentId, InstrumentSpec, InstrumentSummary, LogEvent, Measurement, MethodPattern, PatchId,
    PointRow, RandomSample, RefusalRow, Runtime, Tally, TallyKind,
};
use veneer_scripts::PlanSession;

#[derive(Default)]
pub struct Recorder {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    specs: Vec<InstrumentSpec>,
    attached: BTreeSet<u32>,
    patches: u32,
    tallies: u32,
    active_patches: BTreeSet<u32>,
}

impl Recorder {
    /// Creates a session with its own runtime.
    pub fn session() -> (Arc<Recorder>, PlanSession) {
        let recorder = Arc::new(Recorder::default());
        let session = PlanSession::new(recorder.clone());
        (recorder, session)
    }

    /// Number of attached instruments and patches.
    pub fn attached_count(&self) -> usize {
        let state = self.lock();
        state.attached.len() + state.active_patches.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Runtime for Recorder {
    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError> {
        let mut state = self.lock();
        let text = spec.patterns.first().map(ToString::to_string);
        if text.is_some_and(|text| text.starts_with("refused.")) {
            return Err(AttachError::UnknownInstrument {
                id: InstrumentId(0),
            });
        }
        state.specs.push(spec);
        let id = state.specs.len() as u32;
        state.attached.insert(id);
        Ok(AttachSummary {
            id: InstrumentId(id),
            methods: 1,
            points: 2,
            refused: 0,
            warnings: vec!["a warning".into()],
        })
    }

    fn create_table(&self, _: TallyKind, _: u32) -> Result<u32, AttachError> {
        let mut state = self.lock();
        state.tallies += 1;
        Ok(state.tallies)
    }

    fn read_table(&self, _: u32) -> Tally {
        Tally::default()
    }

    fn clear_table(&self, _: u32) {}

    fn detach(&self, id: InstrumentId) -> Result<(), AttachError> {
        let mut state = self.lock();
        if id.0 == 0 || id.0 as usize > state.specs.len() {
            return Err(AttachError::UnknownInstrument { id });
        }
        state.attached.remove(&id.0);
        Ok(())
    }

    fn rows(&self, id: InstrumentId) -> Vec<PointRow> {
        let state = self.lock();
        let Some(spec) = (id.0 as usize)
            .checked_sub(1)
            .and_then(|i| state.specs.get(i))
        else {
            return Vec::new();
        };
        let row = |n: u64| PointRow {
            class: "a.B".into(),
            method: "m(II)Z".into(),
            fragment: Some(veneer_names::FragmentId(n as u32)),
            what: None,
            to: None,
            line: Some(40),
            data: match spec.kind.name() {
                "counter" => Measurement::Count { hits: u64::MAX - n },
                "timer" => Measurement::Time {
                    count: n,
                    total_ns: u64::MAX,
                    min_ns: 0,
                    max_ns: u64::MAX,
                },
                _ => Measurement::Log {
                    events: n,
                    dropped: n,
                },
            },
        };
        (0..20).map(row).collect()
    }

    fn events(&self, _: InstrumentId, last: usize) -> Vec<LogEvent> {
        let event = |time_ns| LogEvent {
            class: "a.B".into(),
            method: "m(II)Z".into(),
            fragment: None,
            line: None,
            thread: 1,
            time_ns,
            values: vec![
                ("a".into(), EventValue::Int(5)),
                ("b".into(), EventValue::Null),
            ],
        };
        (0..last.min(3) as u64).map(event).collect()
    }

    fn edit(&self, _: EditSpec) -> Result<EditSummary, AttachError> {
        let mut state = self.lock();
        state.patches += 1;
        let id = state.patches;
        state.active_patches.insert(id);
        Ok(EditSummary {
            id: PatchId(id),
            warnings: Vec::new(),
        })
    }

    fn undo(&self, id: PatchId) -> Result<(), AttachError> {
        let mut state = self.lock();
        if id.0 == 0 || id.0 > state.patches {
            return Err(AttachError::UnknownPatch { id });
        }
        state.active_patches.remove(&id.0);
        Ok(())
    }

    fn armed_methods(&self, _: &[MethodPattern], sample: Option<RandomSample>) -> Vec<ArmedMethod> {
        let method = |n: usize| ArmedMethod {
            id: veneer_names::MethodId(n as u32),
            class: format!("a.C{n}"),
            method: "m(I[Ljava/lang/String;)V".into(),
        };
        match sample {
            Some(sample) => sample.draw(30).into_iter().map(method).collect(),
            None => (0..30).map(method).collect(),
        }
    }

    fn flow_graphs(&self, _: &[MethodPattern]) -> Vec<Graph> {
        vec![Graph {
            hash: "0123456789abcdef".to_owned(),
            method: ArmedMethod {
                id: veneer_names::MethodId(0),
                class: "a.B".into(),
                method: "m()V".into(),
            },
            fragments: 3,
            edges: vec![(0, 1), (1, 2), (1, 0)],
            blocks: Vec::new(),
            parameters: Vec::new(),
        }]
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        vec![RefusalRow {
            class: "a.Huge".into(),
            method: "m()V".into(),
            reason: "MethodTooLarge".into(),
            detail: "70,000 bytes".into(),
        }]
    }

    fn instruments(&self) -> Vec<InstrumentSummary> {
        let state = self.lock();
        let summary = |(i, spec): (usize, &InstrumentSpec)| {
            let id = i as u32 + 1;
            InstrumentSummary {
                id: InstrumentId(id),
                name: spec.name.clone().unwrap_or_else(|| spec.to_string()),
                kind: spec.kind.to_string(),
                plan: spec.plan.clone(),
                methods: 1,
                classes: 1,
                matched: 1,
                points: 2,
                attached: state.attached.contains(&id),
            }
        };
        state.specs.iter().enumerate().map(summary).collect()
    }

    fn stale_activation_count(&self) -> u64 {
        3
    }

    fn print(&self, text: &str) {
        std::hint::black_box(text.len());
    }
}
