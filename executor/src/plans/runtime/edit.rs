//! Editing flow graphs, and undoing edits.

use super::RuntimeHandle;
use super::receiver_tests::{missing_test, receiver_tests};
use crate::classes::method_analysis::analyse;
use crate::classes::registry::Class;
use crate::classes::selection::MethodSelection;
use crate::plans::instrument_registry::Patch;
use crate::plans::journal_records;
use crate::plans::protocol_forms;
use crate::plans::warnings::similar_classes;
use crate::weaving::changed_classes::settled_classes;
use crate::weaving::versions;
use crate::weaving::woven_methods::split_edits;
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::ArmedCode;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::duplication::frequent_path;
use veneer_fragmenter::endless::endless_fragment;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::specialisation::parameter_slot;
use veneer_instruments::{AttachError, EditKind, EditSpec, EditSummary, PatchId, PatchSummary};
use veneer_names::MethodId;
use veneer_protocol::data::Record;

/// A function that is called with a class, its original class file, and the id and the label of a method, and returns
/// edits of the method.
pub(super) type WithMethod<'a> =
    dyn FnMut(&Arc<Class>, &ClassFile, (MethodId, &str)) -> Result<Vec<Edit>, AttachError> + 'a;

/// A method that a patch changes.
struct Target {
    class: Arc<Class>,
    method: MethodId,
    edits: Vec<Edit>,
    /// A warning about the method after the edit.
    warning: Option<String>,
}

impl RuntimeHandle {
    /// Applies edits to all loaded methods that the spec selects, or to none.
    pub(super) fn apply_edits(&self, spec: EditSpec) -> Result<EditSummary, AttachError> {
        self.refuse_while_counting_all()?;
        let agent = self.agent;
        self.arm_matching_classes(&spec.patterns);
        self.refresh_patterns();
        let targets = self.check_targets(&spec)?;
        if targets.is_empty() {
            return Err(self.nothing_matches(&spec));
        }
        let methods: Vec<MethodId> = targets.iter().map(|t| t.method).collect();
        let id = agent.table.lock().add_patch(Patch {
            spec: spec.clone(),
            active: true,
            methods: methods.clone(),
            unloaded_methods: 0,
        });
        self.refresh_patterns();
        for target in &targets {
            agent
                .methods
                .add_edits(target.method, id, target.edits.clone());
        }
        let refused = self.update(&methods);
        let Some((method, reason)) = refused.into_iter().next() else {
            agent.append_records(&journal_records::edited(agent, id));
            let warnings = targets.into_iter().filter_map(|t| t.warning);
            return Ok(EditSummary {
                id,
                warnings: warnings.take(MAX_WARNINGS).collect(),
            });
        };
        // One method could not be changed, so no method may be.
        self.undo_edits(id)?;
        let target = targets.iter().find(|t| t.method == method);
        let first = spec.edits.first().cloned();
        Err(AttachError::EditRefused {
            class: target.map_or_else(String::new, |t| t.class.dotted.to_string()),
            method: target.and_then(method_label).unwrap_or_default(),
            edit: Box::new(first.unwrap_or(NO_EDIT)),
            reason: format!("{} ({})", reason, reason.name()),
        })
    }

    /// The error of a spec that selects no loaded method.
    pub(super) fn nothing_matches(&self, spec: &EditSpec) -> AttachError {
        let first = spec.patterns.first();
        AttachError::NothingMatches {
            pattern: first.map(|p| p.to_string()).unwrap_or_default(),
            nearest: first
                .map(|p| similar_classes(self.agent, self.env(), p))
                .unwrap_or_default(),
        }
    }

    /// Returns the methods that a spec selects, after a check that its edits can be applied to each
    /// of them.
    fn check_targets(&self, spec: &EditSpec) -> Result<Vec<Target>, AttachError> {
        let mut targets: Vec<Target> = Vec::new();
        self.for_selected_methods(spec, &mut |class, file, (method, label)| {
            let (edits, endless) = self.check_method(spec, class, file, (method, label))?;
            if edits.is_empty() {
                return Ok(edits);
            }
            let warning = endless.map(|fragment| {
                format!(
                    "{}::{label} does not return from {fragment} any more, unless an exception ends it",
                    class.dotted
                )
            });
            targets.push(Target {
                class: class.clone(),
                method,
                edits: edits.clone(),
                warning,
            });
            Ok(edits)
        })?;
        Ok(targets)
    }

