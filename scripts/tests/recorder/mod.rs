//! A runtime that records the calls of plans and returns fixed data.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use veneer_instruments::{
    ArmedClass, ArmedMethod, AttachError, AttachSummary, Block, DescribedMethod, EditKind,
    EditSpec, EditSummary, EditedGraph, EventValue, Graph, GraphDump, InstrumentId, InstrumentSpec,
    InstrumentSummary, LogEvent, Measurement, MethodPattern, Parameter, PatchId, PatchSummary,
    PointRow, RandomSample, RefusalRow, Runtime, SpeedupId, SpeedupSpec, SpeedupWindow, Tally,
    TallyKind, VirtualCallSite, VmEventKinds,
};
use veneer_names::FragmentId;
use veneer_scripts::{Plan, PlanError, PlanSession};

#[derive(Default)]
pub struct Recorder {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<String>,
    printed: Vec<String>,
    specs: Vec<(InstrumentSpec, bool)>,
    patches: u32,
    tallies: u32,
    /// The tables that plans have dropped.
    dropped: Vec<u32>,
    /// The tables that were dropped when the last table was made.
    dropped_at_last_table: Vec<u32>,
}

impl Recorder {
    pub fn session() -> (Arc<Recorder>, PlanSession) {
        let recorder = Arc::new(Recorder::default());
        let session = PlanSession::new(recorder.clone());
        (recorder, session)
    }

    /// Returns the attachments, edits and detachments since the last call.
    pub fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }

    /// Returns the lines printed since the last call.
    #[allow(dead_code)]
    pub fn printed(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().printed)
    }

    /// Returns the tables that plans have dropped, and those of them that were dropped when the last
    /// table was made.
    #[allow(dead_code)]
    pub fn dropped_tables(&self) -> (Vec<u32>, Vec<u32>) {
        let state = self.state.lock().unwrap();
        (state.dropped.clone(), state.dropped_at_last_table.clone())
    }

    fn call(&self, text: String) {
        self.state.lock().unwrap().calls.push(text);
    }
}

/// Runs a plan in a session of its own. Returns its value and the recorder.
#[allow(dead_code)]
pub fn run(source: &str) -> (Result<String, PlanError>, Arc<Recorder>) {
    let (recorder, session) = Recorder::session();
    let result = Plan::compile("plan.rhai", source).and_then(|plan| session.load(plan));
    (result, recorder)
}

