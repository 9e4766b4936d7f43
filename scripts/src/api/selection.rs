//! Selections of points: `methods("…").blocks()`, and `.before(…)`, which attaches an instrument to
//! them.

use super::convert::{ApiResult, element, error, number};
use super::handle::Handle;
use super::instrument::Instrument;
use super::tally::Table;
use crate::context::Context;
use crate::ownership::Thing;
use crate::probe;
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, FnPtr, INT, ImmutableString, NativeCallContext, Position,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_instruments::{
    AdviceKind, ArmedMethod, DEFAULT_MAX_POINTS, InstructionKind, InstrumentKind, InstrumentSpec,
    MethodPattern, PointSelector,
};

/// A selection of methods by pattern.
#[derive(Clone, Debug)]
pub(super) struct Methods {
    pub(super) patterns: Vec<MethodPattern>,
    /// The methods that a predicate has chosen, by id. `None` without a predicate.
    pub(super) only: Option<Arc<BTreeMap<u32, ArmedMethod>>>,
    pub(super) limit: u32,
}

/// A selection of points in methods.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub(super) methods: Methods,
    pub(super) place: PointSelector,
    /// The blocks that a predicate has chosen, by method id. `None` without a predicate.
    pub(super) chosen: Option<Arc<BTreeMap<u32, Vec<u32>>>>,
}

impl Methods {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> ApiResult<Self> {
        let patterns = texts
            .map(|text| MethodPattern::parse(text).or_else(error))
            .collect::<ApiResult<Vec<_>>>()?;
        if patterns.is_empty() {
            return error("no pattern: write methods(\"a.b..*::m(..)\")");
        }
        Ok(Methods {
            patterns,
            only: None,
            limit: DEFAULT_MAX_POINTS,
        })
    }

    pub(super) fn of_array(texts: &Array) -> ApiResult<Self> {
        let texts = texts
            .iter()
            .map(|text| element::<ImmutableString>("patterns", text));
        let texts = texts.collect::<ApiResult<Vec<_>>>()?;
        Methods::new(texts.iter().map(ImmutableString::as_str))
    }

    /// Returns the patterns of the selection. If a predicate has chosen methods, returns one
    /// pattern for each of these methods.
    pub(super) fn exact(&self) -> ApiResult<Vec<MethodPattern>> {
        let Some(only) = &self.only else {
            return Ok(self.patterns.clone());
        };
        if only.is_empty() {
            return error("the predicate holds for no method that is loaded now");
        }
        let texts = only.values().filter_map(ArmedMethod::pattern);
        let patterns = texts.map(|text| MethodPattern::parse(&text).or_else(error));
        patterns.collect()
    }

    fn at(&self, place: PointSelector) -> Points {
        Points {
            methods: self.clone(),
            place,
            chosen: None,
        }
    }

    fn show(&self) -> String {
        let texts: Vec<String> = self.patterns.iter().map(MethodPattern::to_string).collect();
        let all = texts.join(", ");
        match &self.only {
            Some(only) => format!("{} methods of {all}", only.len()),
            None => all,
        }
    }
}

/// Converts the number of a fragment.
pub(super) fn fragment(value: INT) -> ApiResult<u32> {
    number("fragment: they are numbered from 0", value)
}

fn line(value: INT) -> ApiResult<u16> {
    number("line: write 1 to 65535", value).and_then(|line| match line {
        0 => error("0 is no line: write 1 to 65535"),
        line => Ok(line),
    })
}

/// Converts an element of an array to a pair of fragments.
fn edge(value: &Dynamic) -> ApiResult<(u32, u32)> {
    let what = "edges: write [[from, to], …]";
    match element::<Array>(what, value)?.as_slice() {
        [from, to] => Ok((
            fragment(element(what, from)?)?,
            fragment(element(what, to)?)?,
        )),
        _ => error(format!("`{value}` is no edge: write [from, to]")),
    }
}

/// Converts each element of a non-empty array.
fn each<T>(values: &Array, read: impl Fn(&Dynamic) -> ApiResult<T>) -> ApiResult<Vec<T>> {
    if values.is_empty() {
        return error("the array is empty: name at least one point");
    }
    values.iter().map(read).collect()
}

