//! The planner: finds the points of one method at which an instrument acts, and what happens at
//! each of them.
//!
//! ```text
//!   Spec (place, when, kind) + Method ─▶ plan ─▶ Vec<PlannedProbe>      one for each point
//! ```
//!
//! [`weaver`](crate::weaving::weaver) calls [`plan`] for each selected method, on the plan thread
//! or on a thread that prepares a class. The planner reads the analysed method and compiles the
//! code of the plan. It allocates no counter and changes nothing.
//!
//! A spec can fail at some points of a method and succeed at others. These rules decide which error
//! is returned:
//!
//! * A place that the method does not have, an unsupported combination, or a logged variable that
//!   cannot be read fails the whole method at once. Single instructions are the exception: their
//!   points differ so much that the planner skips each point at which a logged variable cannot be
//!   read.
//! * A point at which the code does not compile is skipped.
//! * If points were skipped, their first error is returned only if no point is left, or if the code
//!   waits for a class. In the latter case the weaver plans the whole method again when the class
//!   is loaded.
//! * An error of code has priority over an error of a logged variable, and an error that waits for
//!   a class has priority over other errors of code.

use crate::data::access_form::AccessForm;
use crate::weaving::heap_points;
use crate::weaving::instruction_sites::{InstructionSite, Operand, instruction_site};
use crate::weaving::loop_exits;
use crate::weaving::memory_points;
use crate::weaving::planned_probe::{
    Compile, CompiledProbe, LoggedValue, PlannedAction, PlannedProbe, VisibleValues,
};
use std::cell::OnceCell;
use std::fmt;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::arming::ArmedCode;
use veneer_fragmenter::bytecode::opcode::{
    INVOKEINTERFACE, INVOKESPECIAL, INVOKEVIRTUAL, is_return,
};
use veneer_fragmenter::counting::calls_and_allocations;
use veneer_fragmenter::flowgraph::{Fragment, FragmentId};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::reachable;
use veneer_fragmenter::readable::Readable;
use veneer_fragmenter::types::{State, Type};
use veneer_instruments::{
    AdviceKind, AttachError, InstructionKind, InstrumentKind, InstrumentSpec, PointSelector,
    RecordingForm,
};
use veneer_names::{LocalSlot, MethodDescriptor, java_form};
use veneer_probes::error::Reason;

/// The name in reports of the point of a late timer. Its times are lower bounds.
const LATE_TIMER_LABEL: &str = "began before: at least";

/// The points of a spec in a method. `access` is the form in which memory accesses are recorded.
///
/// # Errors
/// See the module documentation.
pub fn plan(
    spec: &InstrumentSpec,
    method: &Method,
    armed: &ArmedCode,
    compile: Compile,
    access: AccessForm,
) -> Result<Vec<PlannedProbe>, AttachError> {
    let planner = Planner {
        access,
        spec,
        method,
        armed,
        compile,
        reachable: reachable(method, &armed.points),
        readable: OnceCell::new(),
        code_error: None,
        value_error: None,
    };
    planner.plan()
}

/// The class (dotted) that must be loaded before the code can be compiled. `None` if loading a
/// class would not help.
pub fn awaited_class(error: &AttachError) -> Option<&str> {
    match error {
        AttachError::NotCompiled { reason, .. } => match &reason.reason {
            Reason::NotLoaded { class } => Some(class),
            _ => None,
        },
        _ => None,
    }
}

/// The input of [`plan`], and the errors of the points that were skipped.
struct Planner<'a> {
    access: AccessForm,
    spec: &'a InstrumentSpec,
    method: &'a Method<'a>,
    armed: &'a ArmedCode,
    compile: Compile<'a>,
    /// The fragments that a version can execute, in order.
    reachable: Vec<FragmentId>,
    /// The result of [`Planner::readable`].
    readable: OnceCell<Readable<'a>>,
    /// The error of the first point that was skipped because the code does not compile there. An
    /// error that waits for a class replaces one that does not.
    code_error: Option<AttachError>,
    /// The error of the first instruction that was skipped because a logged variable cannot be read
    /// there.
    value_error: Option<AttachError>,
}

