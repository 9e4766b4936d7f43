//! What plans can ask for: attaching and detaching instruments, edits, figures.

use crate::agent::Agent;
use crate::classes::class_names;
use crate::classes::method_analysis::analyse;
use crate::classes::queries;
use crate::classes::registry::Class;
use crate::classes::retransform;
use crate::classes::selection::MethodSelection;
use crate::data::aggregations;
use crate::data::monotonic::monotonic;
use crate::jvm::jni::Env;
use crate::plans::derived_counts::{read_points, wait_for_superseded_versions};
use crate::plans::instrument_registry::{Instrument, Patch};
use crate::plans::readings::{rows, standing_of};
use crate::plans::report;
use crate::plans::spent_time::Spent;
use crate::plans::warnings::{hint, near};
use crate::weaving::planned_probe::Step;
use crate::weaving::target_switch::SwitchBatch;
use crate::weaving::versions;
use crate::weaving::weaver::{self, weave_class};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::patch::{self, Edit};
use veneer_instruments::{
    ArmedClass, ArmedMethod, AttachError, Attached, EditKind, EditSpec, Entry, Event, Graph,
    InstrumentId, Kind, MethodPattern, PatchId, RefusalRow, Row, Runtime, Sample, Spec, Summary,
    Tally, TallyKind,
};
use veneer_protocol::data::Record;

/// The agent as plans see it. Used by the plan thread alone, whose JNI environment it holds.
pub struct Handle {
    agent: &'static Agent,
    env: Env,
}

// Safety: the trait asks for it, but the scheduler calls the runtime from the plan thread only, which made this value.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Handle {
    /// For the plan thread, with its environment.
    pub fn new(agent: &'static Agent, env: Env) -> Handle {
        Handle { agent, env }
    }

    fn refresh_patterns(&self) {
        let tables = self.agent.table.lock();
        let mut patterns: Vec<MethodPattern> = Vec::new();
        // Those of single methods that are there are not for what comes.
        let lasting = |i: &&Instrument| i.attached && i.spec.only.is_none();
        for i in tables.instruments.iter().filter(lasting) {
            patterns.extend(i.spec.patterns.iter().cloned());
        }
        for p in tables.patches.iter().filter(|p| p.active) {
            patterns.extend(p.spec.patterns.iter().cloned());
        }
        drop(tables);
        self.agent.set_plan_patterns(patterns);
    }

    /// How many armed methods the patterns select.
    fn selected(&self, classes: &[Arc<Class>], patterns: &[MethodPattern]) -> usize {
        let of = |class: &Arc<Class>| {
            let chosen = MethodSelection::new(self.agent.tool, self.env, class, patterns);
            let state = class.state();
            let methods = state.methods.iter();
            methods
                .filter(|m| chosen.selects(&m.name, &m.descriptor))
                .count()
        };
        classes.iter().map(of).sum()
    }

    /// A table of values that belong to objects.
    fn of_objects(&self, entries: u32) -> Result<u32, AttachError> {
        let tallies = &self.agent.tallies;
        let too_large = AttachError::TallyTooLarge { entries };
        if !(1..=aggregations::MOST).contains(&entries) {
            return Err(too_large);
        }
        let made = self.agent.library.objects(self.env, entries);
        let made = made.map_err(|error| AttachError::Vm {
            action: "making a table of values of objects".into(),
            detail: error.to_string(),
        })?;
        Ok(tallies.of_objects(made.ok_or(too_large)?))
    }

    fn edits_on(&self, spec: &EditSpec) -> Result<Vec<(Arc<Class>, u32)>, AttachError> {
        let (agent, edits) = (self.agent, edits_of(spec));
        let mut targets = Vec::new();
        for class in queries::classes(agent, self.env, &spec.patterns) {
            let Some(local) = class.local(self.env) else {
                continue;
            };
            self.env.delete(local);
            let (original, methods) = {
                let state = class.state();
                (state.original.clone(), state.methods.clone())
            };
            let selects = MethodSelection::new(agent.tool, self.env, &class, &spec.patterns);
            let chosen = methods.iter();
            let chosen: Vec<_> = chosen
                .filter(|m| selects.selects(&m.name, &m.descriptor))
                .collect();
            if chosen.is_empty() {
                continue;
            }
            let broken = |m: &str, reason: &Refusal| AttachError::MethodRefused {
                class: class.dotted.clone(),
                method: m.into(),
                reason: reason.name(),
                detail: reason.to_string(),
            };
            let file = ClassFile::parse(&original).map_err(|e| broken("", &e.into()))?;
            for m in chosen {
                let label = format!("{}{}", m.name, m.descriptor);
                let analysed =
                    analyse(&agent.policy, &file, &class, m.id).map_err(|e| broken(&label, &e))?;
                let (method, armed) = (&analysed.method, &analysed.armed);
                let mut all = agent.methods.edits(m.id);
                all.extend(edits.iter().copied());
                let kept = agent.methods.edit_points(m.id);
                let applied = patch::apply_keeping(method, &all, &armed.points, &kept);
                let comes_back = applied.and_then(|patched| {
                    let points = patched.edit_points.iter().map(|p| p.fragment);
                    let points: Vec<FragmentId> = points.collect();
                    versions::check_osr_entry(agent, self.env, &class, &analysed, &points)
                });
                if let Err(reason) = comes_back {
                    return Err(edit_refused(
                        &class, &label, spec, &edits, &reason, method, armed,
                    ));
                }
                targets.push((class.clone(), m.id));
            }
        }
        Ok(targets)
    }
}

