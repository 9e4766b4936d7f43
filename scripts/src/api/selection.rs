//! Selections of points: `methods("…").blocks()`, and `.before(…)`, which attaches an instrument to
//! them.

use super::convert::{ApiResult, api_error, downcast_element, number};
use super::handle::InstrumentHandle;
use super::instrument::InstrumentBuilder;
use super::tally::{KeptHandle, TableHandle};
use crate::context::PlanContext;
use crate::ownership::Attachment;
use crate::probe::{self, CapturedTable};
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
use veneer_names::MethodId;

/// A selection of methods by pattern.
#[derive(Clone, Debug)]
pub(super) struct SelectedMethods {
    pub(super) patterns: Vec<MethodPattern>,
    /// The methods that a predicate has chosen, by id. `None` without a predicate.
    pub(super) only: Option<Arc<BTreeMap<MethodId, ArmedMethod>>>,
    pub(super) limit: u32,
}

/// A selection of points in methods.
#[derive(Clone, Debug)]
pub(super) struct SelectedPoints {
    pub(super) methods: SelectedMethods,
    pub(super) place: PointSelector,
    /// The blocks that a predicate has chosen, by method id. `None` without a predicate.
    pub(super) chosen: Option<Arc<BTreeMap<MethodId, Vec<u32>>>>,
}

impl SelectedMethods {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> ApiResult<Self> {
        let patterns = texts
            .map(|text| MethodPattern::parse(text).or_else(api_error))
            .collect::<ApiResult<Vec<_>>>()?;
        if patterns.is_empty() {
            return api_error("no pattern: write methods(\"a.b..*::m(..)\")");
        }
        Ok(SelectedMethods {
            patterns,
            only: None,
            limit: DEFAULT_MAX_POINTS,
        })
    }

    pub(super) fn from_array(texts: &Array) -> ApiResult<Self> {
        let texts = texts
            .iter()
            .map(|text| downcast_element::<ImmutableString>("patterns", text));
        let texts = texts.collect::<ApiResult<Vec<_>>>()?;
        SelectedMethods::new(texts.iter().map(ImmutableString::as_str))
    }

    /// Returns the patterns of the selection. If a predicate has chosen methods, returns one
    /// pattern for each of these methods.
    pub(super) fn exact_patterns(&self) -> ApiResult<Vec<MethodPattern>> {
        let Some(only) = &self.only else {
            return Ok(self.patterns.clone());
        };
        if only.is_empty() {
            return api_error("the predicate holds for no method that is loaded now");
        }
        let texts = only.values().filter_map(ArmedMethod::pattern);
        let patterns = texts.map(|text| MethodPattern::parse(&text).or_else(api_error));
        patterns.collect()
    }

    /// Returns the selection without the methods of some classes.
    fn except(&self, classes: impl IntoIterator<Item = ImmutableString>) -> ApiResult<Self> {
        let mut methods = self.clone();
        for class in classes {
            for pattern in &mut methods.patterns {
                pattern.add_exception(&class).or_else(api_error)?;
            }
        }
        if let Some(only) = methods.only.take() {
            let kept = only.iter().filter(|(_, method)| {
                let mut patterns = methods.patterns.iter();
                patterns.any(|pattern| pattern.matches_class(&method.class))
            });
            let kept = kept.map(|(id, method)| (*id, method.clone())).collect();
            methods.only = Some(Arc::new(kept));
        }
        Ok(methods)
    }