/// The code of the spec does not compile at a point. The planner has kept the error and skips the
/// point.
struct SkippedPoint;

/// A fragment, or a source line inside a fragment.
struct Position<'m> {
    fragment: &'m Fragment,
    /// The first pc of the source line, if the line begins in the middle of the fragment.
    inner_pc: Option<u16>,
}

type Points = Result<Vec<PlannedProbe>, AttachError>;

impl<'a> Planner<'a> {
    fn plan(mut self) -> Points {
        let spec = self.spec;
        if matches!(spec.kind, InstrumentKind::Recorder(_)) && spec.place != PointSelector::Method {
            return Err(unsupported(
                "a recorder at single points",
                "use methods(…).around(recorder())",
            ));
        }
        let points = match &spec.place {
            PointSelector::Method if self.records(RecordingForm::Heap) => {
                heap_points::plan(self.method, &self.reachable)
            }
            PointSelector::Method if self.records(RecordingForm::Accesses) => {
                memory_points::plan(self.method, &self.reachable, self.readable(), self.access)
            }
            PointSelector::Method | PointSelector::Entry => self.method_points()?,
            PointSelector::Edges => self.edge_points(self.all_edges())?,
            PointSelector::Edge(pairs) => self.edge_points(self.named_edges(pairs)?)?,
            PointSelector::LoopExits => {
                loop_exits::plan(spec, self.method, &self.reachable, self.compile)?
            }
            PointSelector::Instructions(which) => self.instruction_points(which)?,
            PointSelector::CallGraph => self.call_graph_points()?,
            PointSelector::Exits => self.exit_points()?,
            PointSelector::Loops => self.fragment_points(self.whole(self.loop_headers()))?,
            PointSelector::Blocks => self.fragment_points(self.whole(self.reachable.clone()))?,
            PointSelector::Block(numbers) => {
                let named = numbers.iter().map(|number| self.named_fragment(*number));
                let named = named.collect::<Result<Vec<_>, _>>()?;
                self.fragment_points(self.whole(named))?
            }
            PointSelector::Line(lines) => {
                let positions = lines.iter().map(|line| self.line_position(*line));
                let positions = positions.collect::<Result<Vec<_>, _>>()?;
                self.fragment_points(positions.into_iter().flatten().collect())?
            }
            // `InstrumentSpec::for_method` has replaced this selector by `PointSelector::Block`.
            // [`guard_points`](crate::weaving::guard_points) plans the guards.
            PointSelector::Chosen | PointSelector::Guards => Vec::new(),
        };
        match self.code_error.or(self.value_error) {
            Some(error) if points.is_empty() || awaited_class(&error).is_some() => Err(error),
            _ => Ok(points),
        }
    }

    fn records(&self, wanted: RecordingForm) -> bool {
        let form = match &self.spec.kind {
            InstrumentKind::Recorder(recorder) => Some(recorder.form),
            _ => None,
        };
        form == Some(wanted)
    }

    /// The step of an instrument that is not a timer.
    fn step(&self) -> PlannedAction {
        match self.spec.kind {
            InstrumentKind::Counter | InstrumentKind::Code(_) => PlannedAction::Count,
            InstrumentKind::Log(_) => PlannedAction::Log,
            InstrumentKind::Timer => PlannedAction::Lap,
            InstrumentKind::Recorder(_) => PlannedAction::TraceEntry,
        }
    }

    /// The point of a whole method or of its entry, and the point of a late timer.
    fn method_points(&mut self) -> Points {
        let sites = self.method_sites()?;
        let first = sites.first().map_or(Site::Entry, |(site, _)| *site);
        let mut points = Vec::new();
        if let Ok(code) = self.compile_at(first, &[]) {
            points.push(PlannedProbe {
                values: self.logged_values(Site::Entry)?,
                code,
                ..self.point(None, self.first_line(), sites)
            });
        }
        if self.spec.late {
            points.push(self.late_timer());
        }
        Ok(points)
    }