fn edit_refused(
    class: &Class,
    label: &str,
    spec: &EditSpec,
    edits: &[Edit],
    reason: &Refusal,
    method: &veneer_fragmenter::method::Method,
    armed: &veneer_fragmenter::arming::ArmedCode,
) -> AttachError {
    // The first edit that fails together with those before it is the one to name.
    let first = (1..=edits.len())
        .find(|n| patch::apply(method, &edits[..*n], &armed.points).is_err())
        .unwrap_or(edits.len());
    let fallback = EditKind::Skip { fragment: 0 };
    AttachError::EditRefused {
        class: class.dotted.clone(),
        method: label.into(),
        edit: spec
            .edits
            .get(first.saturating_sub(1))
            .cloned()
            .unwrap_or(fallback),
        reason: format!("{} ({})", reason, reason.name()),
    }
}

fn edits_of(spec: &EditSpec) -> Vec<Edit> {
    let f = FragmentId;
    spec.edits
        .iter()
        .map(|e| match *e {
            EditKind::Redirect { from, to, target } => Edit::Redirect {
                from: f(from),
                to: f(to),
                target: f(target),
            },
            EditKind::Skip { fragment } => Edit::Skip {
                fragment: f(fragment),
            },
            EditKind::Replace { fragment, by } => Edit::Replace {
                fragment: f(fragment),
                by: f(by),
            },
        })
        .collect()
}

fn is_too_many(error: &AttachError) -> bool {
    matches!(error, AttachError::TooManyPoints { .. })
}

