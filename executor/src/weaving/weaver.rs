//! Putting attached instruments into a class: which of its methods they select, where they stand there, and with which
//! counters. What each of them does there is in `weave`; bringing the JVM to it, in `methods`.

use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::classes::selection;
use crate::jvm::jni::{Env, jclass};
use crate::plans::instrument_registry::{InstalledPoint, SlotKey};
use crate::plans::journal_records;
use crate::weaving::analysis;
use crate::weaving::derived_counts;
use crate::weaving::planned_probe::{Join, Limit, Run, Step, View};
use crate::weaving::planner;
use crate::weaving::probe_scope::{Found, Sight};
use crate::weaving::target_switch::Turns;
use crate::weaving::woven_methods::Probes;
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::ArmedCode;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::Counting;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::reachable;
use veneer_instruments::{AttachError, InstrumentId, Place, Spec};
use veneer_probes::error::Reason;
use veneer_probes::{Code, ProbeError};

/// The class can be patched from now on.
pub fn mark_prepared(agent: &Agent, env: Env, record: &Arc<Class>, class: jclass) {
    let mut state = record.state();
    if state.class.is_none() && agent.tool.is_prepared(class) {
        state.class = Some(Arc::new(env.weak(class)));
    }
}

/// Weaves all attached instruments that select methods of a class that has just been prepared into it. Nothing of it runs yet.
pub fn weave_loaded(agent: &Agent, env: Env, class: &Arc<Class>) {
    let mut turns = Turns::default();
    weave_and_say(agent, env, class, false, &mut turns);
    carry_out(agent, env, &mut turns);
}

fn weave_and_say(agent: &Agent, env: Env, class: &Arc<Class>, eager: bool, turns: &mut Turns) {
    for (instrument, error) in weave_class(agent, env, class, eager, turns) {
        // Nobody waits for an answer as when it is attached.
        let is_news = matches!(
            error,
            AttachError::NotCompiled { .. } | AttachError::TooManyPoints { .. }
        );
        if !is_news {
            continue;
        }
        let mut tables = agent.table.lock();
        let Some(i) = tables.instrument(instrument) else {
            continue;
        };
        // Single instructions differ, and in many methods there are only such as do not fit.
        if matches!(i.spec.place, Place::Instructions(_)) && waits_to_be_said(&error) {
            i.deferred_error.get_or_insert(error.to_string());
            continue;
        }
        let plan = i.spec.plan.clone();
        drop(tables);
        agent.problem(&plan, &error.to_string());
    }
}

fn waits_to_be_said(error: &AttachError) -> bool {
    matches!(error, AttachError::NotCompiled { .. })
}

/// Weaves the classes again in which code waits for a class that has just been prepared. They may be running, and there is no object of
/// the new class yet.
pub fn weave_awaiting(agent: &Agent, env: Env, name: &str) {
    let waiting = agent.awaited.take(name);
    if waiting.is_empty() {
        return;
    }
    let mut turns = Turns::default();
    for class in waiting {
        weave_and_say(agent, env, &class, true, &mut turns);
    }
    carry_out(agent, env, &mut turns);
}

/// Has what was woven take effect.
pub fn carry_out(agent: &Agent, env: Env, turns: &mut Turns) {
    for (class, id, reason) in agent.methods.carry_out(agent, env, turns) {
        take_off(agent, &class, id, &reason);
    }
}