    fn method_sites(&self) -> Result<Vec<(Site, PlannedAction)>, AttachError> {
        let step = self.step();
        let at_exits = vec![(Site::Return, step), (Site::Throw, step)];
        Ok(match (&self.spec.kind, self.spec.when) {
            (InstrumentKind::Timer, _) => vec![
                (Site::Entry, PlannedAction::Start),
                (Site::Return, PlannedAction::Stop),
                (Site::Throw, PlannedAction::Stop),
            ],
            (InstrumentKind::Recorder(recorder), _) => {
                let ends = [
                    (Site::Entry, PlannedAction::TraceEntry),
                    (Site::Return, PlannedAction::TraceExit),
                    (Site::Throw, PlannedAction::TraceThrow),
                ];
                let allocations = match recorder.form {
                    RecordingForm::Contexts | RecordingForm::ExactContexts => self.allocations(),
                    RecordingForm::Events
                    | RecordingForm::CompleteCalls
                    | RecordingForm::Accesses
                    | RecordingForm::Heap => Vec::new(),
                };
                let at = |pc| (Site::At(pc), PlannedAction::TraceAllocation);
                ends.into_iter()
                    .chain(allocations.into_iter().map(at))
                    .collect()
            }
            (_, AdviceKind::Before) => vec![(Site::Entry, step)],
            _ if self.spec.place == PointSelector::Entry => vec![(Site::Entry, step)],
            (InstrumentKind::Log(_), _) => {
                return Err(unsupported(
                    "a value log after a whole method",
                    "use .exits().before(log(…))",
                ));
            }
            (_, AdviceKind::After | AdviceKind::Around) => at_exits,
        })
    }

    /// The positions of the instructions that allocate.
    fn allocations(&self) -> Vec<u16> {
        let method = self.method;
        let indices = calls_and_allocations(method, &self.armed.points).into_iter();
        let is_allocation = |index: &usize| {
            instruction_site(&InstructionKind::Allocations, method, *index).is_some()
        };
        let allocations = indices.filter(is_allocation);
        allocations
            .map(|index| method.instructions[index].0)
            .collect()
    }

    /// The point of a late timer: the times of activations that began before the timer was
    /// attached. These times have a point of their own, because they are lower bounds.
    fn late_timer(&self) -> PlannedProbe {
        let sites = vec![
            (Site::Crossing, PlannedAction::LateStart),
            (Site::Entry, PlannedAction::LateSkip),
            (Site::Return, PlannedAction::LateStop),
            (Site::Throw, PlannedAction::LateStop),
        ];
        PlannedProbe {
            what: Some(LATE_TIMER_LABEL.into()),
            ..self.point(None, self.first_line(), sites)
        }
    }

    /// All edges between reachable fragments.
    fn all_edges(&self) -> Vec<(FragmentId, FragmentId)> {
        let mut edges = self.method.flow.edges();
        edges.retain(|(from, _)| self.is_reachable(*from));
        edges
    }

    /// The edges of a plan's list, in the order of the flow graph.
    fn named_edges(
        &self,
        pairs: &[(u32, u32)],
    ) -> Result<Vec<(FragmentId, FragmentId)>, AttachError> {
        let mut edges = self.all_edges();
        for (from, to) in pairs {
            let edge = (self.named_fragment(*from)?, self.named_fragment(*to)?);
            if !edges.contains(&edge) {
                return Err(AttachError::UnknownEdge {
                    class: self.class(),
                    method: self.label(),
                    from: *from,
                    to: *to,
                });
            }
        }
        edges.retain(|(from, to)| pairs.contains(&(from.0, to.0)));
        Ok(edges)
    }

    fn edge_points(&mut self, edges: Vec<(FragmentId, FragmentId)>) -> Points {
        let mut points = Vec::new();
        for (from, to) in edges {
            let site = Site::Edge(from, to);
            let line = self.method.flow.get(to);
            let line = line.and_then(|fragment| self.method.line(fragment.start));
            let values = self.logged_values(Site::Before(to))?;
            let Ok(code) = self.compile_at(site, &[]) else {
                continue;
            };
            points.push(PlannedProbe {
                to: Some(to),
                values,
                code,
                ..self.point(Some(from), line, vec![(site, self.step())])
            });
        }
        Ok(points)
    }

