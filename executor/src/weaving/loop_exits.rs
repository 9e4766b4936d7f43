//! The points of loop exits, at which code of a plan can read how many iterations the loop has
//! made.
//!
//! ```text
//!        f0
//!         │ LoopEnter                  n = 1
//!         ▼
//!   ┌──▶ f1 ──────────┐    Count, code, LoopExit
//!   │     │           ▼
//!   └─── f2 ──catch─▶ f3   code, LoopExit: only if the loop was in progress
//!     LoopBackEdge: n += 1
//! ```
//!
//! The version keeps the count `n` in a local variable, which moves with the activation from
//! version to version. The code reads it as `turns`: the number of times that control has returned
//! to the loop header.
//!
//! The code also runs if an exception leaves the loop, at a handler outside the loop or on the way
//! out of the method. At these sites, and at every exit of a loop whose beginning the version did
//! not see, the code first tests whether the loop is in progress.
//!
//! [`planner`](crate::weaving::planner) calls [`plan`].

use crate::weaving::planned_probe::{
    Compile, CompiledProbe, PlannedAction, PlannedProbe, VisibleValues,
};
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::State;
use veneer_instruments::{AttachError, InstrumentKind, InstrumentSpec};
use veneer_names::java_form;
use veneer_probes::ProbeCode;
use veneer_probes::tree::{Expr, ExprKind, Operator, SourcePosition, Statement};

/// The name under which code reads the number of iterations.
pub const TRIP_COUNT_NAME: &str = "turns";

/// One point for each loop whose header is reachable.
///
/// # Errors
/// If the instrument is not code, or if the code does not compile.
pub fn plan(
    spec: &InstrumentSpec,
    method: &Method,
    reachable: &[FragmentId],
    compile: Compile,
) -> Result<Vec<PlannedProbe>, AttachError> {
    let InstrumentKind::Code(code) = &spec.kind else {
        return Err(AttachError::Unsupported {
            what: format!("a {} at the exits of loops", spec.kind.name()),
            instead: "write .loop_exits().before(|p| table.add(here(), p.turns))".into(),
        });
    };
    let code = guarded(code);
    let mut points = Vec::new();
    for one in &method.loops.loops {
        let header = FragmentId(one.header.index() as u32);
        let fragment = method.flow.get(header);
        let Some(fragment) = fragment.filter(|_| reachable.contains(&header)) else {
            continue;
        };
        let body = LoopBody {
            method,
            reachable,
            header,
            contains: &|f| one.body[f.index()],
        };
        points.push(PlannedProbe {
            fragment: Some(header),
            to: None,
            line: method.line(fragment.start),
            sites: body.sites(),
            values: Vec::new(),
            what: None,
            code: Some(compile_at_header(&code, method, fragment.start, compile)?),
        });
    }
    Ok(points)
}

/// A loop of a method.
struct LoopBody<'a> {
    method: &'a Method<'a>,
    reachable: &'a [FragmentId],
    header: FragmentId,
    /// Whether a fragment belongs to the loop.
    contains: &'a dyn Fn(FragmentId) -> bool,
}

impl LoopBody<'_> {
    /// All sites of the loop's point. Exit edges are first, because the first step of a point
    /// determines its counters. A loop without exit edges is left by exceptions only, and nothing
    /// is counted for it.
    fn sites(&self) -> Vec<(Site, PlannedAction)> {
        let mut sites = self.exit_edges();
        sites.push((Site::Throw, PlannedAction::CodeOnly));
        sites.extend(self.other_edges());
        if self.header == FragmentId(0) {
            sites.push((Site::Entry, PlannedAction::LoopEnter));
        }
        for handler in self.outer_handlers() {
            let site = Site::Before(handler);
            sites.extend([
                (site, PlannedAction::CodeOnly),
                (site, PlannedAction::LoopExit),
            ]);
        }
        sites
    }

    fn reachable_edges(&self) -> impl Iterator<Item = (FragmentId, FragmentId)> {
        let edges = self.method.flow.edges().into_iter();
        edges.filter(|(from, _)| self.reachable.contains(from))
    }

    /// The steps on the edges that leave the loop.
    fn exit_edges(&self) -> Vec<(Site, PlannedAction)> {
        let exits = self
            .reachable_edges()
            .filter(|(from, to)| (self.contains)(*from) && !(self.contains)(*to));
        let steps = |(from, to)| {
            let site = Site::Edge(from, to);
            [
                (site, PlannedAction::Count),
                (site, PlannedAction::LoopExit),
            ]
        };
        exits.flat_map(steps).collect()
    }

    /// The steps on the edges that enter the loop, and on its back edges.
    fn other_edges(&self) -> Vec<(Site, PlannedAction)> {
        let step = |(from, to)| {
            let site = Site::Edge(from, to);
            match ((self.contains)(from), (self.contains)(to)) {
                (true, true) if to == self.header => Some((site, PlannedAction::LoopBackEdge)),
                (false, true) => Some((site, PlannedAction::LoopEnter)),
                _ => None,
            }
        };
        self.reachable_edges().filter_map(step).collect()
    }

    /// The exception handlers outside the loop, sorted.
    fn outer_handlers(&self) -> Vec<FragmentId> {
        let ranges = self.method.code.exceptions.iter();
        let handlers = ranges.map(|range| self.method.flow.fragment_containing(range.handler));
        let mut outer: Vec<FragmentId> = handlers
            .filter(|f| !(self.contains)(*f) && self.reachable.contains(f))
            .collect();
        outer.sort_unstable();
        outer.dedup();
        outer
    }
}

/// Compiles the code for the loop header, so that `here()` is the same at all exits of the loop.
fn compile_at_header(
    code: &ProbeCode,
    method: &Method,
    pc: u16,
    compile: Compile,
) -> Result<CompiledProbe, AttachError> {
    let values = VisibleValues {
        state: State::default(),
        pc,
        operands: Vec::new(),
        has_iterations: true,
        has_exception: false,
    };
    compile(code, values).map_err(|reason| AttachError::NotCompiled {
        class: java_form(&method.class),
        method: format!("{}{}", method.name, method.descriptor),
        place: "the exits of a loop".into(),
        reason: Box::new(reason),
    })
}

/// The code after the guard `if p.turns < 0 { return; }`. The count is negative outside the loop.
fn guarded(code: &ProbeCode) -> ProbeCode {
    let expression = |shape| Expr {
        kind: shape,
        place: SourcePosition::default(),
    };
    let iterations = expression(ExprKind::MethodVariable(TRIP_COUNT_NAME.into()));
    let zero = expression(ExprKind::Int(0));
    let is_negative = ExprKind::Binary(Operator::Less, iterations.into(), zero.into());
    let guard = Statement::If {
        condition: expression(is_negative),
        then: vec![Statement::Return],
        otherwise: Vec::new(),
    };
    let body = std::iter::once(guard).chain(code.body.iter().cloned());
    ProbeCode {
        body: body.collect(),
    }
}
