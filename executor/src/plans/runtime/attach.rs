//! Attaching and detaching instruments.

use super::RuntimeHandle;
use crate::classes::plan_pattern::{called_method, single_class};
use crate::classes::registry::Class;
use crate::classes::retransform;
use crate::classes::selection::MethodSelection;
use crate::data::monotonic::monotonic;
use crate::plans::cost_sample::CostSample;
use crate::plans::derived_counts::{read_points, wait_for_superseded_versions};
use crate::plans::instrument_registry::Instrument;
use crate::plans::journal_records;
use crate::plans::readings::installed_points;
use crate::plans::warnings::{selects_loaded_class, suggestion};
use crate::weaving::changed_classes::settled_classes;
use crate::weaving::target_switch::SwitchBatch;
use crate::weaving::versions;
use crate::weaving::weaver::{self, place_instruments, weave_class};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_fragmenter::cell_path::selects_only_cell_path;
use veneer_instruments::{
    AttachError, AttachSummary, InstrumentId, InstrumentKind, InstrumentSpec, MethodPattern,
    RecordingForm,
};
use veneer_names::MethodId;

/// The number of methods that an instrument selects, and how they were found.
struct Selection {
    methods: usize,
    /// The number of methods that the plan has chosen one by one, if it has.
    chosen: Option<usize>,
    /// Whether loaded classes were armed for the instrument.
    has_armed: bool,
}

impl RuntimeHandle {
    /// Attaches an instrument to loaded classes, and to matching classes that are loaded later.
    pub(super) fn attach_instrument(
        &self,
        spec: InstrumentSpec,
    ) -> Result<AttachSummary, AttachError> {
        let (agent, env) = (self.agent, self.env());
        self.refuse_while_counting_all()?;
        if spec.kind == InstrumentKind::Timer {
            let is_running = agent.is_running();
            agent
                .clock
                .link(agent.tool, &agent.library, env, is_running);
        }
        let start_cell = match spec.late {
            true => {
                let cell = agent.tallies.allocate_cells();
                Some(cell.ok_or(AttachError::TallyTooLarge { entries: 1 })?)
            }
            false => None,
        };
        let recorder = match &spec.kind {
            InstrumentKind::Recorder(recorder) => Some(recorder.clone()),
            _ => None,
        };
        let (patterns, place) = (spec.patterns.clone(), spec.place.clone());
        let kind = spec.kind.clone();
        let called = called_method(&place);
        let chosen = spec.only.as_ref().map(|only| only.len());
        let cells = start_cell.into_iter().collect();
        let instrument = Instrument::new(spec, cells, CostSample::now());
        let id = agent.table.lock().add(instrument);
        self.begin_lifetimes(id, &kind)?;
        let form = recorder.as_ref().map(|recorder| recorder.form);
        if form == Some(RecordingForm::CompleteCalls) {
            return self.attach_complete_calls(id);
        }
        let recording = recorder.map(|recorder| {
            let number = self.prepare_recording(id, &recorder)?;
            Ok((number, recorder.form))
        });
        let recording = recording
            .transpose()
            .inspect_err(|_| self.forget_attachment(id))?;
        agent.append_records(&journal_records::attached(agent, id));
        self.refresh_patterns();
        // Chosen methods are armed already.
        let has_armed = chosen.is_none()
            && retransform::arm_loaded_classes(agent, env, &patterns, called.as_ref());
        let classes = settled_classes(agent, env, &patterns);
        let selection = Selection {
            methods: chosen.unwrap_or_else(|| self.count_selected(&classes, &patterns)),
            chosen,
            has_armed,
        };
        let installation = match selection.methods {
            0..=versions::MAX_EAGER_METHODS => Installation::Eager,
            // The start cell needs versions that are installed.
            _ if start_cell.is_some() => Installation::Batched,
            _ => Installation::Deferred,
        };
        let errors = self.install(id, classes, installation);
        // All cells of the methods are set now: an activation that is not in a version of this
        // instrument has begun before this time.
        if let Some(cell) = start_cell {
            agent.tallies.set_cell(cell, monotonic() as i64);
        }
        let attached = self.attached(id, errors, (&patterns, called.as_ref()), selection)?;
        if let Some((number, form)) = recording {
            self.begin_recording(id, number, form)?;
        }
        Ok(attached)
    }

    /// How many armed methods of these classes the patterns select.
    fn count_selected(&self, classes: &[Arc<Class>], patterns: &[MethodPattern]) -> usize {
        let selected = |class: &Arc<Class>| {
            let chosen = MethodSelection::new(self.agent.tool, self.env(), class, patterns);
            let state = class.state();
            let methods = state.methods.iter();
            methods
                .filter(|m| chosen.selects(m.name, m.descriptor))
                .count()
        };
        classes.iter().map(selected).sum()
    }

