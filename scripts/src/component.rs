//! Components: plans that are managed as a whole, with a name and a version.
//!
//! ```text
//!   component("slow orders", "1.1")   the plan's top level attaches instruments and edits,
//!                                     and registers callbacks and an analyser
//!   component("slow orders", "1.2")   runs too ─▶ success: 1.1 is detached and forgotten
//!                                              ─▶ error: 1.2 is detached, and 1.1 remains
//!   detached                          has no instruments, edits or callbacks; its analyser can
//!                                     still be called
//! ```
//!
//! A plan that does not call `component(…)` is a component too, as long as it has instruments,
//! edits or callbacks. Its name is the plan's file name, it has no version, and it replaces no
//! other component.
//!
//! This module holds no lock while a plan runs or the runtime is called.

use crate::context::PlanContext;
use crate::error::PlanError;
use crate::json;
use crate::limits;
use crate::ownership::{Attachment, Ownership};
use crate::running_plan::{CallbackCall, RunningPlan};
use parking_lot::Mutex;
use rhai::{Dynamic, EvalAltResult};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;
use veneer_instruments::PlanInstanceId;
use veneer_instruments::table::format_count;

/// The current state of a component.
#[derive(Clone, Debug)]
pub struct Component {
    /// The number of the plan instance; see `PlanSession::reserve`.
    pub instance: PlanInstanceId,
    /// The declared name, otherwise the plan's name.
    pub name: String,
    /// `None` if the plan has declared no version.
    pub version: Option<String>,
    /// The plan's name: its file name.
    pub plan: String,
    /// The time at which the plan began.
    pub since: Instant,
    /// The parameters that the plan has requested with `param(…)`, and their values as text.
    pub parameters: BTreeMap<String, String>,
    /// The instruments and edits that are attached now, oldest first.
    pub things: Vec<Attachment>,
    /// The number of waiting callbacks. Only [`crate::PlanSession::components`] sets this number.
    pub callbacks: usize,
    /// Whether the component has an analyser.
    pub analyser: bool,
    /// False after the component was detached as a whole.
    pub attached: bool,
}

/// The report of an analyser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The name of the component.
    pub name: String,
    /// The version of the component, if it has one.
    pub version: Option<String>,
    /// The report as `print` shows it; empty for `()`.
    pub text: String,
    /// The report as JSON.
    pub json: String,
}

/// The reason why a component returns no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// No component has this name.
    #[error("there is no component `{name}`{}", known(others))]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of the existing components.
        others: Vec<String>,
    },
    /// The plan has not called `analyse(…)`.
    #[error("the component `{0}` has no analyser: its plan needs analyse(|| …)")]
    NoAnalyser(String),
    /// The analyser requests its own report.
    #[error("the analyser of `{0}` is at work already: an analyser cannot ask for its own report")]
    Busy(String),
    /// The analyser has failed.
    #[error(transparent)]
    Failed(#[from] PlanError),
}

fn known(others: &[String]) -> String {
    match others {
        [] => ", nor any other".to_owned(),
        some => format!(": there are {}", some.join(", ")),
    }
}

struct ComponentEntry {
    context: Arc<PlanContext>,
    /// Alive as long as a callback or the analyser of the plan exists.
    running_plan: Weak<RunningPlan>,
    analyser: Option<Arc<CallbackCall>>,
}

impl ComponentEntry {
    fn has_name(&self, name: &str) -> bool {
        self.name() == name || name.parse() == Ok(self.context.instance)
    }

    fn name(&self) -> String {
        let declared = self.context.component_declaration();
        declared.map_or_else(|| self.context.name.clone(), |d| d.name)
    }

    /// Whether the component is listed even if it has nothing attached.
    fn is_lasting(&self) -> bool {
        self.analyser.is_some() || self.context.component_declaration().is_some()
    }

    /// Whether the component is still listed: it has something attached, or can have.
    fn is_listed(&self, things: &BTreeMap<PlanInstanceId, Vec<Attachment>>) -> bool {
        if self.analyser.is_some() {
            return true;
        }
        if self.context.is_detached() {
            return false;
        }
        self.context.component_declaration().is_some()
            || self.running_plan.strong_count() > 0
            || things.contains_key(&self.context.instance)
    }

    fn to_component(&self, things: &BTreeMap<PlanInstanceId, Vec<Attachment>>) -> Component {
        let text = |(name, value): (String, Dynamic)| (name, value.to_string());
        Component {
            instance: self.context.instance,
            name: self.name(),
            version: self.context.component_declaration().map(|d| d.version),
            plan: self.context.name.clone(),
            since: self.context.began,
            parameters: self
                .context
                .params
                .requested()
                .into_iter()
                .map(text)
                .collect(),
            things: things
                .get(&self.context.instance)
                .cloned()
                .unwrap_or_default(),
            callbacks: 0,
            analyser: self.analyser.is_some(),
            attached: !self.context.is_detached(),
        }
    }
}

/// The components of a session, in order of loading.
#[derive(Default)]
pub(crate) struct Components(Mutex<Vec<ComponentEntry>>);

/// The result of an analyser.
pub(crate) struct AnalyserReport {
    pub(crate) value: Dynamic,
    pub(crate) text: String,
    pub(crate) json: String,
}

/// Detaches everything that a plan has attached. Its callbacks do not run any more.
pub(crate) fn detach_all(context: &PlanContext) {
    context.set_detached();
    context
        .ownership
        .detach_instance(context.instance, context.runtime.as_ref());
}

