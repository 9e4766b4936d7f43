//! From a spec to probes: which join points of a method an instrument stands on, and with which counters.

use crate::weaving::instruction_sites::{Operand, operation};
use crate::weaving::loop_exits;
use crate::weaving::planned_probe::{Compile, Join, Run, Step, View};
use std::collections::HashMap;
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::arming::ArmedCode;
use veneer_fragmenter::bytecode::opcode::is_return;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::reachable;
use veneer_fragmenter::types::{State, Type};
use veneer_fragmenter::{Refusal, readable};
use veneer_instruments::{AttachError, Kind, Place, Spec, When};
use veneer_probes::error::Reason;

/// The joins of a spec in a method.
pub fn joins(
    spec: &Spec,
    method: &Method,
    armed: &ArmedCode,
    compile: Compile,
) -> Result<Vec<Join>, AttachError> {
    // Why code does not stand at a point. If it stands at others of the method, that is that.
    let mut failed = None;
    let mut code = |site: Site, operands: &[Operand]| match code(
        spec,
        method,
        armed,
        (site, operands),
        compile,
    ) {
        Ok(code) => Some(code),
        Err(error) => {
            // Whoever waits for a class puts in all of its points then.
            match &failed {
                Some(first) if waits_for(first).is_some() || waits_for(&error).is_none() => {}
                _ => failed = Some(error),
            }
            None
        }
    };
    let all = reachable(method, &armed.points);
    let class = method.class.replace('/', ".");
    let label = format!("{}{}", method.name, method.descriptor);
    let last = method.flow.len().saturating_sub(1) as u32;
    let named = |f: u32| {
        let id = FragmentId(f);
        if id.index() >= method.flow.len() {
            Err(AttachError::UnknownFragment {
                class: class.clone(),
                method: label.clone(),
                fragment: f,
                last,
            })
        } else if all.contains(&id) {
            Ok(id)
        } else {
            let reason = Refusal::BeforeSuper;
            Err(AttachError::MethodRefused {
                class: class.clone(),
                method: label.clone(),
                reason: reason.name(),
                detail: reason.to_string(),
            })
        }
    };
    // Fragments in the middle of which a line begins, and where.
    let mut inside: HashMap<FragmentId, u16> = HashMap::new();
    let fragments: Vec<FragmentId> = match &spec.place {
        Place::Blocks => all.clone(),
        Place::Block(list) => list.iter().map(|f| named(*f)).collect::<Result<_, _>>()?,
        Place::Loops => method
            .loops
            .headers()
            .map(|n| FragmentId(n.index() as u32))
            .filter(|f| all.contains(f))
            .collect(),
        Place::Exits => {
            let returns = |f: &FragmentId| {
                method
                    .flow
                    .get(*f)
                    .is_some_and(|f| is_return(method.instructions[f.instructions.end - 1].1.op()))
            };
            all.iter().copied().filter(returns).collect()
        }
        Place::Line(lines) => {
            let mut out = Vec::new();
            for line in lines {
                let starts = |f: &&FragmentId| {
                    method
                        .flow
                        .get(**f)
                        .is_some_and(|f| method.line(f.start) == Some(*line))
                };
                let holds = || {
                    method
                        .lines
                        .iter()
                        .find(|l| l.1 == *line)
                        .map(|l| (method.flow.holding(l.0), Some(l.0)))
                        .filter(|(f, _)| all.contains(f))
                };
                let first = all.iter().find(starts).map(|f| (*f, None));
                match first.or_else(holds) {
                    Some((f, pc)) => {
                        out.push(f);
                        inside.extend(pc.map(|pc| (f, pc)));
                    }
                    None => {
                        let own = || method.lines.iter().map(|l| l.1);
                        return Err(AttachError::UnknownLine {
                            class,
                            method: label,
                            line: *line,
                            first: own().min(),
                            last: own().max(),
                        });
                    }
                }
            }
            out
        }
        Place::Method
        | Place::Entry
        | Place::Edges
        | Place::Edge(_)
        | Place::LoopExits
        // Those of a method come as `Place::Block`.
        | Place::Chosen
        | Place::Instructions(_) => Vec::new(),
    };
    let first_line = method.instructions.first().and_then(|i| method.line(i.0));
    let step = match &spec.kind {
        Kind::Counter | Kind::Code(_) => Step::Count,
        Kind::Log(_) => Step::Log,
        Kind::Timer => Step::Lap,
    };
    let mut out = Vec::new();
    // The same of values to be logged, where there are many points.
    let mut unread = None;
    match &spec.place {
        Place::Method | Place::Entry => {
            let sites = match (&spec.kind, spec.when) {
                (Kind::Timer, _) => vec![
                    (Site::Entry, Step::Start),
                    (Site::Return, Step::Stop),
                    (Site::Throw, Step::Stop),
                ],
                (_, When::Before) => vec![(Site::Entry, step)],
                _ if spec.place == Place::Entry => vec![(Site::Entry, step)],
                (Kind::Log(_), _) => {
                    return Err(AttachError::Unsupported {
                        what: "a value log after a whole method".into(),
                        instead: "use .exits().before(log(…))".into(),
                    });
                }
                (_, When::After | When::Around) => vec![(Site::Return, step), (Site::Throw, step)],
            };
            let first = sites.first().map_or(Site::Entry, |s| s.0);
            if let Some(code) = code(first, &[]) {
                out.push(Join {
                    fragment: None,
                    to: None,
                    line: first_line,
                    sites,
                    values: values(spec, method, armed, Site::Entry)?,
                    what: None,
                    code,
                });
            }
            if spec.late {
                out.push(late(first_line));
            }
        }
        Place::Edges | Place::Edge(_) => {
            let mut edges: Vec<(FragmentId, FragmentId)> = method
                .flow
                .edges()
                .into_iter()
                .filter(|(a, _)| all.contains(a))
                .collect();
            if let Place::Edge(list) = &spec.place {
                for (from, to) in list {
                    named(*from)?;
                    named(*to)?;
                    if !edges.contains(&(FragmentId(*from), FragmentId(*to))) {
                        return Err(AttachError::UnknownEdge {
                            class,
                            method: label,
                            from: *from,
                            to: *to,
                        });
                    }
                }
                edges.retain(|(a, b)| list.contains(&(a.0, b.0)));
            }
            for (a, b) in edges {
                let line = method.flow.get(b).and_then(|f| method.line(f.start));
                let values = values(spec, method, armed, Site::Before(b))?;
                let Some(code) = code(Site::Edge(a, b), &[]) else {
                    continue;
                };
                out.push(Join {
                    fragment: Some(a.0),
                    to: Some(b.0),
                    line,
                    sites: vec![(Site::Edge(a, b), step)],
                    values,
                    what: None,
                    code,
                });
            }
        }
        Place::LoopExits => return loop_exits::joins(spec, method, &all, compile),
        Place::Instructions(which) => {
            let held = all.iter().filter_map(|f| method.flow.get(*f));
            for (f, at) in held.flat_map(|f| f.instructions.clone().map(move |at| (f.id, at))) {
                let Some(operation) = operation(which, method, at) else {
                    continue;
                };
                let pc = method.instructions[at].0;
                if !operation.goes_on && (spec.when == When::After || spec.kind == Kind::Timer) {
                    return Err(AttachError::Unsupported {
                        what: format!(
                            "anything after `{}`, from which control goes elsewhere,",
                            operation.text
                        ),
                        instead: "use .before(…), or .edges() for where it goes".into(),
                    });
                }
                let (before, behind) = (Site::At(pc), Site::Behind(pc));
                let (sites, operands) = match (&spec.kind, spec.when) {
                    (Kind::Timer, _) => (
                        vec![(before, Step::Start), (behind, Step::Stop)],
                        Vec::new(),
                    ),
                    (_, When::After) => {
                        (vec![(behind, step)], operation.result.into_iter().collect())
                    }
                    _ => (vec![(before, step)], operation.operands),
                };
                let site = sites.first().map_or(before, |s| s.0);
                let Some(code) = code(site, &operands) else {
                    continue;
                };
                let values = match values(spec, method, armed, site) {
                    Ok(values) => values,
                    Err(error) => {
                        unread.get_or_insert(error);
                        continue;
                    }
                };
                out.push(Join {
                    fragment: Some(f.0),
                    to: None,
                    line: method.line(pc),
                    values,
                    what: Some(format!("{} @{pc}", operation.text)),
                    code,
                    sites,
                });
            }
        }
        _ => {
            for f in fragments {
                let Some(fragment) = method.flow.get(f) else {
                    continue;
                };
                let at_end = matches!(spec.place, Place::Exits) || spec.when == When::After;
                let sites = match (&spec.kind, &spec.place) {
                    (Kind::Timer, Place::Exits) => {
                        return Err(AttachError::Unsupported {
                            what: "a timer around the exits of a method".into(),
                            instead: "use .around(timer()) on the methods themselves".into(),
                        });
                    }
                    (Kind::Timer, Place::Loops) => {
                        vec![(Site::Before(f), Step::Lap)]
                    }
                    (Kind::Timer, _) => {
                        vec![(Site::Before(f), Step::Start), (Site::After(f), Step::Stop)]
                    }
                    _ if at_end => vec![(Site::After(f), step)],
                    // Where the line itself begins, its variables have their values.
                    _ => match inside.get(&f) {
                        Some(pc) => vec![(Site::At(*pc), step)],
                        None => vec![(Site::Before(f), step)],
                    },
                };
                let pc = if matches!(spec.place, Place::Exits) {
                    method.instructions[fragment.instructions.end - 1].0
                } else {
                    inside.get(&f).copied().unwrap_or(fragment.start)
                };
                let values = values(spec, method, armed, sites[0].0)?;
                let Some(code) = code(sites[0].0, &[]) else {
                    continue;
                };
                out.push(Join {
                    fragment: Some(f.0),
                    to: None,
                    line: method.line(pc),
                    sites,
                    values,
                    what: None,
                    code,
                });
            }
            if spec.place == Place::Exits && spec.kind == Kind::Counter {
                // An exception that leaves the method leaves it by no fragment of its own.
                out.push(Join {
                    fragment: None,
                    to: None,
                    line: first_line,
                    sites: vec![(Site::Throw, step)],
                    values: Vec::new(),
                    what: None,
                    code: None,
                });
            }
        }
    }
    match failed.or(unread) {
        Some(error) if out.is_empty() || waits_for(&error).is_some() => Err(error),
        _ => Ok(out),
    }
}

