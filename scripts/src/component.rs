//! Components: what a plan deploys, as a whole with a name and a version.
//!
//! ```text
//!   component("slow orders", "1.1")   the plan's top level runs ─▶ attached: instruments, edits, callbacks, an analyser
//!   component("slow orders", "1.2")   runs too ─▶ well: 1.1 is taken off as a whole and forgotten      ─▶ badly: 1.2 is, and 1.1 stays
//!   taken off                         nothing of it is attached, its callbacks are cancelled; its analyser can still be asked
//! ```
//!
//! A plan that does not say what it is called is a component too, as long as something of it is left: its file's name is its name, it has no
//! version, and it takes no other's place.
//!
//! No lock is held here while a plan runs or the runtime is asked.

use crate::api::json;
use crate::context::{Context, lock};
use crate::error::PlanError;
use crate::ledger::{Ledger, Thing};
use crate::limits;
use crate::loaded::{Call, Loaded};
use rhai::{Dynamic, EvalAltResult};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;
use veneer_instruments::table::count;

/// What a plan says of what it deploys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// A component as it stands.
#[derive(Clone, Debug)]
pub struct Component {
    /// The load of its plan; see `Session::reserve`.
    pub load: u64,
    /// What its plan calls it, else the plan's name.
    pub name: String,
    /// None where its plan says nothing.
    pub version: Option<String>,
    /// The plan's name: its file name.
    pub plan: String,
    /// When its plan began.
    pub since: Instant,
    /// What the plan asked for with `param(…)`, and what it got, as text.
    pub parameters: BTreeMap<String, String>,
    /// Attached and not taken off, oldest first.
    pub things: Vec<Thing>,
    /// Callbacks that wait; known to [`crate::Session::components`] only.
    pub callbacks: usize,
    /// It can be asked for a report.
    pub analyser: bool,
    /// It has not been taken off as a whole.
    pub attached: bool,
}

/// What an analyser gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The component's name.
    pub name: String,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// As `print` shows it; empty for `()`.
    pub text: String,
    /// The same as JSON.
    pub json: String,
}

/// Why a component gives no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// There is none of this name.
    #[error("there is no component `{name}`{}", known(others))]
    Unknown {
        /// As it was asked for.
        name: String,
        /// Those that there are.
        others: Vec<String>,
    },
    /// Its plan has no `analyse(…)`.
    #[error("the component `{0}` has no analyser: its plan needs analyse(|| …)")]
    NoAnalyser(String),
    /// An analyser that asks for its own report.
    #[error("the analyser of `{0}` is at work already: an analyser cannot ask for its own report")]
    Busy(String),
    /// The analyser failed.
    #[error(transparent)]
    Failed(#[from] PlanError),
}

fn known(others: &[String]) -> String {
    match others {
        [] => ", nor any other".to_owned(),
        some => format!(": there are {}", some.join(", ")),
    }
}

struct Entry {
    context: Arc<Context>,
    /// Lives as long as a callback of it does.
    loaded: Weak<Loaded>,
    analyser: Option<Arc<Call>>,
}

impl Entry {
    fn is_called(&self, name: &str) -> bool {
        self.name() == name
            || name.strip_prefix('l').and_then(|n| n.parse().ok()) == Some(self.context.load)
    }

    fn name(&self) -> String {
        let declared = self.context.declared();
        declared.map_or_else(|| self.context.name.clone(), |d| d.name)
    }

    /// It stands whether something of it is attached or not.
    fn is_lasting(&self) -> bool {
        self.analyser.is_some() || self.context.declared().is_some()
    }

    /// Something is left of it, or is to be.
    fn stands(&self, things: &BTreeMap<u64, Vec<Thing>>) -> bool {
        if self.analyser.is_some() {
            return true;
        }
        if self.context.is_off() {
            return false;
        }
        self.context.declared().is_some()
            || self.loaded.strong_count() > 0
            || things.contains_key(&self.context.load)
    }

    fn view(&self, things: &BTreeMap<u64, Vec<Thing>>) -> Component {
        let text = |(name, value): (String, Dynamic)| (name, value.to_string());
        Component {
            load: self.context.load,
            name: self.name(),
            version: self.context.declared().map(|d| d.version),
            plan: self.context.name.clone(),
            since: self.context.began,
            parameters: self
                .context
                .settings
                .asked()
                .into_iter()
                .map(text)
                .collect(),
            things: things.get(&self.context.load).cloned().unwrap_or_default(),
            callbacks: 0,
            analyser: self.analyser.is_some(),
            attached: !self.context.is_off(),
        }
    }
}

/// The components of a session, in order of loading.
#[derive(Default)]
pub(crate) struct Components(Mutex<Vec<Entry>>);

/// What came of asking an analyser.
pub(crate) struct Report {
    pub(crate) value: Dynamic,
    pub(crate) text: String,
    pub(crate) json: String,
}

/// Takes all off that a plan attached; its callbacks do not run any more.
pub(crate) fn take_off(context: &Context) {
    context.set_off();
    context
        .ledger
        .take_off(context.load, context.runtime.as_ref());
}

