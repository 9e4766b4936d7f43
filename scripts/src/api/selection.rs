//! `methods("…").blocks()`: which points, and `.before(…)`: attaching an instrument to them.

use super::handle::Handle;
use super::instrument::Instrument;
use super::{Answer, element, error, number};
use crate::context::Context;
use crate::ledger::Thing;
use rhai::{Array, Dynamic, Engine, INT, ImmutableString, NativeCallContext, Position};
use std::sync::Arc;
use veneer_instruments::{Kind, MethodPattern, Place, Spec, When};

/// Methods, by pattern.
#[derive(Clone, Debug)]
pub(super) struct Methods {
    pub(super) patterns: Vec<MethodPattern>,
}

/// Points of methods.
#[derive(Clone, Debug)]
struct Points {
    methods: Methods,
    place: Place,
}

impl Methods {
    fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Answer<Self> {
        let patterns = texts
            .map(|text| MethodPattern::parse(text).or_else(error))
            .collect::<Answer<Vec<_>>>()?;
        if patterns.is_empty() {
            return error("no pattern: write methods(\"a.b..*::m(..)\")");
        }
        Ok(Methods { patterns })
    }

    fn at(&self, place: Place) -> Points {
        Points {
            methods: self.clone(),
            place,
        }
    }

    fn show(&self) -> String {
        let texts: Vec<String> = self.patterns.iter().map(MethodPattern::to_string).collect();
        texts.join(", ")
    }
}

/// A fragment's number.
pub(super) fn fragment(value: INT) -> Answer<u32> {
    number("fragment: they are numbered from 0", value)
}

fn line(value: INT) -> Answer<u16> {
    number("line: write 1 to 65535", value).and_then(|line| match line {
        0 => error("0 is no line: write 1 to 65535"),
        line => Ok(line),
    })
}

/// A pair of fragments out of an array of them.
fn edge(value: &Dynamic) -> Answer<(u32, u32)> {
    let what = "edges: write [[from, to], …]";
    match element::<Array>(what, value)?.as_slice() {
        [from, to] => Ok((
            fragment(element(what, from)?)?,
            fragment(element(what, to)?)?,
        )),
        _ => error(format!("`{value}` is no edge: write [from, to]")),
    }
}

/// Each of a non-empty array.
fn each<T>(values: &Array, read: impl Fn(&Dynamic) -> Answer<T>) -> Answer<Vec<T>> {
    if values.is_empty() {
        return error("the array is empty: name at least one point");
    }
    values.iter().map(read).collect()
}

fn attach(
    context: &Arc<Context>,
    position: Position,
    points: &Points,
    when: When,
    instrument: &Instrument,
) -> Answer<Handle> {
    match (&instrument.kind, when) {
        (Kind::Timer, When::Before | When::After) => {
            return error("a timer measures from one point to another: write .around(timer())");
        }
        (Kind::Counter, When::Around) => {
            return error(
                "a counter counts at one point: write .before(counter()) or .after(counter())",
            );
        }
        _ => {}
    }
    let spec = Spec {
        name: instrument.name.clone(),
        plan: context.name.clone(),
        patterns: points.methods.patterns.clone(),
        place: points.place.clone(),
        when,
        kind: instrument.kind.clone(),
        each: instrument.each,
    };
    let attached = context.ask(|runtime| runtime.attach(spec)).or_else(error)?;
    let thing = Thing::Instrument(attached.id);
    context.ledger.attached(context.load, &context.name, thing);
    for warning in &attached.warnings {
        let place = context.place(position);
        context.ask(|runtime| runtime.print(&format!("{place}: warning: {warning}")));
    }
    Ok(Handle {
        id: attached.id,
        log: matches!(instrument.kind, Kind::Log(_)),
    })
}

pub(super) fn register(engine: &mut Engine, context: &Arc<Context>) {
    engine.register_type_with_name::<Methods>("Methods");
    engine.register_type_with_name::<Points>("Points");
    engine.register_fn("methods", |text: ImmutableString| {
        Methods::new(std::iter::once(text.as_str()))
    });
    engine.register_fn("methods", |texts: Array| {
        let texts = texts
            .iter()
            .map(|text| element::<ImmutableString>("patterns", text));
        let texts = texts.collect::<Answer<Vec<_>>>()?;
        Methods::new(texts.iter().map(ImmutableString::as_str))
    });
    for (name, place) in [
        ("entry", Place::Entry),
        ("exits", Place::Exits),
        ("blocks", Place::Blocks),
        ("loops", Place::Loops),
        ("edges", Place::Edges),
    ] {
        engine.register_fn(name, move |methods: &mut Methods| methods.at(place.clone()));
    }
    engine.register_fn("block", |methods: &mut Methods, n: INT| -> Answer<Points> {
        Ok(methods.at(Place::Block(vec![fragment(n)?])))
    });
    engine.register_fn(
        "block",
        |methods: &mut Methods, all: Array| -> Answer<Points> {
            let blocks = each(&all, |n| fragment(element("fragment numbers", n)?))?;
            Ok(methods.at(Place::Block(blocks)))
        },
    );
    engine.register_fn(
        "edge",
        |methods: &mut Methods, a: INT, b: INT| -> Answer<Points> {
            Ok(methods.at(Place::Edge(vec![(fragment(a)?, fragment(b)?)])))
        },
    );
    engine.register_fn(
        "edge",
        |methods: &mut Methods, all: Array| -> Answer<Points> {
            Ok(methods.at(Place::Edge(each(&all, edge)?)))
        },
    );
    engine.register_fn("line", |methods: &mut Methods, n: INT| -> Answer<Points> {
        Ok(methods.at(Place::Line(vec![line(n)?])))
    });
    engine.register_fn(
        "line",
        |methods: &mut Methods, all: Array| -> Answer<Points> {
            let lines = each(&all, |n| line(element("line numbers", n)?))?;
            Ok(methods.at(Place::Line(lines)))
        },
    );
    for (name, when) in [
        ("before", When::Before),
        ("after", When::After),
        ("around", When::Around),
    ] {
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, methods: &mut Methods, instrument: Instrument| {
                let points = methods.at(Place::Method);
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
    }
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |methods: &mut Methods| methods.show());
        engine.register_fn(show, |points: &mut Points| {
            format!("{} of {}", points.place, points.methods.show())
        });
    }
}