/// What a late timer measures of activations that began before it was attached: a point of its own, since it is a lower bound.
fn late(line: Option<u16>) -> Join {
    Join {
        fragment: None,
        to: None,
        line,
        sites: vec![
            (Site::Crossing, Step::Since),
            (Site::Entry, Step::Known),
            (Site::Return, Step::Until),
            (Site::Throw, Step::Until),
        ],
        values: Vec::new(),
        what: Some(LATE.into()),
        code: None,
    }
}

/// How its row is called.
const LATE: &str = "began before: at least";

/// The class, with dots, that has to be loaded before code can be put in; none where that would not help.
pub fn waits_for(error: &AttachError) -> Option<&str> {
    match error {
        AttachError::NotCompiled { reason, .. } => match &reason.reason {
            Reason::NotLoaded { class } => Some(class),
            _ => None,
        },
        _ => None,
    }
}

/// The code of a spec for a site.
fn code(
    spec: &Spec,
    method: &Method,
    armed: &ArmedCode,
    (site, operands): (Site, &[Operand]),
    compile: Compile,
) -> Result<Option<Run>, AttachError> {
    let Kind::Code(code) = &spec.kind else {
        return Ok(None);
    };
    let (state, pc) = match site {
        // Parameters may have other values there, or none.
        Site::Return | Site::Throw => (State::default(), 0),
        site => readable::at(method, &armed.points, site),
    };
    let operands = operands.to_vec();
    let view = View {
        state,
        pc,
        operands,
        turns: false,
    };
    let run = compile(code, view).map_err(|reason| AttachError::NotCompiled {
        class: method.class.replace('/', "."),
        method: format!("{}{}", method.name, method.descriptor),
        place: site.to_string(),
        reason: Box::new(reason),
    })?;
    Ok(Some(run))
}

/// The variables of a log at a site, with the slots that hold them there.
fn values(
    spec: &Spec,
    method: &Method,
    armed: &ArmedCode,
    site: Site,
) -> Result<Vec<(String, u16, Type)>, AttachError> {
    let Kind::Log(names) = &spec.kind else {
        return Ok(Vec::new());
    };
    let (state, pc) = readable::at(method, &armed.points, site);
    let find = |name: &String| {
        let found = state.locals.iter().enumerate().find(|(slot, t)| {
            let hit =
                method.variable_name(*slot as u16, pc) == *name || format!("local{slot}") == *name;
            hit && **t != Type::Top && !t.is_uninitialized()
        });
        found
            .map(|(slot, t)| (name.clone(), slot as u16, t.clone()))
            .ok_or_else(|| AttachError::VariableNotLive {
                variable: name.clone(),
                class: method.class.replace('/', "."),
                method: format!("{}{}", method.name, method.descriptor),
                place: site.to_string(),
                live: state
                    .locals
                    .iter()
                    .enumerate()
                    .filter(|(_, t)| **t != Type::Top)
                    .map(|(s, _)| method.variable_name(s as u16, pc))
                    .collect(),
            })
    };
    names.iter().map(find).collect()
}