    /// Installs a new instrument in classes, and returns the errors of single methods. Stops early
    /// if the instrument has too many points.
    fn install(
        &self,
        id: InstrumentId,
        classes: Vec<Arc<Class>>,
        installation: Installation,
    ) -> Vec<(InstrumentId, AttachError)> {
        let (agent, env) = (self.agent, self.env());
        let eager = installation == Installation::Eager;
        let mut errors = Vec::new();
        let mut batch = SwitchBatch::default();
        for class in classes {
            if installation == Installation::Deferred {
                let placed = place_instruments(agent, env, &class);
                agent.deferred_versions.lock().extend(placed.changed);
                errors.extend(placed.errors);
            } else {
                errors.extend(weave_class(agent, env, &class, eager, &mut batch));
            }
            if errors.iter().any(|e| e.0 == id && is_too_many(&e.1)) {
                break;
            }
            if eager || batch.is_full() {
                weaver::install_versions(agent, env, &mut batch);
            }
        }
        weaver::install_versions(agent, env, &mut batch);
        errors
    }

    /// The result of attaching an instrument. If it has too many points, or has no point
    /// because of an error, it is detached and the error is returned.
    fn attached(
        &self,
        id: InstrumentId,
        errors: Vec<(InstrumentId, AttachError)>,
        (patterns, called): (&[MethodPattern], Option<&MethodPattern>),
        selection: Selection,
    ) -> Result<AttachSummary, AttachError> {
        let agent = self.agent;
        let is_installed = {
            let mut table = agent.table.lock();
            table.instrument(id).is_some_and(|i| !i.points.is_empty())
        };
        let own = errors.into_iter().filter(|e| e.0 == id).map(|e| e.1);
        let own: Vec<AttachError> = own.collect();
        let details: HashSet<String> = own.iter().map(ToString::to_string).collect();
        if let Some(error) = decisive_error(own, is_installed) {
            self.detach_instruments(&[id])?;
            // The plan fails with the error, so it is no property of the methods.
            agent.withdraw_refusals_with(&details);
            return Err(error);
        }
        let (mut attached, refusal) = {
            let mut table = agent.table.lock();
            let Some(i) = table.instrument(id) else {
                return Err(AttachError::UnknownInstrument { id });
            };
            let summary = AttachSummary {
                id,
                methods: i.method_count(),
                points: i.points.len(),
                refused: i.refused,
                warnings: Vec::new(),
            };
            (summary, i.first_refusal.clone())
        };
        if let Some(refusal) = refusal.filter(|_| attached.points == 0) {
            let warning = nothing_attached(attached.refused, &refusal);
            attached.warnings.push(warning);
        }
        self.add_warnings(&mut attached, (patterns, called), &selection);
        Ok(attached)
    }

    /// Adds warnings about running activations of old code, and about patterns that match nothing.
    fn add_warnings(
        &self,
        attached: &mut AttachSummary,
        (patterns, called): (&[MethodPattern], Option<&MethodPattern>),
        selection: &Selection,
    ) {
        let (agent, env) = (self.agent, self.env());
        let is_late = agent.filter.only_plans.load(Ordering::Relaxed);
        if is_late || agent.arms_only_loops() {
            let obsolete = agent.obsolete_frames.warning(
                agent.tool,
                env,
                &agent.registry,
                patterns,
                selection.has_armed,
            );
            attached.warnings.extend(obsolete);
        }
        if selection.chosen == Some(0) {
            let warning = "the predicate holds for nothing that is loaded now, and is not asked again: attach later, in after(seconds, || …)";
            attached.warnings.push(warning.into());
            return;
        }
        // A pattern also matches if it selects methods without such a point, such as a loop.
        if !agent.is_running() || selection.methods > 0 || attached.refused > 0 {
            return;
        }
        for pattern in patterns {
            if !pattern.has_subtypes() && selects_only_cell_path(&pattern.class_text()) {
                attached.warnings.push(format!("`{pattern}` selects nothing: {} is never armed, because Veneer executes its methods in each call of an instrumented method (OnCellPath); select its calls in your own methods: methods(…).calls(\"{pattern}\")", pattern.class_text()));
                continue;
            }
            if let Some(called) = called.filter(|_| single_class(pattern).is_none())
                && selects_loaded_class(agent, env, pattern)
            {
                attached.warnings.push(format!("no class that `{pattern}` selects and that is loaded now names a method like `{called}` in its code (classes loaded later are matched too)"));
                continue;
            }
            let retention = match is_late && pattern.has_annotations() {
                true => {
                    "; of classes that were there before the agent, the JVM knows only annotations of retention RUNTIME"
                }
                false => "",
            };
            attached.warnings.push(format!("`{pattern}` matches no method that is loaded now (classes loaded later are matched too){retention}{}", suggestion(agent, env, pattern)));
        }
    }

