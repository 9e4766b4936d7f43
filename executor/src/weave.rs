//! From a spec to probes: which join points of a method an instrument stands on, and with which counters.

use veneer_fragmenter::advice::{Action, Probe, Site};
use veneer_fragmenter::arming::ArmedCode;
use veneer_fragmenter::bytecode::opcode::is_return;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::reachable;
use veneer_fragmenter::types::{self, State, Type};
use veneer_fragmenter::{Refusal, patch};
use veneer_instruments::{AttachError, Kind, Place, Spec, When};

/// One point of an instrument in one method, before counters are given to it.
#[derive(Clone, Debug)]
pub struct Join {
    /// Where it counts as standing.
    pub fragment: Option<u32>,
    /// For an edge.
    pub to: Option<u32>,
    /// Source line.
    pub line: Option<u16>,
    /// The woven sites and what each does.
    pub sites: Vec<(Site, Step)>,
    /// For a log: name, slot and type of the values.
    pub values: Vec<(String, u16, Type)>,
}

/// What happens at one site of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Step {
    Count,
    Start,
    Stop,
    Lap,
    Log,
}

impl Step {
    /// Counters in a row.
    pub fn slots(self) -> u32 {
        match self {
            Step::Count => 1,
            Step::Log => 0,
            Step::Start | Step::Stop | Step::Lap => 4,
        }
    }
}

impl Join {
    /// Counters that it needs in a row.
    pub fn slots(&self) -> u32 {
        self.sites.first().map_or(0, |s| s.1.slots())
    }

    /// The probes, once it has counters (or, a log, the number of its point).
    pub fn probes(&self, slot: u32) -> Vec<Probe> {
        let values = || {
            self.values
                .iter()
                .map(|(_, slot, t)| (*slot, t.clone()))
                .collect()
        };
        let action = |step: Step| match step {
            Step::Count => Action::Count { slot },
            Step::Start => Action::Start { slot },
            Step::Stop => Action::Stop { slot },
            Step::Lap => Action::Lap { slot },
            Step::Log => Action::Log {
                point: slot,
                values: values(),
            },
        };
        self.sites
            .iter()
            .map(|(site, step)| Probe {
                site: *site,
                action: action(*step),
            })
            .collect()
    }
}

/// The joins of a spec in a method.
pub fn joins(spec: &Spec, method: &Method, armed: &ArmedCode) -> Result<Vec<Join>, AttachError> {
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
                        .map(|l| method.flow.holding(l.0))
                        .filter(|f| all.contains(f))
                };
                match all.iter().find(starts).copied().or_else(holds) {
                    Some(f) => out.push(f),
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
        Place::Method | Place::Entry | Place::Edges | Place::Edge(_) => Vec::new(),
    };
    let first_line = method.instructions.first().and_then(|i| method.line(i.0));
    let step = match &spec.kind {
        Kind::Counter => Step::Count,
        Kind::Log(_) => Step::Log,
        Kind::Timer => Step::Lap,
    };
    let mut out = Vec::new();
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
            out.push(Join {
                fragment: None,
                to: None,
                line: first_line,
                sites,
                values: values(spec, method, armed, Site::Entry)?,
            });
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
                out.push(Join {
                    fragment: Some(a.0),
                    to: Some(b.0),
                    line,
                    sites: vec![(Site::Edge(a, b), step)],
                    values,
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
                    _ => vec![(Site::Before(f), step)],
                };
                let pc = if matches!(spec.place, Place::Exits) {
                    method.instructions[fragment.instructions.end - 1].0
                } else {
                    fragment.start
                };
                let values = values(spec, method, armed, sites[0].0)?;
                out.push(Join {
                    fragment: Some(f.0),
                    to: None,
                    line: method.line(pc),
                    sites,
                    values,
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
                });
            }
        }
    }
    Ok(out)
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
    let (state, pc) = readable(method, armed, site);
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

/// Types of what can be read at a site, and the pc by which variables are named there.
fn readable(method: &Method, armed: &ArmedCode, site: Site) -> (State, u16) {
    let live = |f: FragmentId| {
        let full = method.states.get(f.index()).cloned().unwrap_or_default();
        match patch::apply(method, &[], &armed.points) {
            Ok(p) => p.state(method, f),
            Err(_) => full,
        }
    };
    match site {
        Site::After(f) => {
            let mut state = live(f);
            let Some(fragment) = method.flow.get(f) else {
                return (state, 0);
            };
            let mut pc = fragment.start;
            let ends = fragment.instructions.end - 1;
            for i in fragment.instructions.clone() {
                let (at, instruction) = &method.instructions[i];
                pc = *at;
                if i == ends
                    || types::step(
                        &mut state,
                        *at,
                        instruction,
                        &method.file.pool,
                        &method.class,
                    )
                    .is_err()
                {
                    break;
                }
            }
            (state, pc)
        }
        Site::Before(f) | Site::Edge(_, f) => (live(f), method.flow.get(f).map_or(0, |f| f.start)),
        Site::Entry | Site::Return | Site::Throw | Site::Crossing => match armed.points.first() {
            Some(p) => (
                veneer_fragmenter::arming::frame_state(p, method.code.max_locals),
                p.pc,
            ),
            None => (State::default(), 0),
        },
    }
}
