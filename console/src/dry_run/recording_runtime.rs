//! A runtime without a JVM. It accepts every instrument and edit and records them; all measured data are
//! empty.

use std::sync::{Mutex, PoisonError};

use veneer_instruments::{
    ArmedMethod, AttachError, AttachSummary, EditSpec, EditSummary, Graph, InstrumentId,
    InstrumentSpec, InstrumentSummary, LogEvent, MethodPattern, PatchId, PointRow, RandomSample,
    RefusalRow, Runtime, SpeedupId, SpeedupSpec, SpeedupWindow, Tally, TallyKind,
};

/// An instrument or an edit that a plan would attach.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The instrument or edit in words.
    pub text: String,
    pub is_edit: bool,
    pub patterns: Vec<MethodPattern>,
    /// Whether the patterns alone choose the methods. A filter of the plan chooses among methods that a
    /// dry run does not know.
    pub is_chosen_by_patterns: bool,
}

/// A runtime that records what a plan attaches.
#[derive(Default)]
pub struct RecordingRuntime {
    state: Mutex<RecordedState>,
}

#[derive(Default)]
struct RecordedState {
    planned: Vec<Planned>,
    printed: Vec<String>,
    instruments: Vec<InstrumentSummary>,
    tables: u32,
}

impl RecordingRuntime {
    /// Returns the instruments and edits, and the printed lines.
    pub fn take(&self) -> (Vec<Planned>, Vec<String>) {
        let mut state = self.state();
        (
            std::mem::take(&mut state.planned),
            std::mem::take(&mut state.printed),
        )
    }

    fn state(&self) -> std::sync::MutexGuard<'_, RecordedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next id of a list.
fn next_id<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

impl Runtime for RecordingRuntime {
    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError> {
        let mut state = self.state();
        let id = InstrumentId(next_id(&state.instruments));
        state.planned.push(Planned {
            text: spec.to_string(),
            is_edit: false,
            patterns: spec.patterns.clone(),
            is_chosen_by_patterns: spec.only.is_none(),
        });
        state.instruments.push(InstrumentSummary {
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
        let mut state = self.state();
        let summary = state.instruments.iter_mut().find(|one| one.id == id);
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

    fn begin_speedup(&self, spec: SpeedupSpec) -> Result<SpeedupId, AttachError> {
        let patterns: Vec<String> = spec.patterns.iter().map(ToString::to_string).collect();
        let text = format!("virtual_speedup({}) of {}", spec.share, patterns.join(", "));
        self.state().planned.push(Planned {
            text,
            is_edit: false,
            patterns: spec.patterns,
            is_chosen_by_patterns: true,
        });
        Ok(SpeedupId(1))
    }

    fn end_speedup(&self, _: SpeedupId) -> Option<SpeedupWindow> {
        Some(SpeedupWindow::default())
    }

    fn edit(&self, spec: EditSpec) -> Result<EditSummary, AttachError> {
        let mut state = self.state();
        let edits: Vec<String> = spec.edits.iter().map(ToString::to_string).collect();
        let patterns: Vec<String> = spec.patterns.iter().map(ToString::to_string).collect();
        let id = PatchId(next_id(&state.planned));
        state.planned.push(Planned {
            text: format!("{} of {}", edits.join(", "), patterns.join(", ")),
            is_edit: true,
            patterns: spec.patterns,
            is_chosen_by_patterns: true,
        });
        Ok(EditSummary {
            id,
            warnings: Vec::new(),
        })
    }

    fn undo(&self, _: PatchId) -> Result<(), AttachError> {
        Ok(())
    }

    fn create_table(&self, _: TallyKind, _: u32) -> Result<u32, AttachError> {
        let mut state = self.state();
        state.tables = state.tables.saturating_add(1);
        Ok(state.tables)
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
        self.state().instruments.clone()
    }

    fn stale_activation_count(&self) -> u64 {
        0
    }

    fn print(&self, text: &str) {
        self.state().printed.push(text.to_owned());
    }
}
