//! A runtime without a JVM: it accepts every instrument and edit, has no measured data, and discards
//! output.

use std::sync::{Arc, Mutex};
use veneer_instruments::{
    ArmedMethod, AttachError, AttachSummary, EditSpec, EditSummary, Graph, InstrumentId,
    InstrumentSpec, InstrumentSummary, LogEvent, MethodPattern, PatchId, PointRow, RandomSample,
    RefusalRow, Runtime, SpeedupId, SpeedupSpec, SpeedupWindow, Tally, TallyKind,
};
use veneer_scripts::{Plan, PlanError, PlanSession};

/// Runs the plan's top level. Every attachment succeeds, and all measured data are empty. A top
/// level that needs measured data or ids of other plans (`h.rows()[0]`, `detach("i7")`) fails.
pub fn dry_run(plan: &Plan) -> Result<(), PlanError> {
    let session = PlanSession::new(Arc::new(NoJvm::default()));
    session.load(plan.clone()).map(drop)
}

#[derive(Default)]
struct NoJvm {
    instruments: Mutex<Vec<InstrumentSummary>>,
    patches: Mutex<u32>,
}

impl Runtime for NoJvm {
    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError> {
        let mut instruments = self.instruments.lock().unwrap();
        let id = InstrumentId(u32::try_from(instruments.len()).unwrap_or(u32::MAX));
        instruments.push(InstrumentSummary {
            id,
            name: spec.name.clone().unwrap_or_else(|| spec.to_string()),
            kind: spec.kind.to_string(),
            plan: spec.plan,
            methods: 0,
            classes: 0,
            matched: 0,
            points: 0,
            attached: true,
        });
        Ok(AttachSummary {
            id,
            methods: 0,
            points: 0,
            refused: 0,
            warnings: Vec::new(),
        })
    }

    fn detach(&self, id: InstrumentId) -> Result<(), AttachError> {
        let mut instruments = self.instruments.lock().unwrap();
        let summary = instruments.iter_mut().find(|summary| summary.id == id);
        let summary = summary.ok_or(AttachError::UnknownInstrument { id })?;
        summary.attached = false;
        Ok(())
    }

    fn begin_speedup(&self, _: SpeedupSpec) -> Result<SpeedupId, AttachError> {
        Ok(SpeedupId(1))
    }

    fn end_speedup(&self, _: SpeedupId) -> Option<SpeedupWindow> {
        Some(SpeedupWindow::default())
    }

    fn rows(&self, _: InstrumentId) -> Vec<PointRow> {
        Vec::new()
    }

    fn events(&self, _: InstrumentId, _: usize) -> Vec<LogEvent> {
        Vec::new()
    }

    fn edit(&self, _: EditSpec) -> Result<EditSummary, AttachError> {
        let mut patches = self.patches.lock().unwrap();
        let id = PatchId(*patches);
        *patches += 1;
        Ok(EditSummary {
            id,
            warnings: Vec::new(),
        })
    }

    fn undo(&self, _: PatchId) -> Result<(), AttachError> {
        Ok(())
    }

    fn create_table(&self, _: TallyKind, _: u32) -> Result<u32, AttachError> {
        Ok(0)
    }

    fn read_table(&self, _: u32) -> Tally {
        Tally::default()
    }

    fn clear_table(&self, _: u32) {}

    fn armed_methods(&self, _: &[MethodPattern], _: Option<RandomSample>) -> Vec<ArmedMethod> {
        Vec::new()
    }

    fn flow_graphs(&self, _: &[MethodPattern]) -> Vec<Graph> {
        let method = ArmedMethod {
            id: veneer_names::MethodId(1),
            class: "route.Finder".to_owned(),
            method: "arrival(Lroute/Label;Lroute/Edge;)I".to_owned(),
        };
        vec![Graph {
            method,
            fragments: 0,
            hash: "5be2f2a1c09d7e43".to_owned(),
            edges: Vec::new(),
            blocks: Vec::new(),
            parameters: Vec::new(),
        }]
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        Vec::new()
    }

    fn instruments(&self) -> Vec<InstrumentSummary> {
        self.instruments.lock().unwrap().clone()
    }

    fn stale_activation_count(&self) -> u64 {
        0
    }

    fn print(&self, _: &str) {}
}