/// Weaves all attached instruments that select methods of this class into it. Called for a class that has just been
/// prepared, and for every armed class when an instrument is attached; whoever comes first does a method. Returns what
/// the specs ask of single methods in vain. It takes effect with [`carry_out`].
///
/// `eager`: see [`crate::weaving::woven_methods::Methods::prepare`].
pub fn weave_class(
    agent: &Agent,
    env: Env,
    class: &Arc<Class>,
    eager: bool,
    turns: &mut Turns,
) -> Vec<(InstrumentId, AttachError)> {
    let mut errors = Vec::new();
    let (original, methods) = {
        let state = class.state();
        if state.class.is_none() {
            return errors;
        }
        (state.original.clone(), state.methods.clone())
    };
    // Before the lock is taken: the JVM is asked for it.
    let facts = selection::asked(agent.tool, env, class, agent.plan_patterns().iter());
    let facts = facts.as_deref();
    let mut work: Vec<(InstrumentId, Spec, u32, String)> = Vec::new();
    {
        let mut tables = agent.table.lock();
        for (n, i) in tables.instruments.iter_mut().enumerate().filter(|(_, i)| {
            i.attached
                && i.spec
                    .patterns
                    .iter()
                    .any(|p| p.matches_class(&class.dotted))
        }) {
            for m in &methods {
                let named = (m.name.as_str(), m.descriptor.as_str());
                if i.spec.selects(&class.dotted, facts, m.id, named) && i.tried.insert(m.id) {
                    work.push((
                        InstrumentId(n as u32 + 1),
                        i.spec.of_method(m.id),
                        m.id,
                        format!("{}{}", m.name, m.descriptor),
                    ));
                }
            }
        }
    }
    if work.is_empty() {
        return errors;
    }
    let Ok(file) = ClassFile::parse(&original) else {
        return errors;
    };
    let mut awaits: Vec<(InstrumentId, u32, String)> = Vec::new();
    let found = Found::default();
    let mut changed: Vec<u32> = Vec::new();
    let mut records = Vec::new();
    for (instrument, spec, id, label) in &work {
        let joined = analysis::analyse(agent, &file, class, *id)
            .map_err(|reason| (reason.name(), reason.to_string()))
            .and_then(|(method, armed)| {
                if matches!(spec.place, Place::Blocks | Place::Edges) && method.is_constructor() {
                    refuse_before_super(agent, class, &method, &armed, label);
                }
                let compile =
                    |code: &Code, view| compile(agent, env, class, &method, (code, view, &found));
                let joins = planner::joins(spec, &method, &armed, &compile);
                let joins = joins.map_err(|e| {
                    let detail = e.to_string();
                    match planner::waits_for(&e) {
                        Some(name) => {
                            awaits.push((*instrument, *id, name.replace('.', "/")));
                            (WAITS.to_string(), detail)
                        }
                        None => {
                            let name = variant(&e);
                            errors.push((*instrument, e));
                            (name, detail)
                        }
                    }
                })?;
                let stands = {
                    let mut tables = agent.table.lock();
                    tables.instrument(*instrument).map_or(0, |i| i.points.len())
                };
                if stands + joins.len() > spec.limit as usize {
                    let limit = spec.limit;
                    let error = AttachError::TooManyPoints { limit };
                    let named = (variant(&error), error.to_string());
                    errors.push((*instrument, error));
                    return Err(named);
                }
                let by_flow = spec.counts_all() && joins.len() > 1 && !agent.methods.counts_each();
                let counting = by_flow.then(|| Counting::of(&method, &armed.points));
                stand(agent, class, (*id, label), &joins, counting, *instrument)
            });
        match joined {
            Ok((standing, probes)) if !probes.each.is_empty() => {
                records.push(journal_records::installed(
                    *instrument,
                    &class.dotted,
                    label,
                    &standing,
                ));
                let mut tables = agent.table.lock();
                if let Some(i) = tables.instrument(*instrument) {
                    i.points.extend(standing);
                    i.methods.insert(*id);
                }
                drop(tables);
                agent.methods.add_probes(*id, *instrument, probes);
                agent.accept(&class.dotted, label, WAITS);
                changed.push(*id);
            }
            Ok(_) => {}
            Err((reason, detail)) => {
                agent.refuse(&class.dotted, label, &reason, &detail);
                if reason != WAITS
                    && let Some(i) = agent.table.lock().instrument(*instrument)
                {
                    i.refused += 1;
                }
            }
        }
    }
    changed.sort_unstable();
    changed.dedup();
    // Before the first count can happen.
    agent.note(&records);
    let refused = agent
        .methods
        .prepare(agent, env, class, &changed, eager, turns);
    for (id, reason) in refused {
        take_off(agent, class, id, &reason);
    }
    let mut again = false;
    for (instrument, id, name) in &awaits {
        again |= agent.awaited.wait(name, class);
        if let Some(i) = agent.table.lock().instrument(*instrument) {
            i.tried.remove(id);
        }
    }
    // It may have come between the question and the wait.
    if again {
        errors.extend(weave_class(agent, env, class, eager, turns));
    }
    errors
}

/// Under this name the report has methods whose code waits for a class.
const WAITS: &str = "NotLoaded";

/// Compiles code for a place of a method of the class.
fn compile(
    agent: &Agent,
    env: Env,
    class: &Class,
    method: &Method,
    (code, view, found): (&Code, View, &Found),
) -> Result<Run, ProbeError> {
    let made = env.frame(|env| {
        agent.library.prepare(env)?;
        let host = class.local(env).unwrap_or(jclass::NULL);
        let sight = Sight::new(agent, env, host, method, view, found);
        let compiled = veneer_probes::compile::compile(code, &sight).map(|probe| {
            let (reads, operands) = sight.reads(&probe);
            let placed = probe.placed(&|table| agent.tallies.address(table));
            Run {
                method: Arc::new(placed),
                reads,
                operands,
            }
        });
        Ok(compiled)
    });
    made.unwrap_or_else(|e| {
        let reason = Reason::TooLarge {
            what: e.to_string(),
        };
        let place = Default::default();
        Err(ProbeError { place, reason })
    })
}

/// A method cannot have the version that what is woven into it asks for: the instruments that this version would have brought
/// do not stand there.
fn take_off(agent: &Agent, class: &Class, id: u32, reason: &Refusal) {
    agent.refuse_method(class, id, reason);
    let label = {
        let state = class.state();
        let method = state.methods.iter().find(|m| m.id == id);
        method.map_or_else(String::new, |m| format!("{}{}", m.name, m.descriptor))
    };
    for instrument in agent.methods.remove_unproven(id) {
        agent.note(&[journal_records::not_installed(
            instrument,
            &class.dotted,
            &label,
        )]);
        let mut tables = agent.table.lock();
        if let Some(i) = tables.instrument(instrument) {
            i.refused += 1;
            i.methods.remove(&id);
            let of_method = |s: &mut InstalledPoint| s.key.method == id && !s.is_unloaded;
            let rows = i.points.extract_if(.., of_method).filter_map(|s| s.row);
            let mut rows: Vec<_> = rows.collect();
            rows.dedup_by(|a, b| Arc::ptr_eq(a, b));
            tables.quarantine.append(&mut rows);
        }
    }
}