impl Runtime for Handle {
    fn attach(&self, spec: Spec) -> Result<Attached, AttachError> {
        let agent = self.agent;
        if spec.kind == Kind::Timer {
            agent.clock.set(agent.tool, &agent.library, self.env);
        }
        let late = match spec.late {
            true => Some(
                agent
                    .tallies
                    .cells()
                    .ok_or(AttachError::TallyTooLarge { entries: 1 })?,
            ),
            false => None,
        };
        let patterns = spec.patterns.clone();
        let only = spec.only.as_ref().map(|only| only.len());
        let id = {
            let mut tables = agent.table.lock();
            let instrument = Instrument {
                spec,
                attached: true,
                standing: Vec::new(),
                tried: HashSet::new(),
                methods: HashSet::new(),
                folded: 0,
                gone: 0,
                refused: 0,
                cells: late.into_iter().collect(),
                spent: Spent::now(),
                unsaid: None,
            };
            tables.instruments.push(instrument);
            InstrumentId(tables.instruments.len() as u32)
        };
        agent.note(&report::attached(agent, id));
        self.refresh_patterns();
        // Single methods were chosen among those that are armed.
        let armed_some = only.is_none() && retransform::arm(agent, self.env, &patterns);
        let mut errors = Vec::new();
        // In other classes nothing changes.
        let classes = queries::classes(agent, self.env, &patterns);
        let selected = only.unwrap_or_else(|| self.selected(&classes, &patterns));
        let eager = selected <= versions::MAX_EAGER_METHODS;
        let mut batch = SwitchBatch::default();
        for class in classes {
            errors.extend(weave_class(agent, self.env, &class, eager, &mut batch));
            if errors.iter().any(|e| e.0 == id && is_too_many(&e.1)) {
                break;
            }
            if eager || batch.is_full() {
                weaver::install_versions(agent, self.env, &mut batch);
            }
        }
        weaver::install_versions(agent, self.env, &mut batch);
        // All cells are set: an activation that is not in a version of this instrument began before now.
        if let Some(cell) = late {
            agent.tallies.set_cell(cell, monotonic() as i64);
        }
        let stands = agent
            .table
            .lock()
            .instrument(id)
            .is_some_and(|i| !i.standing.is_empty());
        let too_many = errors.iter().any(|e| e.0 == id && is_too_many(&e.1));
        let mut errors = errors.into_iter();
        let why = errors.find(|e| e.0 == id && (!too_many || is_too_many(&e.1)));
        if (!stands || too_many)
            && let Some((_, error)) = why
        {
            // It stands nowhere, or is not to, and here is why: nothing has been attached.
            self.detach(id)?;
            return Err(error);
        }
        let mut tables = agent.table.lock();
        let Some(i) = tables.instrument(id) else {
            return Err(AttachError::UnknownInstrument { id });
        };
        let mut attached = Attached {
            id,
            methods: i.method_count(),
            points: i.standing.len(),
            refused: i.refused,
            warnings: Vec::new(),
        };
        drop(tables);
        let late = agent.filter.only_plans.load(Ordering::Relaxed);
        if late {
            let obsolete = agent.obsolete_frames.warnings(
                agent.tool,
                self.env,
                &agent.registry,
                &patterns,
                armed_some,
            );
            attached.warnings.extend(obsolete);
        }
        // A method that has no such point (no loop, say) does match.
        if only == Some(0) {
            let warning = "the predicate holds for nothing that is loaded now, and is not asked again: attach later, in after(seconds, || …)";
            attached.warnings.push(warning.into());
        } else if agent.is_running() && selected == 0 && attached.refused == 0 {
            for pattern in &patterns {
                let kept = match late && pattern.has_annotations() {
                    true => {
                        "; of classes that were there before the agent, the JVM knows only annotations of retention RUNTIME"
                    }
                    false => "",
                };
                attached.warnings.push(format!("`{pattern}` matches no method that is loaded now (classes loaded later are matched too){kept}{}", hint(agent, self.env, pattern)));
            }
        }
        Ok(attached)
    }