impl Components {
    /// A plan's top level has run. Of the name that it gave there is no other any more; gives those that there were.
    pub(crate) fn add(&self, loaded: &Arc<Loaded>, analyser: Option<Call>) -> Vec<Arc<Context>> {
        let entry = Entry {
            context: loaded.context.clone(),
            loaded: Arc::downgrade(loaded),
            analyser: analyser.map(Arc::new),
        };
        let name = loaded.context.declared().map(|declared| declared.name);
        let mut gone = Vec::new();
        {
            let mut all = lock(&self.0);
            let same = |old: &Entry| {
                let old = old.context.declared();
                old.is_some() && old.map(|declared| declared.name) == name
            };
            for at in (0..all.len()).rev() {
                if same(&all[at]) {
                    gone.push(all.remove(at));
                }
            }
            all.push(entry);
        }
        gone.iter().map(|entry| entry.context.clone()).collect()
    }

    /// All that stand. Those of which nothing is left are forgotten.
    pub(crate) fn list(&self, ledger: &Ledger) -> Vec<Component> {
        let things = ledger.by_load();
        let mut gone = Vec::new();
        let mut all = lock(&self.0);
        let mut off = all.iter().filter(|entry| entry.context.is_off()).count();
        let mut left = Vec::new();
        for entry in std::mem::take(&mut *all) {
            let old = entry.context.is_off() && off > limits::COMPONENTS_OFF;
            if entry.stands(&things) && !old {
                left.push(entry);
            } else {
                off -= usize::from(entry.context.is_off());
                gone.push(entry);
            }
        }
        *all = left;
        let views = all.iter().map(|entry| entry.view(&things)).collect();
        // What plans hold is dropped without the lock.
        drop(all);
        drop(gone);
        views
    }

    /// Forgets a load.
    pub(crate) fn forget(&self, load: u64) {
        let gone: Vec<Entry> = {
            let mut all = lock(&self.0);
            let (gone, left) = std::mem::take(&mut *all)
                .into_iter()
                .partition(|entry| entry.context.load == load);
            *all = left;
            gone
        };
        for entry in gone {
            entry.context.set_off();
        }
    }

    /// Those of this name (or load, `l3`), the oldest first.
    pub(crate) fn of_name(&self, name: &str) -> Vec<Arc<Context>> {
        let all = lock(&self.0);
        let named = all.iter().filter(|entry| entry.is_called(name));
        named.map(|entry| entry.context.clone()).collect()
    }

    /// The plan of a load.
    pub(crate) fn of_load(&self, load: u64) -> Option<Arc<Context>> {
        let all = lock(&self.0);
        let found = all.iter().find(|entry| entry.context.load == load);
        found.map(|entry| entry.context.clone())
    }

    /// Asks the newest of this name for its report. `level` says how deep in calls the plan that asks is.
    pub(crate) fn ask(
        &self,
        name: &str,
        level: usize,
    ) -> Result<(Arc<Context>, Report), AnalysisError> {
        let (context, analyser) = {
            let all = lock(&self.0);
            let named = || all.iter().rev().filter(|entry| entry.is_called(name));
            let Some(entry) = named().find(|e| e.analyser.is_some()).or(named().next()) else {
                let others = all.iter().filter(|e| e.is_lasting());
                return Err(AnalysisError::Unknown {
                    name: name.to_owned(),
                    others: others.map(Entry::name).collect(),
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

    /// The JVM ends: what those give that have not been taken off, as text or as an error.
    pub(crate) fn last_reports(&self) -> Vec<(Arc<Context>, Arc<Call>)> {
        let all = lock(&self.0);
        let standing = all.iter().filter(|entry| !entry.context.is_off());
        let analysers = standing.filter_map(|e| Some((e.context.clone(), e.analyser.clone()?)));
        analysers.collect()
    }
}

/// Runs an analyser.
pub(crate) fn analyse(analyser: &Call, level: usize) -> Result<Report, PlanError> {
    analyser.loaded.guard(analyser.position, |loaded| {
        let value = match loaded.call_at(&analyser.function, level) {
            Ok(value) => value.flatten(),
            // `exit()` ends this call and nothing else.
            Err(error) if matches!(error.unwrap_inner(), EvalAltResult::Exit(..)) => Dynamic::UNIT,
            Err(error) => return Err(error),
        };
        let text = loaded.show(value.clone(), None)?;
        let json = json::text_within(&value, limits::REPORT_BYTES)
            .filter(|_| text.len() <= limits::REPORT_BYTES)
            .ok_or_else(|| {
                let limit = count(limits::REPORT_BYTES as u64);
                format!("the report is larger than {limit} bytes, the limit of an analyser")
            })?;
        Ok(Report { value, text, json })
    })
}

impl Analysis {
    pub(crate) fn of(context: &Context, report: Report) -> Self {
        let declared = context.declared();
        let name = declared.as_ref().map_or(&context.name, |d| &d.name).clone();
        Analysis {
            name,
            version: declared.map(|d| d.version),
            text: report.text,
            json: report.json,
        }
    }
}