/// Returns the value of a plan that must succeed.
#[allow(dead_code)]
#[track_caller]
pub fn value(source: &str) -> String {
    let (result, _) = run(source);
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the attachments, edits and detachments of a plan that must succeed.
#[allow(dead_code)]
#[track_caller]
pub fn calls(source: &str) -> Vec<String> {
    let (result, recorder) = run(source);
    result.unwrap_or_else(|error| panic!("{error}"));
    recorder.calls()
}

impl Runtime for Recorder {
    fn watch_vm_events(&self, kinds: VmEventKinds) -> Result<(), AttachError> {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        self.call(format!("watch {}", names.join(",")));
        Ok(())
    }

    fn begin_speedup(&self, spec: SpeedupSpec) -> Result<SpeedupId, AttachError> {
        let patterns: Vec<String> = spec.patterns.iter().map(ToString::to_string).collect();
        let (share, seconds) = (spec.share, spec.seconds);
        self.call(format!(
            "speed up {} by {share} for {seconds} s",
            patterns.join(", ")
        ));
        Ok(SpeedupId(7))
    }

    fn end_speedup(&self, id: SpeedupId) -> Option<SpeedupWindow> {
        self.call(format!("end the speed-up {}", id.0));
        Some(SpeedupWindow {
            seconds: 1.0,
            delayed: 0.25,
            ..SpeedupWindow::default()
        })
    }

    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError> {
        let only = spec.only.as_ref().map(|only| {
            let by_number: BTreeMap<u32, _> = only.iter().map(|(id, at)| (id.0, at)).collect();
            format!(" only {by_number:?}")
        });
        self.call(format!("attach {spec}{}", only.unwrap_or_default()));
        let text = spec.patterns[0].to_string();
        if text.starts_with("refused.") {
            return Err(AttachError::VariableNotLive {
                variable: "x".to_owned(),
                class: "refused.C".to_owned(),
                method: "m()V".to_owned(),
                place: "f3".to_owned(),
                live: vec!["i".to_owned(), "n".to_owned()],
            });
        }
        if text.starts_with("slow.") {
            std::thread::sleep(
                veneer_scripts::limits::MAX_CALL_DURATION + Duration::from_millis(100),
            );
        }
        let mut warnings = Vec::new();
        if text.starts_with("absent.") {
            warnings.push(format!("no loaded class matches `{text}`"));
        }
        let mut state = self.state.lock().unwrap();
        let id = InstrumentId(state.specs.len() as u32 + 1);
        state.specs.push((spec, true));
        Ok(AttachSummary {
            id,
            methods: 1,
            points: 2,
            refused: 0,
            warnings,
        })
    }

    fn create_table(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError> {
        self.call(format!("tally {kind:?} {entries}"));
        let mut state = self.state.lock().unwrap();
        state.tallies += 1;
        state.dropped_at_last_table = state.dropped.clone();
        Ok(state.tallies - 1)
    }

    fn drop_table(&self, table: u32) {
        self.state.lock().unwrap().dropped.push(table);
    }

    fn label_table(&self, table: u32, plan: &str, name: Option<&str>) {
        if let Some(name) = name {
            self.call(format!("table {table} of {plan} is {name}"));
        }
    }

    fn mark_call_tree(&self, table: u32, plan: &str) {
        self.call(format!("table {table} of {plan} is a call tree"));
    }

    fn read_table(&self, _: u32) -> Tally {
        Tally::default()
    }

    fn clear_table(&self, table: u32) {
        self.call(format!("clear {table}"));
    }

    fn detach(&self, id: InstrumentId) -> Result<(), AttachError> {
        self.call(format!("detach {id}"));
        let mut state = self.state.lock().unwrap();
        match state.specs.get_mut(id.0 as usize - 1) {
            Some((_, attached)) => *attached = false,
            None => return Err(AttachError::UnknownInstrument { id }),
        }
        Ok(())
    }

    fn rows(&self, id: InstrumentId) -> Vec<PointRow> {
        let state = self.state.lock().unwrap();
        let Some((spec, _)) = state.specs.get(id.0 as usize - 1) else {
            return Vec::new();
        };
        let data = |n: u64| match spec.kind.name() {
            "counter" => Measurement::Count { hits: 1_000 * n },
            "timer" => Measurement::Time {
                count: n,
                total_ns: 3_000 * n,
                min_ns: 2_000,
                max_ns: 4_000,
            },
            _ => Measurement::Log {
                events: 7,
                dropped: 1,
            },
        };
        let huge = spec.patterns[0].class_text().starts_with("huge");
        let row = |n: u64| PointRow {
            class: "route.Edge".to_owned(),
            method: "isMe(II)Z".to_owned(),
            fragment: Some(FragmentId(n as u32)),
            what: None,
            to: None,
            line: Some(40),
            data: data(n),
        };
        (1..=if huge { 30_000 } else { 2 }).map(row).collect()
    }

    fn events(&self, _: InstrumentId, last: usize) -> Vec<LogEvent> {
        let event = |time_ns| LogEvent {
            class: "route.Edge".to_owned(),
            method: "isMe(II)Z".to_owned(),
            fragment: Some(FragmentId(1)),
            line: Some(40),
            thread: 1,
            time_ns,
            values: vec![
                ("a".to_owned(), EventValue::Int(5)),
                ("b".to_owned(), EventValue::Null),
            ],
        };
        let all = [1_000, 2_000, 3_000].map(event);
        all[3 - last.min(3)..].to_vec()
    }

    fn edit(&self, spec: EditSpec) -> Result<EditSummary, AttachError> {
        let edits: Vec<String> = spec.edits.iter().map(|edit| edit.to_string()).collect();
        let is_endless = spec.patterns[0].to_string().starts_with("a.Endless");
        if edits.contains(&"skip f99".to_owned()) {
            return Err(AttachError::EditRefused {
                class: "route.Edge".to_owned(),
                method: "isMe(II)Z".to_owned(),
                edit: Box::new(spec.edits[0].clone()),
                reason: "no such fragment (UnknownFragment)".to_owned(),
            });
        }
        self.call(format!("edit {}: {}", spec.patterns[0], edits.join("; ")));
        let mut state = self.state.lock().unwrap();
        state.patches += 1;
        Ok(EditSummary {
            id: PatchId(state.patches),
            warnings: vec!["it does not return".to_owned(); usize::from(is_endless)],
        })
    }

    fn edited_graphs(&self, spec: EditSpec) -> Result<Vec<EditedGraph>, AttachError> {
        let edits: Vec<String> = spec.edits.iter().map(|edit| edit.to_string()).collect();
        let only: Vec<u32> = spec.only.iter().map(|id| id.0).collect();
        self.call(format!("dump {only:?}: {}", edits.join("; ")));
        let dump = |text: &str| GraphDump {
            text: text.to_owned(),
            dot: format!("digraph {text}"),
            json: format!("{{\"{text}\":1}}"),
        };
        Ok(vec![EditedGraph {
            method: self.armed_methods(&spec.patterns, None).swap_remove(0),
            before: dump("before"),
            after: dump("after"),
        }])
    }

    fn edits(&self) -> Vec<PatchSummary> {
        let skip = EditKind::Skip {
            fragment: FragmentId(3),
        };
        let redirect = EditKind::Redirect {
            from: FragmentId(0),
            to: FragmentId(1),
            target: FragmentId(2),
        };
        let patch = |id, edits| PatchSummary {
            id: PatchId(id),
            plan: "other.rhai".to_owned(),
            patterns: vec!["a.B::m".to_owned()],
            edits,
            methods: 1,
            active: id > 1,
        };
        vec![patch(1, vec![skip.clone()]), patch(2, vec![redirect, skip])]
    }

    fn undo(&self, id: PatchId) -> Result<(), AttachError> {
        self.call(format!("undo {id}"));
        Ok(())
    }

    fn armed_methods(&self, _: &[MethodPattern], sample: Option<RandomSample>) -> Vec<ArmedMethod> {
        let named = ["isMe(II)Z", "<init>()V", "weight([J)D"];
        let all = [0, 1, 2].map(|n| ArmedMethod {
            id: veneer_names::MethodId(10 + n as u32),
            class: "route.Edge".to_owned(),
            method: named[n].to_owned(),
        });
        match sample {
            None => all.to_vec(),
            Some(sample) => {
                let drawn = sample.draw(all.len()).into_iter();
                drawn.map(|place| all[place].clone()).collect()
            }
        }
    }

    fn flow_graphs(&self, patterns: &[MethodPattern]) -> Vec<Graph> {
        let method = self.armed_methods(patterns, None).swap_remove(0);
        let site = VirtualCallSite {
            pc: 12,
            line: Some(9),
            target: "route.Edge::weight(int)".to_owned(),
        };
        let block = |line: u16| Block {
            line: Some(line),
            calls: vec![site.clone(); usize::from(line == 9)],
            ..Block::default()
        };
        let parameter = |can_be_constant| Parameter {
            name: "n".to_owned(),
            kind: "int".to_owned(),
            can_be_constant,
        };
        vec![Graph {
            method,
            fragments: 3,
            hash: "0123456789abcdef".to_owned(),
            edges: vec![(0, 1), (0, 2), (1, 2)],
            blocks: [7, 9, 7].map(block).into(),
            parameters: [true, false].map(parameter).into(),
        }]
    }

    fn classes(&self, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
        let described = |method: ArmedMethod| DescribedMethod {
            flags: if method.method.starts_with('<') {
                1
            } else {
                0x21
            },
            annotations: vec!["a.Fast".to_owned(); usize::from(method.id.0 == 12)],
            size: 10 * method.id.0,
            method,
        };
        let methods = self.armed_methods(patterns, None).into_iter();
        vec![ArmedClass {
            name: "route.Edge".to_owned(),
            flags: 0x21,
            annotations: vec!["a.Node".to_owned()],
            supertypes: vec!["java.lang.Object".to_owned()],
            is_initialised: true,
            methods: methods.map(described).collect(),
        }]
    }

    fn flow_graph(&self, method: veneer_names::MethodId) -> Option<Graph> {
        self.call(format!("graph {method}"));
        let all = self.armed_methods(&[], None);
        let method = all.into_iter().find(|one| one.id == method)?;
        let block = |depth: u32, size: usize, is_reachable| Block {
            line: Some(40),
            instructions: vec!["iadd".to_owned(); size],
            depth,
            is_header: depth > 0,
            is_reachable,
            variables: vec![("i".to_owned(), "int".to_owned())],
            ..Block::default()
        };
        Some(Graph {
            fragments: 3,
            hash: format!("{:016x}", method.id.0),
            edges: vec![(0, 1), (1, 2)],
            blocks: vec![
                block(0, 2, true),
                block(1, method.id.0 as usize, true),
                block(1, 20, method.id.0 == 10),
            ],
            parameters: Vec::new(),
            method,
        })
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        vec![RefusalRow {
            class: "a.Huge".to_owned(),
            method: "m()V".to_owned(),
            reason: "MethodTooLarge".to_owned(),
            detail: "70,000 bytes".to_owned(),
        }]
    }

    fn instruments(&self) -> Vec<InstrumentSummary> {
        let state = self.state.lock().unwrap();
        let summaries =
            state
                .specs
                .iter()
                .enumerate()
                .map(|(i, (spec, attached))| InstrumentSummary {
                    id: InstrumentId(i as u32 + 1),
                    name: spec.name.clone().unwrap_or_else(|| spec.to_string()),
                    kind: spec.kind.to_string(),
                    plan: spec.plan.clone(),
                    methods: 1,
                    classes: 1,
                    matched: 1,
                    points: 2,
                    attached: *attached,
                });
        summaries.collect()
    }

    fn stale_activation_count(&self) -> u64 {
        3
    }

    fn print(&self, text: &str) {
        self.state.lock().unwrap().printed.push(text.to_owned());
    }
}