    /// The points of single instructions.
    fn instruction_points(&mut self, which: &InstructionKind) -> Points {
        let method = self.method;
        let fragments = self.reachable.iter().filter_map(|f| method.flow.get(*f));
        let indices: Vec<(FragmentId, usize)> = fragments
            .flat_map(|f| f.instructions.clone().map(|index| (f.id, index)))
            .collect();
        let mut points = Vec::from_iter(self.constructor_call(which));
        for (fragment, index) in indices {
            if let Some(found) = instruction_site(which, method, index) {
                points.extend(self.instruction_point(fragment, index, found)?);
            }
        }
        Ok(points)
    }

    /// The points of a call graph. Instructions before `super(…)` or `this(…)` have none, because they
    /// are in no version.
    fn call_graph_points(&mut self) -> Points {
        let method = self.method;
        let (calls, allocations) = (
            InstructionKind::CallSites(None),
            InstructionKind::Allocations,
        );
        let is_counter = match (&self.spec.kind, self.spec.when) {
            (InstrumentKind::Counter, AdviceKind::Before) => true,
            (InstrumentKind::Code(_), AdviceKind::Before) => false,
            _ => {
                return Err(unsupported(
                    "anything but a counter or code before the calls of a call graph",
                    "use .call_graph().before(counter()), or .call_sites() for other instruments",
                ));
            }
        };
        let mut points = Vec::new();
        if is_counter {
            points.extend(self.method_points()?);
            points.extend(self.constructor_call(&calls));
        }
        for index in calls_and_allocations(method, &self.armed.points) {
            let (pc, instruction) = &method.instructions[index];
            let is_virtual = matches!(instruction.op(), INVOKEVIRTUAL | INVOKEINTERFACE);
            if !is_counter && !is_virtual {
                continue;
            }
            let call = instruction_site(&calls, method, index);
            let found = call.or_else(|| instruction_site(&allocations, method, index));
            if let Some(found) = found {
                let fragment = method.flow.fragment_containing(*pc);
                points.extend(self.instruction_point(fragment, index, found)?);
            }
        }
        if !is_counter {
            for (_, action) in points.iter_mut().flat_map(|point| &mut point.sites) {
                *action = PlannedAction::CodeOnly;
            }
        }
        Ok(points)
    }

    /// The point of the call of `super(…)` or `this(…)` in a constructor, if a counter of call sites
    /// selects it. No version contains the code before the end of this call. So the point acts at
    /// the entry of the version, directly after the call, and a call that throws is not counted.
    fn constructor_call(&self, which: &InstructionKind) -> Option<PlannedProbe> {
        let InstructionKind::CallSites(_) = which else {
            return None;
        };
        let method = self.method;
        let is_counter = self.spec.kind == InstrumentKind::Counter;
        if method.name != "<init>" || !is_counter || self.spec.when != AdviceKind::Before {
            return None;
        }
        let index = self.armed.points.first()?.instruction.checked_sub(1)?;
        let (pc, instruction) = method.instructions.get(index)?;
        let found = instruction_site(which, method, index)?;
        let fragment = method.flow.fragment_containing(*pc);
        (instruction.op() == INVOKESPECIAL).then(|| PlannedProbe {
            what: Some(format!("{} @{pc}", found.text)),
            ..self.point(
                Some(fragment),
                method.line(*pc),
                vec![(Site::Entry, self.step())],
            )
        })
    }