    fn detach(&self, id: InstrumentId) -> Result<(), AttachError> {
        let agent = self.agent;
        let methods: Vec<u32> = {
            let mut tables = agent.table.lock();
            let Some(i) = tables.instrument(id) else {
                return Err(AttachError::UnknownInstrument { id });
            };
            if !std::mem::replace(&mut i.attached, false) {
                return Ok(());
            }
            i.methods.iter().copied().collect()
        };
        self.refresh_patterns();
        methods
            .iter()
            .for_each(|m| agent.methods.remove_probes(*m, id));
        self.update(&methods);
        self.renew_profiles(&methods);
        // From here on the figures stand still, and the counters may serve again.
        let standing = standing_of(agent, id);
        wait_for_superseded_versions(agent, self.env, &standing);
        // What a log recorded last may lie in its ring still.
        agent.rings.drain();
        let last = read_points(agent, &standing);
        let mut tables = agent.table.lock();
        if let Some(i) = tables.instrument(id) {
            i.standing
                .iter_mut()
                .zip(last)
                .for_each(|(s, data)| (s.last, s.row) = (Some(data), None));
        }
        drop(tables);
        agent.note(&[report::detached(agent, id)]);
        let mut tables = agent.table.lock();
        for s in standing.iter().filter(|s| s.step != Step::Log && !s.gone) {
            tables.free.entry(s.key).or_default().push(s.slot);
        }
        let mut rows: Vec<_> = standing.into_iter().filter_map(|s| s.row).collect();
        rows.dedup_by(|a, b| Arc::ptr_eq(a, b));
        tables.limbo.append(&mut rows);
        tables.leave_limbo(self.env);
        tables.retire(id);
        Ok(())
    }

    fn rows(&self, id: InstrumentId) -> Vec<Row> {
        rows(self.agent, id)
    }

    fn events(&self, id: InstrumentId, last: usize) -> Vec<Event> {
        let agent = self.agent;
        agent.rings.drain();
        let standing = standing_of(agent, id);
        let mut events: Vec<Event> = Vec::new();
        for s in standing.iter().filter(|s| s.step == Step::Log) {
            for e in agent.rings.last(s.slot, last) {
                events.push(Event {
                    class: s.class.to_string(),
                    method: s.method.to_string(),
                    fragment: s.fragment,
                    line: s.line,
                    thread: e.thread,
                    time_ns: e.time_ns.saturating_sub(agent.nano_began),
                    values: s.values.iter().cloned().zip(e.values).collect(),
                });
            }
        }
        events.sort_by_key(|e| e.time_ns);
        let skip = events.len().saturating_sub(last);
        events.split_off(skip)
    }

    fn edit(&self, spec: EditSpec) -> Result<PatchId, AttachError> {
        let agent = self.agent;
        let mut patterns = agent.plan_patterns().to_vec();
        patterns.extend(spec.patterns.iter().cloned());
        agent.set_plan_patterns(patterns);
        retransform::arm(agent, self.env, &spec.patterns);
        self.refresh_patterns();
        let targets = self.edits_on(&spec)?;
        if targets.is_empty() {
            let pattern = spec
                .patterns
                .first()
                .map(|p| p.to_string())
                .unwrap_or_default();
            let nearest = spec
                .patterns
                .first()
                .map(|p| near(agent, self.env, p))
                .unwrap_or_default();
            return Err(AttachError::NothingMatches { pattern, nearest });
        }
        let edits = edits_of(&spec);
        let id = {
            let mut tables = agent.table.lock();
            tables.patches.push(Patch {
                spec: spec.clone(),
                active: true,
                methods: targets.iter().map(|t| t.1).collect(),
                gone: 0,
            });
            PatchId(tables.patches.len() as u32)
        };
        self.refresh_patterns();
        targets
            .iter()
            .for_each(|(_, m)| agent.methods.add_edits(*m, id, edits.clone()));
        let methods: Vec<u32> = targets.iter().map(|t| t.1).collect();
        let refused = self.update(&methods);
        let Some((method, reason)) = refused.into_iter().next() else {
            agent.note(&report::edited(agent, id));
            return Ok(id);
        };
        // As a whole or not at all.
        self.undo(id)?;
        let class = targets.iter().find(|t| t.1 == method).map(|t| t.0.clone());
        let label = class.as_ref().and_then(|c| {
            c.state()
                .methods
                .iter()
                .find(|m| m.id == method)
                .map(|m| format!("{}{}", m.name, m.descriptor))
        });
        Err(AttachError::EditRefused {
            class: class.map(|c| c.dotted.clone()).unwrap_or_default(),
            method: label.unwrap_or_default(),
            edit: spec
                .edits
                .first()
                .cloned()
                .unwrap_or(EditKind::Skip { fragment: 0 }),
            reason: format!("{} ({})", reason, reason.name()),
        })
    }