    fn at(&self, place: PointSelector) -> SelectedPoints {
        SelectedPoints {
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
pub(super) fn fragment_number(value: INT) -> ApiResult<u32> {
    number("fragment: they are numbered from 0", value)
}

fn line(value: INT) -> ApiResult<u16> {
    number("line: write 1 to 65535", value).and_then(|line| match line {
        0 => api_error("0 is no line: write 1 to 65535"),
        line => Ok(line),
    })
}

/// Converts an element of an array to a pair of fragments.
fn edge(value: &Dynamic) -> ApiResult<(u32, u32)> {
    let what = "edges: write [[from, to], …]";
    match downcast_element::<Array>(what, value)?.as_slice() {
        [from, to] => Ok((
            fragment_number(downcast_element(what, from)?)?,
            fragment_number(downcast_element(what, to)?)?,
        )),
        _ => api_error(format!("`{value}` is no edge: write [from, to]")),
    }
}

/// Converts each element of a non-empty array.
fn each<T>(values: &Array, read: impl Fn(&Dynamic) -> ApiResult<T>) -> ApiResult<Vec<T>> {
    if values.is_empty() {
        return api_error("the array is empty: name at least one point");
    }
    values.iter().map(read).collect()
}

fn attach(
    context: &Arc<PlanContext>,
    position: Position,
    points: &SelectedPoints,
    when: AdviceKind,
    instrument: &InstrumentBuilder,
) -> ApiResult<InstrumentHandle> {
    match (&instrument.kind, when) {
        (InstrumentKind::Timer, AdviceKind::Around)
            if instrument.late && points.place != PointSelector::Method =>
        {
            return api_error(
                "a late timer is for whole methods: write methods(…).around(timer().late())",
            );
        }
        (InstrumentKind::Timer, AdviceKind::Before | AdviceKind::After) => {
            return api_error("a timer measures from one point to another: write .around(timer())");
        }
        (InstrumentKind::Code(_), AdviceKind::Around) => {
            return api_error("code runs at one point: write .before(|p| …) or .after(|p| …)");
        }
        (InstrumentKind::Recorder(_), _)
            if when != AdviceKind::Around || points.place != PointSelector::Method =>
        {
            return api_error(
                "a recorder records whole calls: write methods(…).around(recorder())",
            );
        }
        (InstrumentKind::Counter, AdviceKind::Around) => {
            return api_error(
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
    let attached = context
        .with_runtime(|runtime| runtime.attach(spec))
        .or_else(api_error)?;
    let thing = Attachment::Instrument(attached.id);
    context
        .ownership
        .record_attached(context.instance, &context.name, thing);
    for warning in &attached.warnings {
        if !context.is_new_warning(warning) {
            continue;
        }
        let place = context.place(position);
        context.with_runtime(|runtime| runtime.print(&format!("{place}: warning: {warning}")));
    }
    Ok(InstrumentHandle {
        id: attached.id,
        log: matches!(instrument.kind, InstrumentKind::Log(_)),
    })
}

/// Attaches a probe.
fn run(
    context: &Arc<PlanContext>,
    position: Position,
    points: &SelectedPoints,
    when: AdviceKind,
    closure: &FnPtr,
) -> ApiResult<InstrumentHandle> {
    let instrument = code(context, position, closure)?;
    attach(context, position, points, when, &instrument)
}

/// Converts a closure to an instrument.
fn code(
    context: &PlanContext,
    position: Position,
    closure: &FnPtr,
) -> ApiResult<InstrumentBuilder> {
    let table = |value: &Dynamic| {
        let one = value.clone().try_cast::<TableHandle>();
        let one = one.map(|table| CapturedTable::One(table.number, table.kind));
        one.or_else(|| {
            let kept = value.clone().try_cast::<KeptHandle>();
            kept.map(|kept| CapturedTable::PerCall(kept.stacks()))
        })
    };
    let around = probe::CaptureScope {
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
    Ok(InstrumentBuilder::code(code))
}

/// Registers `.calls()` and the other functions that select single instructions.
fn instructions(engine: &mut Engine) {
    for (name, which) in [
        ("calls", InstructionKind::Calls(None)),
        ("call_sites", InstructionKind::CallSites(None)),
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
        engine.register_fn(name, move |methods: &mut SelectedMethods| {
            methods.at(PointSelector::Instructions(which.clone()))
        });
    }
    engine.register_fn(
        "calls",
        |methods: &mut SelectedMethods, pattern: ImmutableString| -> ApiResult<SelectedPoints> {
            let pattern = MethodPattern::parse(&pattern).or_else(api_error)?;
            if pattern.needs_metadata() {
                return api_error(format!(
                    "`{pattern}`: of a call only names and types are known, as the code has them: write calls(\"a.B::m(..)\") without `+`, flags and annotations"
                ));
            }
            Ok(methods.at(PointSelector::Instructions(InstructionKind::Calls(Some(pattern)))))
        },
    );
    type Named = (&'static str, fn(String) -> InstructionKind);
    let named: [Named; 4] = [
        ("call_sites", |name| InstructionKind::CallSites(Some(name))),
        ("reads", |name| InstructionKind::Reads(Some(name))),
        ("writes", |name| InstructionKind::Writes(Some(name))),
        ("instructions", InstructionKind::Opcode),
    ];
    for (name, which) in named {
        engine.register_fn(
            name,
            move |methods: &mut SelectedMethods, of: ImmutableString| {
                methods.at(PointSelector::Instructions(which(of.to_string())))
            },
        );
    }
}

/// Registers `before`, `after` and `around`, which attach an instrument or a probe to the selected
/// points.
fn register_advice(engine: &mut Engine, context: &Arc<PlanContext>) {
    for (name, when) in [
        ("before", AdviceKind::Before),
        ("after", AdviceKind::After),
        ("around", AdviceKind::Around),
    ] {
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext,
                  methods: &mut SelectedMethods,
                  instrument: InstrumentBuilder| {
                let points = methods.at(PointSelector::Method);
                attach(&plan, call.call_position(), &points, when, &instrument)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext,
                  points: &mut SelectedPoints,
                  instrument: InstrumentBuilder| {
                attach(&plan, call.call_position(), points, when, &instrument)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, methods: &mut SelectedMethods, closure: FnPtr| {
                let points = methods.at(PointSelector::Method);
                run(&plan, call.call_position(), &points, when, &closure)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, points: &mut SelectedPoints, closure: FnPtr| {
                run(&plan, call.call_position(), points, when, &closure)
            },
        );
    }
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<SelectedMethods>("Methods");
    engine.register_fn(
        "limit",
        |methods: &mut SelectedMethods, n: INT| -> ApiResult<SelectedMethods> {
            let limit = number("number of points", n)?;
            Ok(SelectedMethods {
                limit,
                ..methods.clone()
            })
        },
    );
    engine.register_fn(
        "except",
        |methods: &mut SelectedMethods, class: ImmutableString| methods.except([class]),
    );
    engine.register_fn(
        "except",
        |methods: &mut SelectedMethods, classes: Array| -> ApiResult<SelectedMethods> {
            let classes = classes
                .iter()
                .map(|class| downcast_element::<ImmutableString>("patterns of classes", class));
            methods.except(classes.collect::<ApiResult<Vec<_>>>()?)
        },
    );
    engine.register_type_with_name::<SelectedPoints>("Points");
    engine.register_fn("methods", |text: ImmutableString| {
        SelectedMethods::new(std::iter::once(text.as_str()))
    });
    engine.register_fn("methods", |texts: Array| {
        SelectedMethods::from_array(&texts)
    });
    for (name, place) in [
        ("entry", PointSelector::Entry),
        ("exits", PointSelector::Exits),
        ("blocks", PointSelector::Blocks),
        ("loops", PointSelector::Loops),
        ("loop_exits", PointSelector::LoopExits),
        ("edges", PointSelector::Edges),
        ("call_graph", PointSelector::CallGraph),
        ("guards", PointSelector::Guards),
    ] {
        engine.register_fn(name, move |methods: &mut SelectedMethods| {
            methods.at(place.clone())
        });
    }
    engine.register_fn(
        "block",
        |methods: &mut SelectedMethods, n: INT| -> ApiResult<SelectedPoints> {
            Ok(methods.at(PointSelector::Block(vec![fragment_number(n)?])))
        },
    );
    engine.register_fn(
        "block",
        |methods: &mut SelectedMethods, all: Array| -> ApiResult<SelectedPoints> {
            let blocks = each(&all, |n| {
                fragment_number(downcast_element("fragment numbers", n)?)
            })?;
            Ok(methods.at(PointSelector::Block(blocks)))
        },
    );
    engine.register_fn(
        "edge",
        |methods: &mut SelectedMethods, a: INT, b: INT| -> ApiResult<SelectedPoints> {
            Ok(methods.at(PointSelector::Edge(vec![(
                fragment_number(a)?,
                fragment_number(b)?,
            )])))
        },
    );
    engine.register_fn(
        "edge",
        |methods: &mut SelectedMethods, all: Array| -> ApiResult<SelectedPoints> {
            Ok(methods.at(PointSelector::Edge(each(&all, edge)?)))
        },
    );
    engine.register_fn(
        "line",
        |methods: &mut SelectedMethods, n: INT| -> ApiResult<SelectedPoints> {
            Ok(methods.at(PointSelector::Line(vec![line(n)?])))
        },
    );
    engine.register_fn(
        "line",
        |methods: &mut SelectedMethods, all: Array| -> ApiResult<SelectedPoints> {
            let lines = each(&all, |n| line(downcast_element("line numbers", n)?))?;
            Ok(methods.at(PointSelector::Line(lines)))
        },
    );
    instructions(engine);
    let plan = context.clone();
    engine.register_fn(
        "code",
        move |call: NativeCallContext, closure: FnPtr| -> ApiResult<InstrumentBuilder> {
            code(&plan, call.call_position(), &closure)
        },
    );
    register_advice(engine, context);
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |methods: &mut SelectedMethods| methods.show());
        engine.register_fn(show, |points: &mut SelectedPoints| {
            format!("{} of {}", points.place, points.methods.show())
        });
    }
}