    /// The point of one instruction, or `None` if the point is skipped.
    fn instruction_point(
        &mut self,
        fragment: FragmentId,
        index: usize,
        found: InstructionSite,
    ) -> Result<Option<PlannedProbe>, AttachError> {
        let pc = self.method.instructions[index].0;
        let (before, after) = (Site::At(pc), Site::AfterCode(pc));
        let is_timer = self.spec.kind == InstrumentKind::Timer;
        let mut found = found;
        if found.constructs && self.spec.when == AdviceKind::After {
            found.result = self.constructed(pc, &found.operands);
        }
        if !found.falls_through && (is_timer || self.spec.when == AdviceKind::After) {
            return Err(unsupported(
                format!(
                    "anything after `{}`, from which control goes elsewhere,",
                    found.text
                ),
                "use .before(…), or .edges() for where it goes",
            ));
        }
        let (sites, operands) = if is_timer {
            let sites = vec![(before, PlannedAction::Start), (after, PlannedAction::Stop)];
            (sites, Vec::new())
        } else if self.spec.when == AdviceKind::After {
            (vec![(after, self.step())], Vec::from_iter(found.result))
        } else {
            (vec![(before, self.step())], found.operands)
        };
        let site = sites.first().map_or(before, |(site, _)| *site);
        let earlier_error = self.code_error.clone();
        let Ok(code) = self.compile_at(site, &operands) else {
            if found.constructs {
                // A call of `super(…)` is no reason to refuse code about the new object.
                self.code_error = earlier_error;
            }
            return Ok(None);
        };
        let values = match self.logged_values(site) {
            Ok(values) => values,
            Err(error) => {
                self.value_error.get_or_insert(error);
                return Ok(None);
            }
        };
        Ok(Some(PlannedProbe {
            values,
            what: Some(format!("{} @{pc}", found.text)),
            code,
            ..self.point(Some(fragment), self.method.line(pc), sites)
        }))
    }

    /// The object that a constructor call has completed, if it is on top of the operand stack after the
    /// call: `new` was followed by `dup`. For `super(…)` and `this(…)` it is not.
    fn constructed(&self, pc: u16, operands: &[Operand]) -> Option<Operand> {
        let (before, _) = self.readable().state(Site::At(pc));
        let receiver = before.stack.len().checked_sub(operands.len())?;
        let copy = before.stack.get(receiver.checked_sub(1)?)?;
        let is_new = matches!(copy, Type::Uninitialized(_));
        (is_new && before.stack.get(receiver) == Some(copy)).then(|| Operand {
            name: "result".into(),
            depth: 0,
            is_boolean: false,
        })
    }

    /// The points at the returns of a method. For a counter also the point of exceptions that leave
    /// the method, which no fragment contains.
    fn exit_points(&mut self) -> Points {
        let returns = |f: &FragmentId| {
            let fragment = self.method.flow.get(*f);
            fragment.is_some_and(|f| is_return(self.last_instruction(f).1))
        };
        let exits = self.reachable.iter().copied().filter(returns).collect();
        let mut points = self.fragment_points(self.whole(exits))?;
        if self.spec.kind == InstrumentKind::Counter {
            let sites = vec![(Site::Throw, self.step())];
            points.push(self.point(None, self.first_line(), sites));
        }
        Ok(points)
    }

    /// One point for each of these fragments and source lines.
    fn fragment_points(&mut self, positions: Vec<Position<'a>>) -> Points {
        let mut points = Vec::new();
        for position in positions {
            let fragment = position.fragment;
            let sites = self.fragment_sites(&position)?;
            let pc = match self.spec.place {
                PointSelector::Exits => self.last_instruction(fragment).0,
                _ => position.inner_pc.unwrap_or(fragment.start),
            };
            let site = sites[0].0;
            let values = self.logged_values(site)?;
            let result: Vec<Operand> = match self.spec.place {
                PointSelector::Exits => self.returned_value(fragment).into_iter().collect(),
                _ => Vec::new(),
            };
            let Ok(code) = self.compile_at(site, &result) else {
                continue;
            };
            points.push(PlannedProbe {
                values,
                code,
                ..self.point(Some(fragment.id), self.method.line(pc), sites)
            });
        }
        Ok(points)
    }