impl Components {
    /// Adds a plan whose top level has run. Removes the older components of the same declared name,
    /// and returns them.
    pub(crate) fn add(
        &self,
        running_plan: &Arc<RunningPlan>,
        analyser: Option<CallbackCall>,
    ) -> Vec<Arc<PlanContext>> {
        let entry = ComponentEntry {
            context: running_plan.context.clone(),
            running_plan: Arc::downgrade(running_plan),
            analyser: analyser.map(Arc::new),
        };
        let name = running_plan
            .context
            .component_declaration()
            .map(|declared| declared.name);
        let mut removed = Vec::new();
        {
            let mut all = self.0.lock();
            let same = |old: &ComponentEntry| {
                let old = old.context.component_declaration();
                old.is_some() && old.map(|declared| declared.name) == name
            };
            for at in (0..all.len()).rev() {
                if same(&all[at]) {
                    removed.push(all.remove(at));
                }
            }
            all.push(entry);
        }
        removed.iter().map(|entry| entry.context.clone()).collect()
    }

    /// Returns the listed components. Forgets those that are not listed any more.
    pub(crate) fn list(&self, ownership: &Ownership) -> Vec<Component> {
        let things = ownership.by_instance();
        let mut removed = Vec::new();
        let mut all = self.0.lock();
        let mut off = all
            .iter()
            .filter(|entry| entry.context.is_detached())
            .count();
        let mut left = Vec::new();
        for entry in std::mem::take(&mut *all) {
            let old = entry.context.is_detached() && off > limits::MAX_DETACHED_COMPONENTS;
            if entry.is_listed(&things) && !old {
                left.push(entry);
            } else {
                off -= usize::from(entry.context.is_detached());
                removed.push(entry);
            }
        }
        *all = left;
        let components = all
            .iter()
            .map(|entry| entry.to_component(&things))
            .collect();
        // The entries own values of plans, so they are dropped after the lock is released.
        drop(all);
        drop(removed);
        components
    }

    /// Forgets a plan instance.
    pub(crate) fn forget(&self, instance: PlanInstanceId) {
        let removed: Vec<ComponentEntry> = {
            let mut all = self.0.lock();
            let (removed, left) = std::mem::take(&mut *all)
                .into_iter()
                .partition(|entry| entry.context.instance == instance);
            *all = left;
            removed
        };
        for entry in removed {
            entry.context.set_detached();
        }
    }

    /// Returns the components with this name (or plan instance, `l3`), oldest first.
    pub(crate) fn by_name(&self, name: &str) -> Vec<Arc<PlanContext>> {
        let all = self.0.lock();
        let named = all.iter().filter(|entry| entry.has_name(name));
        named.map(|entry| entry.context.clone()).collect()
    }

    /// Returns the plan instance with this number.
    pub(crate) fn by_instance(&self, instance: PlanInstanceId) -> Option<Arc<PlanContext>> {
        let all = self.0.lock();
        let found = all.iter().find(|entry| entry.context.instance == instance);
        found.map(|entry| entry.context.clone())
    }

    /// Calls the analyser of the newest component with this name that has an analyser. `level` is
    /// the call depth of the plan that requests the report.
    pub(crate) fn run_analyser(
        &self,
        name: &str,
        level: usize,
    ) -> Result<(Arc<PlanContext>, AnalyserReport), AnalysisError> {
        let (context, analyser) = {
            let all = self.0.lock();
            let named = || all.iter().rev().filter(|entry| entry.has_name(name));
            let Some(entry) = named().find(|e| e.analyser.is_some()).or(named().next()) else {
                let others = all.iter().filter(|e| e.is_lasting());
                return Err(AnalysisError::Unknown {
                    name: name.to_owned(),
                    others: others.map(ComponentEntry::name).collect(),
                });
            };
            (entry.context.clone(), entry.analyser.clone())
        };
        let Some(analyser) = analyser else {
            return Err(AnalysisError::NoAnalyser(name.to_owned()));
        };
        if context.analysing.swap(true, Ordering::Relaxed) {
            return Err(AnalysisError::Busy(name.to_owned()));
        }
        let report = analyse(&analyser, level);
        context.analysing.store(false, Ordering::Relaxed);
        Ok((context, report?))
    }

    /// Returns the analysers that run when the JVM exits: those of the components that are not
    /// detached.
    pub(crate) fn last_reports(&self) -> Vec<(Arc<PlanContext>, Arc<CallbackCall>)> {
        let all = self.0.lock();
        let standing = all.iter().filter(|entry| !entry.context.is_detached());
        let analysers = standing.filter_map(|e| Some((e.context.clone(), e.analyser.clone()?)));
        analysers.collect()
    }
}

/// Runs an analyser.
pub(crate) fn analyse(analyser: &CallbackCall, level: usize) -> Result<AnalyserReport, PlanError> {
    analyser
        .running_plan
        .guard(analyser.position, |running_plan| {
            let value = match running_plan.call_at(&analyser.function, level) {
                Ok(value) => value.flatten(),
                // `exit()` ends only this call.
                Err(error) if matches!(error.unwrap_inner(), EvalAltResult::Exit(..)) => {
                    Dynamic::UNIT
                }
                Err(error) => return Err(error),
            };
            let text = running_plan.show(value.clone(), None)?;
            let json = json::to_json_within(&value, limits::MAX_REPORT_BYTES)
                .filter(|_| text.len() <= limits::MAX_REPORT_BYTES)
                .ok_or_else(|| {
                    let limit = format_count(limits::MAX_REPORT_BYTES as u64);
                    format!("the report is larger than {limit} bytes, the limit of an analyser")
                })?;
            Ok(AnalyserReport { value, text, json })
        })
}

impl Analysis {
    pub(crate) fn from_report(context: &PlanContext, report: AnalyserReport) -> Self {
        let declared = context.component_declaration();
        let name = declared.as_ref().map_or(&context.name, |d| &d.name).clone();
        Analysis {
            name,
            version: declared.map(|d| d.version),
            text: report.text,
            json: report.json,
        }
    }
}
