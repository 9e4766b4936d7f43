//! `methods("…").list()`, `.sample(10, seed)`, `.graphs()`: what there is to choose from.

use super::selection::Methods;
use super::{Answer, int, number};
use crate::context::Context;
use rhai::{Array, Dynamic, Engine, INT, Map};
use std::sync::Arc;
use veneer_instruments::{ArmedMethod, Graph, Sample};

/// A method as a map; none where no pattern can name it.
fn method(method: &ArmedMethod) -> Option<Map> {
    let mut map = Map::new();
    map.insert("pattern".into(), method.pattern()?.into());
    map.insert("class".into(), method.class.clone().into());
    map.insert("method".into(), method.method.clone().into());
    Some(map)
}

fn graph(graph: &Graph) -> Option<Dynamic> {
    let mut map = method(&graph.method)?;
    let pair = |&(from, to): &(u32, u32)| -> Dynamic {
        let ends: Array = vec![int(from).into(), int(to).into()];
        ends.into()
    };
    let edges: Array = graph.edges.iter().map(pair).collect();
    map.insert("fragments".into(), int(graph.fragments).into());
    map.insert("edges".into(), edges.into());
    Some(map.into())
}

fn list(context: &Context, methods: &Methods, sample: Option<Sample>) -> Array {
    let all = context.ask(|runtime| runtime.armed(&methods.patterns, sample));
    all.iter().filter_map(method).map(Dynamic::from).collect()
}

pub(super) fn register(engine: &mut Engine, context: &Arc<Context>) {
    let plan = context.clone();
    engine.register_fn("list", move |methods: &mut Methods| {
        list(&plan, methods, None)
    });
    let plan = context.clone();
    engine.register_fn(
        "sample",
        move |methods: &mut Methods, count: INT, seed: INT| -> Answer<Array> {
            let count = number("number of methods: write 0 or more", count)?;
            // Any integer is a seed; its bits are taken as they are.
            let seed = seed as u64;
            Ok(list(&plan, methods, Some(Sample { count, seed })))
        },
    );
    let plan = context.clone();
    engine.register_fn("graphs", move |methods: &mut Methods| {
        let all = plan.ask(|runtime| runtime.graphs(&methods.patterns));
        all.iter().filter_map(graph).collect::<Array>()
    });
}