    /// The sites of a fragment or source line. The result has at least one element.
    fn fragment_sites(
        &self,
        position: &Position,
    ) -> Result<Vec<(Site, PlannedAction)>, AttachError> {
        let (f, step) = (position.fragment.id, self.step());
        let is_exit = matches!(self.spec.place, PointSelector::Exits);
        Ok(match (&self.spec.kind, &self.spec.place) {
            (InstrumentKind::Timer, PointSelector::Exits) => {
                return Err(unsupported(
                    "a timer around the exits of a method",
                    "use .around(timer()) on the methods themselves",
                ));
            }
            (InstrumentKind::Timer, PointSelector::Loops) => {
                vec![(Site::Before(f), PlannedAction::Lap)]
            }
            (InstrumentKind::Timer, _) => {
                vec![
                    (Site::Before(f), PlannedAction::Start),
                    (Site::After(f), PlannedAction::Stop),
                ]
            }
            // Before the return itself, the returned value is on the operand stack.
            (InstrumentKind::Code(_), PointSelector::Exits) => {
                vec![(Site::At(self.last_instruction(position.fragment).0), step)]
            }
            _ if is_exit || self.spec.when == AdviceKind::After => vec![(Site::After(f), step)],
            // The variables of a line have their values at the beginning of the line, not of the
            // fragment.
            _ => match position.inner_pc {
                Some(pc) => vec![(Site::At(pc), step)],
                None => vec![(Site::Before(f), step)],
            },
        })
    }

    /// The value that a fragment returns: the top of the operand stack before its return. `None` if
    /// the method returns nothing.
    fn returned_value(&self, fragment: &Fragment) -> Option<Operand> {
        let returns = is_return(self.last_instruction(fragment).1);
        let result = MethodDescriptor::parse(&self.method.descriptor)
            .ok()?
            .result()?;
        returns.then(|| Operand {
            name: "result".into(),
            depth: 0,
            is_boolean: result.as_str() == "Z",
        })
    }

    fn loop_headers(&self) -> Vec<FragmentId> {
        let headers = self.method.loops.headers();
        let headers = headers.map(|node| FragmentId(node.index() as u32));
        headers.filter(|f| self.is_reachable(*f)).collect()
    }