    /// Calls `with` for each loaded method that a spec selects, with the class, its original class file, and the id
    /// and the label of the method. `with` returns the edits of the method.
    ///
    /// # Errors
    /// The first error of `with`, a class file that cannot be read, or a test that no call gets.
    pub(super) fn for_selected_methods(
        &self,
        spec: &EditSpec,
        with: &mut WithMethod<'_>,
    ) -> Result<(), AttachError> {
        let (agent, env) = (self.agent, self.env());
        let mut last = None;
        let mut made = Vec::new();
        for class in settled_classes(agent, env, &spec.patterns) {
            let Some(local) = class.local(env) else {
                continue;
            };
            // SAFETY: `Class::local` has made the local reference, which is not used again.
            unsafe { env.delete(local) };
            let methods = class.state().methods.clone();
            let selects = MethodSelection::new(agent.tool, env, &class, &spec.patterns);
            let is_wanted = |id: MethodId| spec.only.is_empty() || spec.only.contains(&id);
            let chosen = methods.iter();
            let chosen: Vec<_> = chosen
                .filter(|m| selects.selects(m.name, m.descriptor) && is_wanted(m.id))
                .collect();
            if chosen.is_empty() {
                continue;
            }
            let original = class.original_file();
            let original = original.map_err(|e| method_refused(&class, "", &e))?;
            let file =
                ClassFile::parse(&original).map_err(|e| method_refused(&class, "", &e.into()))?;
            for m in chosen {
                let label = format!("{}{}", m.name, m.descriptor);
                made.extend(with(&class, &file, (m.id, &label))?);
                last = Some((class.clone(), label));
            }
        }
        if let Some((class, method)) = last
            && let Some((edit, reason)) = missing_test(&spec.edits, &made)
        {
            return Err(refused(&class, &method, &edit, &reason));
        }
        Ok(())
    }

    /// Checks that the edits of a spec can be applied to a method, together with the edits that it
    /// has already. Returns the edits of the method, and a fragment from which the method will no longer
    /// return, if there is one.
    pub(super) fn check_method(
        &self,
        spec: &EditSpec,
        class: &Arc<Class>,
        file: &ClassFile,
        (id, label): (MethodId, &str),
    ) -> Result<(Vec<Edit>, Option<FragmentId>), AttachError> {
        let agent = self.agent;
        let analysed = analyse(&agent.policy, file, class, id)
            .map_err(|e| method_refused(class, label, &e))?;
        let (method, armed) = (&analysed.method, &analysed.armed);
        let mut edits = self.edits_of(spec, class, (method, label))?;
        let kept = agent.methods.edit_points(id);
        let fitted = versions::fit_split(agent, self.env(), class, &analysed, &mut edits, &kept);
        let mut all = agent.methods.edits(id);
        all.extend(edits.iter().cloned());
        let applied =
            fitted.and_then(|()| patch::apply_keeping(method, &all, &armed.points, &kept));
        let checked = applied.and_then(|patched| {
            let points = patched.edit_points.iter().map(|p| p.fragment);
            let points: Vec<FragmentId> = points.collect();
            let split = split_edits(&all);
            versions::check_osr_entry(agent, self.env(), class, &analysed, &points, &split)?;
            Ok(endless_fragment(method, &patched))
        });
        let checked = checked.map_err(|reason| {
            let edit = failing_edit(spec, &edits, method, armed);
            refused(class, label, &edit, &reason)
        });
        checked.map(|endless| (edits, endless))
    }