    fn undo(&self, id: PatchId) -> Result<(), AttachError> {
        let agent = self.agent;
        let methods = {
            let mut tables = agent.table.lock();
            let Some(p) = tables.patch(id) else {
                return Err(AttachError::UnknownPatch { id });
            };
            if !std::mem::replace(&mut p.active, false) {
                return Ok(());
            }
            p.methods.clone()
        };
        self.refresh_patterns();
        methods
            .iter()
            .for_each(|m| agent.methods.remove_edits(*m, id));
        self.update(&methods);
        self.renew_profiles(&methods);
        agent.note(&[Record::Undone { id: id.to_string() }]);
        Ok(())
    }

    fn tally(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError> {
        if kind == TallyKind::PerObject {
            return self.of_objects(entries);
        }
        let made = (1..=aggregations::MOST)
            .contains(&entries)
            .then_some(entries);
        let made =
            made.and_then(|entries| self.agent.tallies.make(&self.agent.shards, kind, entries));
        let made = made.ok_or(AttachError::TallyTooLarge { entries })?;
        if let Some(places) = self.agent.tallies.texts(made) {
            // Without a row they are compared by what is in them.
            let row = self.agent.library.texts(self.env, places).unwrap_or(0);
            self.agent.tallies.know_texts(made, row);
        }
        if kind == TallyKind::Objects {
            let tallies = &self.agent.tallies;
            let (at, places) = (tallies.address(made), tallies.places(made));
            let kept = self.agent.library.keep(self.env, at, places);
            kept.map_err(|_| AttachError::TallyTooLarge { entries })?;
        }
        Ok(made)
    }

    fn tally_is(&self, table: u32, plan: &str, name: Option<&str>) {
        let label = aggregations::Label {
            plan: plan.into(),
            name: name.map(Into::into),
        };
        self.agent.tallies.label(table, label);
    }

    fn tally_now(&self, table: u32) -> Tally {
        let agent = self.agent;
        let Some(objects) = agent.tallies.objects(table) else {
            return agent.tallies.read(&agent.shards, table, agent.nano_began);
        };
        let (with, without) = agent
            .library
            .with_value(self.env, objects)
            .unwrap_or_default();
        let of = |count| Entry {
            count,
            ..Entry::default()
        };
        Tally {
            entries: vec![of(with)],
            rest: of(without),
            given: None,
        }
    }

    fn tally_clear(&self, table: u32) {
        self.agent.tallies.clear(&self.agent.shards, table);
    }

    fn armed(&self, patterns: &[MethodPattern], sample: Option<Sample>) -> Vec<ArmedMethod> {
        queries::list(self.agent, self.env, patterns, sample)
    }

    fn graphs(&self, patterns: &[MethodPattern]) -> Vec<Graph> {
        queries::graphs(self.agent, self.env, patterns)
    }

    fn classes(&self, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
        let mut all = self.agent.plan_patterns().to_vec();
        all.extend(patterns.iter().cloned());
        self.agent.set_plan_patterns(all);
        retransform::arm(self.agent, self.env, patterns);
        self.refresh_patterns();
        queries::describe_classes(self.agent, self.env, patterns)
    }

    fn graph(&self, method: u32) -> Option<Graph> {
        queries::graph(self.agent, method)
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        self.agent.refusals()
    }

    fn instruments(&self) -> Vec<Summary> {
        let tables = self.agent.table.lock();
        let summary = |(n, i): (usize, &Instrument)| Summary {
            id: InstrumentId(n as u32 + 1),
            name: i.spec.name.clone().unwrap_or_else(|| i.spec.to_string()),
            kind: i.spec.kind.to_string(),
            plan: i.spec.plan.clone(),
            methods: i.method_count(),
            points: i.standing.len(),
            attached: i.attached,
        };
        tables.instruments.iter().enumerate().map(summary).collect()
    }

    fn names(&self, beginning: &str, limit: usize) -> Vec<String> {
        class_names::complete(self.agent.tool, self.env, beginning, limit)
    }

    fn stale(&self) -> u64 {
        self.agent.methods.stale(self.agent, self.env)
    }

    fn print(&self, text: &str) {
        self.agent.print(text);
    }

    fn speaks(&self, load: u64) {
        self.agent.speaker.store(load, Ordering::Relaxed);
    }
}

/// Classes that are retransformed in one pause of the application. With a full code cache such a pause takes 50 ms for eight classes and 80 ms for
/// so many, most of it in walks over all compiled code and all classes: few pauses are better than short ones.
const AT_ONCE: usize = 256;

impl Handle {
    /// Gives methods that are back in their armed bodies a fresh profile, where something was woven in before they ever ran.
    ///
    /// While a version runs, each call still counts as one of the armed body, whose own call sites stay cold. The JIT
    /// would take those for rare for ever, and inline nothing over 35 bytes (`InlineFrequencyRatio`, `MaxInlineSize`).
    /// Retransformation to the same code starts the profile anew. Activations that have run for long are in a clean
    /// version, not in the armed body, so they are not held back by it.
    fn renew_profiles(&self, methods: &[u32]) {
        let (agent, env) = (self.agent, self.env);
        let mut seen = HashSet::new();
        let mut cold = Vec::new();
        for class in methods
            .iter()
            .filter_map(|id| agent.registry.of_method(*id))
        {
            if !seen.insert(class.first_id) {
                continue;
            }
            {
                let mut state = class.state();
                let idle = state.methods.iter().all(|m| agent.methods.is_idle(m.id));
                if !idle || !std::mem::take(&mut state.has_skewed_profile) {
                    continue;
                }
            }
            cold.extend(class.local(env));
        }
        for part in cold.chunks(AT_ONCE) {
            // A refusal only leaves the profile as it is.
            let _ = agent.tool.retransform(part);
        }
        cold.into_iter().for_each(|class| env.delete(class));
    }