    fn whole(&self, fragments: Vec<FragmentId>) -> Vec<Position<'a>> {
        let known = fragments
            .into_iter()
            .filter_map(|f| self.method.flow.get(f));
        let position = |fragment| Position {
            fragment,
            inner_pc: None,
        };
        known.map(position).collect()
    }

    /// The position at which a source line begins: the first fragment that begins with the line, or
    /// else the first instruction of the line inside a fragment.
    fn line_position(&self, line: u16) -> Result<Option<Position<'a>>, AttachError> {
        let method = self.method;
        let begins_line = |f: &&FragmentId| {
            let fragment = method.flow.get(**f);
            fragment.is_some_and(|f| method.line(f.start) == Some(line))
        };
        let inside = || {
            let (pc, _) = method.lines.iter().find(|(_, known)| *known == line)?;
            let fragment = method.flow.fragment_containing(*pc);
            self.reachable
                .contains(&fragment)
                .then_some((fragment, Some(*pc)))
        };
        let at_start = self.reachable.iter().find(begins_line).map(|f| (*f, None));
        let Some((fragment, inner_pc)) = at_start.or_else(inside) else {
            let known = || method.lines.iter().map(|(_, line)| *line);
            return Err(AttachError::UnknownLine {
                class: self.class(),
                method: self.label(),
                line,
                first: known().min(),
                last: known().max(),
            });
        };
        let fragment = method.flow.get(fragment);
        Ok(fragment.map(|fragment| Position { fragment, inner_pc }))
    }

    /// The fragment with a number that the plan wrote.
    fn named_fragment(&self, number: u32) -> Result<FragmentId, AttachError> {
        let fragment = FragmentId(number);
        let count = self.method.flow.len();
        if fragment.index() >= count {
            return Err(AttachError::UnknownFragment {
                class: self.class(),
                method: self.label(),
                fragment: number,
                last: count.saturating_sub(1) as u32,
            });
        }
        if !self.is_reachable(fragment) {
            let reason = Refusal::BeforeSuper;
            return Err(AttachError::MethodRefused {
                class: self.class(),
                method: self.label(),
                reason: reason.name().to_string(),
                detail: reason.to_string(),
            });
        }
        Ok(fragment)
    }

    fn is_reachable(&self, fragment: FragmentId) -> bool {
        self.reachable.binary_search(&fragment).is_ok()
    }

    /// The values that code can read.
    fn readable(&self) -> &Readable<'a> {
        let analyse = || Readable::new(self.method, &self.armed.points);
        self.readable.get_or_init(analyse)
    }

    /// The compiled code of the spec for a site, if the spec has code. If the code does not
    /// compile, keeps the error.
    fn compile_at(
        &mut self,
        site: Site,
        operands: &[Operand],
    ) -> Result<Option<CompiledProbe>, SkippedPoint> {
        let InstrumentKind::Code(code) = &self.spec.kind else {
            return Ok(None);
        };
        let (state, pc) = match site {
            // At an exit, parameters may have been overwritten or may be dead.
            Site::Return | Site::Throw => (State::default(), 0),
            site => self.readable().state(site),
        };
        let values = VisibleValues {
            state,
            pc,
            operands: operands.to_vec(),
            has_iterations: false,
            has_exception: matches!(site, Site::Return | Site::Throw),
        };
        (self.compile)(code, values).map(Some).map_err(|reason| {
            self.keep_code_error(AttachError::NotCompiled {
                class: self.class(),
                method: self.label(),
                place: site.to_string(),
                reason: Box::new(reason),
            });
            SkippedPoint
        })
    }

    fn keep_code_error(&mut self, error: AttachError) {
        let is_kept = match &self.code_error {
            None => true,
            Some(first) => awaited_class(first).is_none() && awaited_class(&error).is_some(),
        };
        if is_kept {
            self.code_error = Some(error);
        }
    }

    /// The variables of a log, with the slots that hold them at a site.
    fn logged_values(&self, site: Site) -> Result<Vec<LoggedValue>, AttachError> {
        let InstrumentKind::Log(names) = &self.spec.kind else {
            return Ok(Vec::new());
        };
        let (state, pc) = self.readable().state(site);
        let find = |name: &String| {
            let is_named = |slot: LocalSlot| {
                self.method.variable_name(slot, pc) == *name || format!("local{slot}") == *name
            };
            let found = state
                .numbered_locals()
                .find(|(slot, ty)| is_named(*slot) && **ty != Type::Top && !ty.is_uninitialized());
            match found {
                Some((slot, ty)) => Ok(LoggedValue {
                    name: name.clone(),
                    slot,
                    ty: ty.clone(),
                }),
                None => Err(self.not_live(name, site, &state, pc)),
            }
        };
        names.iter().map(find).collect()
    }

    fn not_live(&self, variable: &str, site: Site, state: &State, pc: u16) -> AttachError {
        let live = state.numbered_locals().filter(|(_, ty)| **ty != Type::Top);
        AttachError::VariableNotLive {
            variable: variable.into(),
            class: self.class(),
            method: self.label(),
            place: site.to_string(),
            live: live
                .map(|(slot, _)| self.method.variable_name(slot, pc))
                .collect(),
        }
    }

    /// A point without values and code.
    fn point(
        &self,
        fragment: Option<FragmentId>,
        line: Option<u16>,
        sites: Vec<(Site, PlannedAction)>,
    ) -> PlannedProbe {
        PlannedProbe {
            fragment,
            to: None,
            line,
            sites,
            values: Vec::new(),
            what: None,
            code: None,
        }
    }

    /// The pc and the opcode of the last instruction of a fragment.
    fn last_instruction(&self, fragment: &Fragment) -> (u16, u8) {
        let (pc, instruction) = &self.method.instructions[fragment.instructions.end - 1];
        (*pc, instruction.op())
    }

    fn first_line(&self) -> Option<u16> {
        let first = self.method.instructions.first();
        first.and_then(|(pc, _)| self.method.line(*pc))
    }

    /// The dotted class name.
    fn class(&self) -> String {
        java_form(&self.method.class)
    }

    /// Name and descriptor of the method.
    fn label(&self) -> String {
        format!("{}{}", self.method.name, self.method.descriptor)
    }
}

fn unsupported(what: impl fmt::Display, instead: &str) -> AttachError {
    AttachError::Unsupported {
        what: what.to_string(),
        instead: instead.into(),
    }
}

#[cfg(test)]
#[path = "planner_tests.rs"]
mod tests;