    /// The edits of a spec in a method, in the form of the rewriter.
    fn edits_of(
        &self,
        spec: &EditSpec,
        class: &Class,
        (method, label): (&Method, &str),
    ) -> Result<Vec<Edit>, AttachError> {
        let mut edits = Vec::new();
        for kind in &spec.edits {
            edits.push(match *kind {
                EditKind::Redirect { from, to, target } => Edit::Redirect { from, to, target },
                EditKind::Skip { fragment } => Edit::Skip { fragment },
                EditKind::Replace { fragment, by } => Edit::Replace { fragment, by },
                EditKind::Split { budget } => Edit::Split { budget },
                EditKind::Unswitch { fragment } => Edit::Unswitch { fragment },
                EditKind::Specialise { parameter, value } => {
                    let slot = parameter_slot(method, parameter);
                    let slot = slot.map_err(|reason| refused(class, label, kind, &reason))?;
                    Edit::Constant { slot, value }
                }
                EditKind::Duplicate { ref path } if path.is_empty() => {
                    let passes = passes_of(spec, class.dotted.as_str(), label);
                    let passes = passes.filter_map(|edit| match edit {
                        Edit::Passes { fragment, count } => Some((fragment, count)),
                        _ => None,
                    });
                    let path = frequent_path(method, &passes.collect());
                    Edit::Duplicate { path: path.into() }
                }
                EditKind::Duplicate { ref path } => Edit::Duplicate {
                    path: path.as_slice().into(),
                },
                EditKind::Devirtualise {
                    ref calls,
                    ref receivers,
                } => {
                    let tested = (calls.as_str(), receivers.as_slice());
                    let tests = receiver_tests(self.agent, self.env(), class, method, tested);
                    edits.extend(tests.map_err(|reason| refused(class, label, kind, &reason))?);
                    continue;
                }
            });
        }
        edits.extend(passes_of(spec, class.dotted.as_str(), label));
        Ok(edits)
    }

    /// All patches, in order, including undone ones.
    pub(super) fn patch_summaries(&self) -> Vec<PatchSummary> {
        let table = self.agent.table.lock();
        let patches = (1..).map(PatchId).zip(&table.patches);
        patches
            .map(|(id, patch)| PatchSummary {
                id,
                plan: patch.spec.plan.clone(),
                patterns: protocol_forms::patterns(patch),
                edits: patch.spec.edits.clone(),
                methods: protocol_forms::method_count(patch),
                active: patch.active,
            })
            .collect()
    }

    /// Undoes a patch. Undoing it twice has no effect.
    pub(super) fn undo_edits(&self, id: PatchId) -> Result<(), AttachError> {
        let agent = self.agent;
        let methods = {
            let mut table = agent.table.lock();
            let Some(patch) = table.patch(id) else {
                return Err(AttachError::UnknownPatch { id });
            };
            if !std::mem::replace(&mut patch.active, false) {
                return Ok(());
            }
            patch.methods.clone()
        };
        self.refresh_patterns();
        methods
            .iter()
            .for_each(|m| agent.methods.remove_edits(*m, id));
        self.update(&methods);
        self.renew_profiles(&methods);
        agent.append_records(&[Record::Undone { id: id.to_string() }]);
        Ok(())
    }
}

/// The most methods of one edit about which there is a warning each.
const MAX_WARNINGS: usize = 5;

/// The edit that an error names if the spec has none.
const NO_EDIT: EditKind = EditKind::Skip {
    fragment: FragmentId(0),
};

/// Name and descriptor of a target.
fn method_label(target: &Target) -> Option<String> {
    let state = target.class.state();
    let method = state.methods.with_id(target.method)?;
    Some(format!("{}{}", method.name, method.descriptor))
}

fn refused(class: &Class, method: &str, edit: &EditKind, reason: &Refusal) -> AttachError {
    AttachError::EditRefused {
        class: class.dotted.to_string(),
        method: method.into(),
        edit: Box::new(edit.clone()),
        reason: format!("{} ({})", reason, reason.name()),
    }
}

pub(super) fn method_refused(class: &Class, method: &str, reason: &Refusal) -> AttachError {
    AttachError::MethodRefused {
        class: class.dotted.to_string(),
        method: method.into(),
        reason: reason.name().to_string(),
        detail: reason.to_string(),
    }
}

/// The edit that an error names: the first one that fails together with those before it, otherwise
/// the last one.
fn failing_edit(spec: &EditSpec, edits: &[Edit], method: &Method, armed: &ArmedCode) -> EditKind {
    // The edits of the spec are the first ones.
    let count = (1..=spec.edits.len().min(edits.len()))
        .find(|n| patch::apply(method, &edits[..*n], &armed.points).is_err())
        .unwrap_or(spec.edits.len());
    let edit = spec.edits.get(count.saturating_sub(1));
    edit.cloned().unwrap_or(NO_EDIT)
}

/// How often the blocks of a method were passed, in the form of the rewriter.
fn passes_of(spec: &EditSpec, class: &str, method: &str) -> impl Iterator<Item = Edit> {
    spec.passes
        .iter()
        .filter(move |passes| passes.class == class && passes.method == method)
        .flat_map(|passes| &passes.passes)
        .map(|(fragment, count)| Edit::Passes {
            fragment: *fragment,
            count: *count,
        })
}