fn attach(
    context: &Arc<Context>,
    position: Position,
    points: &Points,
    when: AdviceKind,
    instrument: &Instrument,
) -> ApiResult<Handle> {
    match (&instrument.kind, when) {
        (InstrumentKind::Timer, AdviceKind::Around)
            if instrument.late && points.place != PointSelector::Method =>
        {
            return error(
                "a late timer is for whole methods: write methods(…).around(timer().late())",
            );
        }
        (InstrumentKind::Timer, AdviceKind::Before | AdviceKind::After) => {
            return error("a timer measures from one point to another: write .around(timer())");
        }
        (InstrumentKind::Code(_), AdviceKind::Around) => {
            return error("code runs at one point: write .before(|p| …) or .after(|p| …)");
        }
        (InstrumentKind::Counter, AdviceKind::Around) => {
            return error(
                "a counter counts at one point: write .before(counter()) or .after(counter())",
            );
        }
        _ => {}
    }
    let methods = points.methods.only.iter().flat_map(|only| only.keys());
    let whole = methods.map(|id| (*id, Vec::new())).collect();
    let only = match &points.chosen {
        Some(chosen) => Some(chosen.as_ref().clone()),
        None => points.methods.only.is_some().then_some(whole),
    };
    let spec = InstrumentSpec {
        name: instrument.name.clone(),
        plan: context.name.clone(),
        patterns: points.methods.patterns.clone(),
        only,
        place: points.place.clone(),
        when,
        kind: instrument.kind.clone(),
        limit: points.methods.limit,
        each: instrument.each,
        times: instrument.times,
        budget: instrument.budget,
        late: instrument.late,
    };
    let attached = context.ask(|runtime| runtime.attach(spec)).or_else(error)?;
    let thing = Thing::Instrument(attached.id);
    context
        .ownership
        .record_attached(context.load, &context.name, thing);
    for warning in &attached.warnings {
        let place = context.place(position);
        context.ask(|runtime| runtime.print(&format!("{place}: warning: {warning}")));
    }
    Ok(Handle {
        id: attached.id,
        log: matches!(instrument.kind, InstrumentKind::Log(_)),
    })
}

/// Attaches a probe.
fn run(
    context: &Arc<Context>,
    position: Position,
    points: &Points,
    when: AdviceKind,
    closure: &FnPtr,
) -> ApiResult<Handle> {
    let instrument = code(context, position, closure)?;
    attach(context, position, points, when, &instrument)
}

/// Converts a closure to an instrument.
fn code(context: &Context, position: Position, closure: &FnPtr) -> ApiResult<Instrument> {
    let table = |value: &Dynamic| {
        value
            .clone()
            .try_cast::<Table>()
            .map(|t| (t.number, t.kind))
    };
    let around = probe::Environment {
        table: &table,
        constant: &|module, name| context.modules.value(module, name),
        source_map: context.source_map(),
        calls: context.calls.load(Ordering::Relaxed),
    };
    let code = probe::code(&context.tree, closure, &around).map_err(|refused| {
        let position = match refused.position {
            Position::NONE => position,
            known => known,
        };
        Box::new(EvalAltResult::ErrorRuntime(
            refused.message.into(),
            position,
        ))
    })?;
    Ok(Instrument::code(code))
}