    /// Has every point count for itself. A virtual thread that is parked stands where no look at the stacks finds it, so what
    /// follows from others would be off by as many as there are.
    pub fn count_each(&self) {
        let changed = self.agent.methods.count_each();
        self.update(&changed);
    }

    /// Brings methods of any classes up to date; refusals are recorded and returned.
    fn update(&self, methods: &[u32]) -> versions::RefusedMethods {
        let agent = self.agent;
        let mut by_class: std::collections::BTreeMap<u32, (Arc<Class>, Vec<u32>)> =
            Default::default();
        for id in methods {
            if let Some(class) = agent.registry.of_method(*id) {
                by_class
                    .entry(class.first_id)
                    .or_insert_with(|| (class, Vec::new()))
                    .1
                    .push(*id);
            }
        }
        let mut refused = Vec::new();
        let eager = methods.len() <= versions::MAX_EAGER_METHODS;
        let mut batch = SwitchBatch::default();
        for (class, ids) in by_class.into_values() {
            let bad = agent
                .methods
                .prepare(agent, self.env, &class, &ids, eager, &mut batch);
            refused.extend(
                bad.into_iter()
                    .map(|(id, reason)| (class.clone(), id, reason)),
            );
            if eager || batch.is_full() {
                refused.extend(agent.methods.install_versions(agent, self.env, &mut batch));
            }
        }
        refused.extend(agent.methods.install_versions(agent, self.env, &mut batch));
        let told = refused.into_iter().map(|(class, id, reason)| {
            agent.refuse_method(&class, id, &reason);
            (id, reason)
        });
        told.collect()
    }
}
