//! Where loops are left, and how many turns they have made by then.
//!
//! ```text
//!        f0
//!         │ Enter          n = 1
//!         ▼
//!   ┌──▶ f1 ──────────┐    Count, code, Over
//!   │     │           ▼
//!   └─── f2 ──catch─▶ f3   code, Over: only where the loop was in progress
//!     Turn: n += 1
//! ```
//!
//! The count is a local variable of the version, which travels with the activation. The code sees `turns`: how often the loop went
//! back to its header. It runs too where an exception leaves the loop, for a handler outside it or out of the method; there, and on all
//! ways out of a loop whose beginning was not seen, it asks first whether the loop is in progress.

use crate::weaving::planned_probe::{Compile, Join, Run, Step, View};
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::State;
use veneer_instruments::{AttachError, Kind, Spec};
use veneer_probes::Code;
use veneer_probes::tree::{Expr, Operator, Place, Shape, Statement};

/// The name under which code sees the turns.
pub const TURNS: &str = "turns";

/// One join for each loop that begins in these fragments.
pub fn joins(
    spec: &Spec,
    method: &Method,
    reached: &[FragmentId],
    compile: Compile,
) -> Result<Vec<Join>, AttachError> {
    let Kind::Code(code) = &spec.kind else {
        return Err(AttachError::Unsupported {
            what: format!("a {} at the exits of loops", spec.kind.name()),
            instead: "write .loop_exits().before(|p| table.add(here(), p.turns))".into(),
        });
    };
    let code = guarded(code);
    let edges = method.flow.edges();
    let mut out = Vec::new();
    for one in &method.loops.loops {
        let header = FragmentId(one.header.index() as u32);
        let Some(fragment) = method
            .flow
            .get(header)
            .filter(|_| reached.contains(&header))
        else {
            continue;
        };
        let within = |f: FragmentId| one.body[f.index()];
        let run = run(&code, method, fragment.start, compile)?;
        // What is counted comes first: the ways out along edges.
        let (mut sites, mut others) = (Vec::new(), Vec::new());
        for (from, to) in edges
            .iter()
            .copied()
            .filter(|(from, _)| reached.contains(from))
        {
            let site = Site::Edge(from, to);
            match (within(from), within(to)) {
                (true, false) => sites.extend([(site, Step::Count), (site, Step::Over)]),
                (true, true) if to == header => others.push((site, Step::Turn)),
                (false, true) => others.push((site, Step::Enter)),
                _ => {}
            }
        }
        if header == FragmentId(0) {
            others.push((Site::Entry, Step::Enter));
        }
        let mut handlers: Vec<FragmentId> = method
            .code
            .exceptions
            .iter()
            .map(|range| method.flow.holding(range.handler))
            .filter(|f| !within(*f) && reached.contains(f))
            .collect();
        handlers.sort_unstable();
        handlers.dedup();
        for handler in handlers {
            let site = Site::Before(handler);
            others.extend([(site, Step::Pass), (site, Step::Over)]);
        }
        // A loop without end is left by exceptions only, and nothing is counted.
        sites.push((Site::Throw, Step::Pass));
        sites.append(&mut others);
        out.push(Join {
            fragment: Some(header.0),
            to: None,
            line: method.line(fragment.start),
            sites,
            values: Vec::new(),
            what: None,
            code: Some(run),
        });
    }
    Ok(out)
}

/// The code as it is at the header: `here()` is the same at all exits.
fn run(code: &Code, method: &Method, pc: u16, compile: Compile) -> Result<Run, AttachError> {
    let view = View {
        state: State::default(),
        pc,
        operands: Vec::new(),
        turns: true,
    };
    compile(code, view).map_err(|reason| AttachError::NotCompiled {
        class: method.class.replace('/', "."),
        method: format!("{}{}", method.name, method.descriptor),
        place: "the exits of a loop".into(),
        reason: Box::new(reason),
    })
}

/// `if p.turns < 0 { return; }`, and the code.
fn guarded(code: &Code) -> Code {
    let value = |shape| Expr {
        shape,
        place: Place::default(),
    };
    let (turns, none) = (value(Shape::Read(TURNS.into())), value(Shape::Int(0)));
    let guard = Statement::If {
        condition: value(Shape::Binary(Operator::Less, turns.into(), none.into())),
        then: vec![Statement::Return],
        otherwise: Vec::new(),
    };
    let body = std::iter::once(guard).chain(code.body.iter().cloned());
    Code {
        body: body.collect(),
    }
}