/// Registers `.calls()` and the other functions that select single instructions.
fn instructions(engine: &mut Engine) {
    for (name, which) in [
        ("calls", InstructionKind::Calls(None)),
        ("reads", InstructionKind::Reads(None)),
        ("writes", InstructionKind::Writes(None)),
        ("array_reads", InstructionKind::ArrayReads),
        ("array_writes", InstructionKind::ArrayWrites),
        ("allocations", InstructionKind::Allocations),
        ("monitor_enters", InstructionKind::MonitorEnters),
        ("monitor_exits", InstructionKind::MonitorExits),
        ("throws", InstructionKind::Throws),
        ("handlers", InstructionKind::Handlers),
        ("branches", InstructionKind::Branches),
        ("switches", InstructionKind::Switches),
        ("instructions", InstructionKind::Opcode("*".into())),
    ] {
        engine.register_fn(name, move |methods: &mut Methods| {
            methods.at(PointSelector::Instructions(which.clone()))
        });
    }
    engine.register_fn(
        "calls",
        |methods: &mut Methods, pattern: ImmutableString| -> ApiResult<Points> {
            let pattern = MethodPattern::parse(&pattern).or_else(error)?;
            if pattern.needs_metadata() {
                return error(format!(
                    "`{pattern}`: of a call only names and types are known, as the code has them: write calls(\"a.B::m(..)\") without `+`, flags and annotations"
                ));
            }
            Ok(methods.at(PointSelector::Instructions(InstructionKind::Calls(Some(pattern)))))
        },
    );
    type Named = (&'static str, fn(String) -> InstructionKind);
    let named: [Named; 3] = [
        ("reads", |name| InstructionKind::Reads(Some(name))),
        ("writes", |name| InstructionKind::Writes(Some(name))),
        ("instructions", InstructionKind::Opcode),
    ];
    for (name, which) in named {
        engine.register_fn(name, move |methods: &mut Methods, of: ImmutableString| {
            methods.at(PointSelector::Instructions(which(of.to_string())))
        });
    }
}

pub(super) fn register(engine: &mut Engine, context: &Arc<Context>) {
    engine.register_type_with_name::<Methods>("Methods");
    engine.register_fn(
        "limit",
        |methods: &mut Methods, n: INT| -> ApiResult<Methods> {
            let limit = number("number of points", n)?;
            Ok(Methods {
                limit,
                ..methods.clone()
            })
        },
    );
    engine.register_type_with_name::<Points>("Points");
    engine.register_fn("methods", |text: ImmutableString| {
        Methods::new(std::iter::once(text.as_str()))
    });
    engine.register_fn("methods", |texts: Array| Methods::of_array(&texts));
    for (name, place) in [
        ("entry", PointSelector::Entry),
        ("exits", PointSelector::Exits),
        ("blocks", PointSelector::Blocks),
        ("loops", PointSelector::Loops),
        ("loop_exits", PointSelector::LoopExits),
        ("edges", PointSelector::Edges),
    ] {
        engine.register_fn(name, move |methods: &mut Methods| methods.at(place.clone()));
    }
    engine.register_fn(
        "block",
        |methods: &mut Methods, n: INT| -> ApiResult<Points> {
            Ok(methods.at(PointSelector::Block(vec![fragment(n)?])))
        },
    );
    engine.register_fn(
        "block",
        |methods: &mut Methods, all: Array| -> ApiResult<Points> {
            let blocks = each(&all, |n| fragment(element("fragment numbers", n)?))?;
            Ok(methods.at(PointSelector::Block(blocks)))
        },
    );
    engine.register_fn(
        "edge",
        |methods: &mut Methods, a: INT, b: INT| -> ApiResult<Points> {
            Ok(methods.at(PointSelector::Edge(vec![(fragment(a)?, fragment(b)?)])))
        },
    );
    engine.register_fn(
        "edge",
        |methods: &mut Methods, all: Array| -> ApiResult<Points> {
            Ok(methods.at(PointSelector::Edge(each(&all, edge)?)))
        },
    );
    engine.register_fn(
        "line",
        |methods: &mut Methods, n: INT| -> ApiResult<Points> {
            Ok(methods.at(PointSelector::Line(vec![line(n)?])))
        },
    );
    engine.register_fn(
        "line",
        |methods: &mut Methods, all: Array| -> ApiResult<Points> {
            let lines = each(&all, |n| line(element("line numbers", n)?))?;
            Ok(methods.at(PointSelector::Line(lines)))
        },
    );
    instructions(engine);
    let plan = context.clone();
    engine.register_fn(
        "code",
        move |call: NativeCallContext, closure: FnPtr| -> ApiResult<Instrument> {
            code(&plan, call.call_position(), &closure)
        },
    );
    for (name, when) in [
        ("before", AdviceKind::Before),
        ("after", AdviceKind::After),
        ("around", AdviceKind::Around),
    ] {
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, methods: &mut Methods, instrument: Instrument| {
                let points = methods.at(PointSelector::Method);
                attach(&plan, call.call_position(), &points, when, &instrument)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, points: &mut Points, instrument: Instrument| {
                attach(&plan, call.call_position(), points, when, &instrument)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, methods: &mut Methods, closure: FnPtr| {
                let points = methods.at(PointSelector::Method);
                run(&plan, call.call_position(), &points, when, &closure)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, points: &mut Points, closure: FnPtr| {
                run(&plan, call.call_position(), points, when, &closure)
            },
        );
    }
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |methods: &mut Methods| methods.show());
        engine.register_fn(show, |points: &mut Points| {
            format!("{} of {}", points.place, points.methods.show())
        });
    }
}