    /// Detaches instruments: removes them from the versions of their methods, makes their readings
    /// final, and frees their counters. Returns the first error, when all others are detached.
    pub(super) fn detach_instruments(&self, ids: &[InstrumentId]) -> Result<(), AttachError> {
        let agent = self.agent;
        let mut result = Ok(());
        let mut detached: Vec<(InstrumentId, Vec<MethodId>)> = Vec::new();
        for id in ids {
            let mut table = agent.table.lock();
            match table.instrument(*id) {
                None => result = result.and(Err(AttachError::UnknownInstrument { id: *id })),
                Some(i) => {
                    if std::mem::replace(&mut i.attached, false) {
                        detached.push((*id, i.methods.iter().copied().collect()));
                    }
                }
            }
        }
        let ended = detached.iter().map(|(id, _)| self.end_recording(*id));
        let has_recorded = ended.fold(false, |any, ended| any | ended);
        // With thousands of methods, the end of the JVM would wait for seconds until each one has other
        // code, which nobody executes any more.
        let keeps_code = has_recorded && agent.jvm_ends.load(Ordering::SeqCst);
        if !keeps_code && !detached.is_empty() {
            self.refresh_patterns();
            for (id, methods) in &detached {
                let remove = |method: &MethodId| agent.methods.remove_probes(*method, *id);
                methods.iter().for_each(remove);
            }
            let methods: BTreeSet<MethodId> =
                detached.iter().flat_map(|one| one.1.clone()).collect();
            let methods = Vec::from_iter(methods);
            self.update(&methods);
            self.renew_profiles(&methods);
        }
        for (id, _) in &detached {
            self.release(*id, keeps_code);
        }
        result
    }

    /// Makes the readings of a detached instrument final, and frees its counters.
    fn release(&self, id: InstrumentId, keeps_code: bool) {
        let (agent, env) = (self.agent, self.env());
        // No new activation counts from here on. Those in superseded versions leave them soon.
        let points = installed_points(agent, id);
        if !keeps_code {
            wait_for_superseded_versions(agent, env, &points);
        }
        // The last events of a log may still be in a ring.
        agent.rings.drain();
        let last = read_points(agent, &points);
        let mut table = agent.table.lock();
        if let Some(i) = table.instrument(id) {
            let pairs = i.points.iter_mut().zip(last);
            pairs.for_each(|(point, data)| (point.last, point.row) = (Some(data), None));
        }
        drop(table);
        // The journal must have the final readings before the counters are reused.
        agent.append_records(&[journal_records::detached(agent, id)]);
        if keeps_code {
            return;
        }
        agent.inline_caches.drop_cells(id, |page| {
            // The page stays in memory if this fails.
            let _ = agent.library.remove_inline_caches(env, page);
        });
        let mut table = agent.table.lock();
        table.release_counters(points);
        table.release_quarantined(|row| row.is_unused(env));
        table.retire(id);
    }
}

/// When the versions of the methods of a new instrument take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Installation {
    /// Class by class.
    Eager,
    /// For many methods at once.
    Batched,
    /// With those of the instruments that the plan attaches next.
    Deferred,
}

/// The warning about an instrument without a point, because no method can have it.
fn nothing_attached(refused: usize, first: &str) -> String {
    match refused {
        1 => format!("nothing is attached, because the method cannot be instrumented: {first}"),
        _ => format!(
            "nothing is attached, because none of {refused} methods can be instrumented; the first one: {first}"
        ),
    }
}

fn is_too_many(error: &AttachError) -> bool {
    matches!(error, AttachError::TooManyPoints { .. })
}

/// The error for which attaching an instrument fails: too many points, or the first error if the
/// instrument has no point.
fn decisive_error(errors: Vec<AttachError>, is_installed: bool) -> Option<AttachError> {
    let too_many = errors.iter().position(is_too_many);
    let at = match is_installed {
        true => too_many?,
        false => too_many.unwrap_or(0),
    };
    errors.into_iter().nth(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> AttachError {
        AttachError::Unsupported {
            what: text.into(),
            instead: String::new(),
        }
    }

    #[test]
    fn a_warning_names_the_first_of_several_refused_methods() {
        let one =
            "nothing is attached, because the method cannot be instrumented: a.B.m()V: too large";
        assert_eq!(nothing_attached(1, "a.B.m()V: too large"), one);
        assert!(nothing_attached(3, "a.B.m()V: too large").contains("none of 3 methods"));
    }

    #[test]
    fn too_many_points_fail_even_if_the_instrument_is_installed() {
        let too_many = AttachError::TooManyPoints { limit: 5 };
        let errors = || vec![error("first"), too_many.clone(), error("last")];
        assert_eq!(decisive_error(errors(), true), Some(too_many.clone()));
        assert_eq!(decisive_error(errors(), false), Some(too_many.clone()));
    }

    #[test]
    fn other_errors_fail_only_if_the_instrument_is_installed_nowhere() {
        let errors = || vec![error("first"), error("last")];
        assert_eq!(decisive_error(errors(), true), None);
        assert_eq!(decisive_error(errors(), false), Some(error("first")));
        assert_eq!(decisive_error(Vec::new(), false), None);
    }
}
