//! The dry run: runs a plan's top level without a JVM. The tests of the documentation use the dry
//! run. `veneer run --strict` does not: the command only parses the plans, and the agent refuses a
//! plan that fails in the JVM before the application starts.
//!
//! The runtime in this module accepts every instrument and edit, has no measured data, and discards
//! output.

use crate::error::PlanError;
use crate::lock::lock;
use crate::plan::Plan;
use crate::scheduler::Session;
use std::sync::{Arc, Mutex};
use veneer_instruments::{
    ArmedMethod, AttachError, Attached, EditSpec, Event, Graph, InstrumentId, MethodPattern,
    PatchId, RefusalRow, Row, Runtime, Sample, Spec, Summary, Tally, TallyKind,
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
        let session = Session::new(Arc::new(NoJvm::default()));
        session.load(self.clone()).map(drop)
    }
}

#[derive(Default)]
struct NoJvm {
    instruments: Mutex<Vec<Summary>>,
    patches: Mutex<u32>,
}

impl Runtime for NoJvm {
    fn attach(&self, spec: Spec) -> Result<Attached, AttachError> {
        let mut instruments = lock(&self.instruments);
        let id = InstrumentId(u32::try_from(instruments.len()).unwrap_or(u32::MAX));
        instruments.push(Summary {
            id,
            name: spec.name.clone().unwrap_or_else(|| spec.to_string()),
            kind: spec.kind.to_string(),
            plan: spec.plan,
            methods: 0,
            points: 0,
            attached: true,
        });
        Ok(Attached {
            id,
            methods: 0,
            points: 0,
            refused: 0,
            warnings: Vec::new(),
        })
    }

    fn detach(&self, id: InstrumentId) -> Result<(), AttachError> {
        let mut instruments = lock(&self.instruments);
        let summary = instruments.iter_mut().find(|summary| summary.id == id);
        let summary = summary.ok_or(AttachError::UnknownInstrument { id })?;
        summary.attached = false;
        Ok(())
    }

    fn rows(&self, _: InstrumentId) -> Vec<Row> {
        Vec::new()
    }

    fn events(&self, _: InstrumentId, _: usize) -> Vec<Event> {
        Vec::new()
    }

    fn edit(&self, _: EditSpec) -> Result<PatchId, AttachError> {
        let mut patches = lock(&self.patches);
        let id = PatchId(*patches);
        *patches += 1;
        Ok(id)
    }

    fn undo(&self, _: PatchId) -> Result<(), AttachError> {
        Ok(())
    }

    fn tally(&self, _: TallyKind, _: u32) -> Result<u32, AttachError> {
        Ok(0)
    }

    fn tally_now(&self, _: u32) -> Tally {
        Tally::default()
    }

    fn tally_clear(&self, _: u32) {}

    fn armed(&self, _: &[MethodPattern], _: Option<Sample>) -> Vec<ArmedMethod> {
        Vec::new()
    }

    fn graphs(&self, _: &[MethodPattern]) -> Vec<Graph> {
        Vec::new()
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        Vec::new()
    }

    fn instruments(&self) -> Vec<Summary> {
        lock(&self.instruments).clone()
    }

    fn stale(&self) -> u64 {
        0
    }

    fn print(&self, _: &str) {}
}