/// Records the fragments of a constructor in which no activation can be reached yet.
fn refuse_before_super(
    agent: &Agent,
    class: &Class,
    method: &Method,
    armed: &ArmedCode,
    label: &str,
) {
    let reached = reachable(method, &armed.points);
    let begin = armed.points.first().map_or(0, |p| p.instruction);
    for f in method
        .flow
        .fragments()
        .filter(|f| f.instructions.start < begin && !reached.contains(&f.id))
    {
        let reason = Refusal::BeforeSuper;
        agent.refuse(
            &class.dotted,
            &format!("{label}@{}", f.start),
            &reason.name(),
            &reason.to_string(),
        );
    }
}

fn variant(e: &AttachError) -> String {
    format!("{e:?}")
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric())
        .collect()
}

/// The cells of an instrument that acts so many times only, at its next point.
fn limit(agent: &Agent, instrument: InstrumentId) -> Result<Option<Limit>, (String, String)> {
    let mut tables = agent.table.lock();
    let Some(i) = tables.instrument(instrument) else {
        return Ok(None);
    };
    let Some(times) = i.spec.times else {
        return Ok(None);
    };
    if times.each || i.cells.is_empty() {
        let full = || {
            let full = AttachError::TallyTooLarge { entries: 1 };
            (variant(&full), full.to_string())
        };
        i.cells
            .push(agent.tallies.allocate_cells().ok_or_else(full)?);
    }
    let most = times.most;
    Ok(i.cells.last().map(|cell| Limit { cell: *cell, most }))
}

/// Gives counters to joins.
type Stood = (Vec<InstalledPoint>, Probes);

fn stand(
    agent: &Agent,
    class: &Class,
    (id, label): (u32, &str),
    joins: &[Join],
    counting: Option<Counting>,
    instrument: InstrumentId,
) -> Result<Stood, (String, String)> {
    let (mut standing, mut probes) = (Vec::new(), Probes::default());
    if let Some(counting) = counting
        && let Some(row) = derived_counts::allocate(agent, id, &counting)
    {
        probes.by_flow = Some((counting.probes(row.first), row));
    }
    let since = {
        let mut tables = agent.table.lock();
        tables
            .instrument(instrument)
            .filter(|i| i.spec.late)
            .and_then(|i| i.cells.first().copied())
    };
    let (dotted, named): (Arc<str>, Arc<str>) = (class.dotted.as_str().into(), label.into());
    for join in joins {
        let Some((site, step)) = join.sites.first().copied() else {
            continue;
        };
        let key = SlotKey {
            method: id,
            site,
            step,
        };
        let slot = if step == Step::Log {
            let mut tables = agent.table.lock();
            tables.log_points += 1;
            let point = tables.log_points;
            drop(tables);
            if !agent.rings.open_point(point) {
                let full =
                    Refusal::CountersExhausted(veneer_protocol::data::Rings::POINTS as usize);
                return Err((full.name(), full.to_string()));
            }
            point
        } else {
            let used = {
                let mut tables = agent.table.lock();
                let used = tables.free_by_key.get_mut(&key).and_then(Vec::pop);
                used.or_else(|| {
                    tables
                        .free_by_width
                        .get_mut(&join.slots())
                        .and_then(Vec::pop)
                })
            };
            let full = Refusal::CountersExhausted(crate::data::shards::SLOTS as usize);
            let fresh = || agent.shards.allocate(join.slots());
            used.or_else(fresh).ok_or((full.name(), full.to_string()))?
        };
        probes
            .each
            .extend(join.probes(slot, limit(agent, instrument)?, since));
        let base = match step {
            Step::Log | Step::Enter | Step::Turn | Step::Over => [0, 0],
            Step::Count | Step::Pass => [agent.shards.sum(slot), 0],
            Step::Start | Step::Stop | Step::Lap | Step::Since | Step::Known | Step::Until => {
                agent.shards.clear(slot + 2);
                agent.shards.clear(slot + 3);
                [agent.shards.sum(slot), agent.shards.sum(slot + 1)]
            }
        };
        standing.push(InstalledPoint {
            class: dotted.clone(),
            method: named.clone(),
            fragment: join.fragment,
            to: join.to,
            what: join.what.as_deref().map(Into::into),
            line: join.line,
            slot,
            step,
            values: join.values.iter().map(|v| v.0.clone()).collect(),
            base,
            last: None,
            key,
            row: probes.by_flow.as_ref().map(|p| p.1.clone()),
            is_unloaded: false,
        });
    }
    Ok((standing, probes))
}
