//! The dry run: runs a plan's top level without a JVM. The tests of the documentation use the dry
//! run. `veneer run --strict` does not: the command only parses the plans, and the agent refuses a
//! plan that fails in the JVM before the application starts.
//!
//! The runtime in this module accepts every instrument and edit, has no measured data, and discards
//! output.

use crate::error::PlanError;
use crate::plan::Plan;
use crate::scheduler::PlanSession;
use parking_lot::Mutex;
use std::sync::Arc;
use veneer_instruments::{
    ArmedMethod, AttachError, AttachSummary, EditSpec, Graph, InstrumentId, InstrumentSpec,
    InstrumentSummary, LogEvent, MethodPattern, PatchId, PointRow, RandomSample, RefusalRow,
    Runtime, Tally, TallyKind,
};

impl Plan {
    /// Runs the plan's top level without a JVM: every attachment succeeds, and all measured data
    /// are empty. The dry run finds misspelt functions, wrong arguments and malformed patterns
    /// before the application starts. A top level that needs measured data or ids of other plans
    /// (`h.rows()[0]`, `detach("i7")`) fails in a dry run.
    ///
    /// # Errors
    /// The errors that loading the plan into a JVM would also report.
    pub fn dry_run(&self) -> Result<(), PlanError> {
        let session = PlanSession::new(Arc::new(NoJvm::default()));
        session.load(self.clone()).map(drop)
    }
}

#[derive(Default)]
struct NoJvm {
    instruments: Mutex<Vec<InstrumentSummary>>,
    patches: Mutex<u32>,
}

impl Runtime for NoJvm {
    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError> {
        let mut instruments = self.instruments.lock();
        let id = InstrumentId(u32::try_from(instruments.len()).unwrap_or(u32::MAX));
        instruments.push(InstrumentSummary {
            id,
            name: spec.name.clone().unwrap_or_else(|| spec.to_string()),
            kind: spec.kind.to_string(),
            plan: spec.plan,
            methods: 0,
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
        let mut instruments = self.instruments.lock();
        let summary = instruments.iter_mut().find(|summary| summary.id == id);
        let summary = summary.ok_or(AttachError::UnknownInstrument { id })?;
        summary.attached = false;
        Ok(())
    }

    fn rows(&self, _: InstrumentId) -> Vec<PointRow> {
        Vec::new()
    }

    fn events(&self, _: InstrumentId, _: usize) -> Vec<LogEvent> {
        Vec::new()
    }

    fn edit(&self, _: EditSpec) -> Result<PatchId, AttachError> {
        let mut patches = self.patches.lock();
        let id = PatchId(*patches);
        *patches += 1;
        Ok(id)
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
        Vec::new()
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        Vec::new()
    }

    fn instruments(&self) -> Vec<InstrumentSummary> {
        self.instruments.lock().clone()
    }

    fn stale_activation_count(&self) -> u64 {
        0
    }

    fn print(&self, _: &str) {}
}
