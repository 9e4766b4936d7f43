//! `methods("…").list()`, `.sample(10, seed)`, `.graphs()`, `.fragment_at(64)`, `.hash()` and
//! `.expect("…")`: lists of armed methods, their graphs, the number of the fragment at a line, and
//! the hash of their code.

use super::convert::{ApiResult, api_error, int, number};
use super::selection::SelectedMethods;
use crate::context::PlanContext;
use rhai::{Array, Dynamic, Engine, INT, ImmutableString, Map};
use std::sync::Arc;
use veneer_instruments::{ArmedMethod, Block, Graph, Parameter, RandomSample, VirtualCallSite};

/// Returns a method as a map; `None` if no pattern can name the method.
fn method(method: &ArmedMethod) -> Option<Map> {
    let mut map = Map::new();
    map.insert("pattern".into(), method.pattern()?.into());
    map.insert("class".into(), method.class.clone().into());
    map.insert("method".into(), method.method.clone().into());
    Some(map)
}

/// Returns a flow graph as a map; `None` if no pattern can name its method.
pub(super) fn graph(graph: &Graph) -> Option<Map> {
    let mut map = method(&graph.method)?;
    let pair = |&(from, to): &(u32, u32)| -> Dynamic {
        let ends: Array = vec![int(from).into(), int(to).into()];
        ends.into()
    };
    let edges: Array = graph.edges.iter().map(pair).collect();
    map.insert("fragments".into(), int(graph.fragments).into());
    map.insert("hash".into(), graph.hash.clone().into());
    map.insert("edges".into(), edges.into());
    let blocks = graph.blocks.iter().enumerate();
    let blocks: Array = blocks.map(|(n, b)| block(n, b).into()).collect();
    map.insert("blocks".into(), blocks.into());
    let parameters = graph.parameters.iter().enumerate();
    let parameters: Array = parameters.map(|(n, one)| parameter(n, one)).collect();
    map.insert("parameters".into(), parameters.into());
    Some(map)
}

fn parameter(number: usize, parameter: &Parameter) -> Dynamic {
    let mut map = Map::new();
    map.insert("number".into(), int(number as u64).into());
    map.insert("name".into(), parameter.name.clone().into());
    map.insert("type".into(), parameter.kind.clone().into());
    map.insert("constant".into(), parameter.can_be_constant.into());
    map.into()
}

fn virtual_call(call: &VirtualCallSite) -> Dynamic {
    let mut map = Map::new();
    let line = call.line.map_or(Dynamic::UNIT, |line| int(line).into());
    map.insert("pc".into(), int(call.pc).into());
    map.insert("line".into(), line);
    map.insert("target".into(), call.target.clone().into());
    map.into()
}

/// Returns a fragment as a map.
pub(super) fn block(number: usize, block: &Block) -> Map {
    let mut map = Map::new();
    let line = block.line.map_or(Dynamic::UNIT, |line| int(line).into());
    let names = block.instructions.iter();
    let instructions: Array = names.map(|name| name.clone().into()).collect();
    let variable = |(name, of): &(String, String)| {
        let mut map = Map::new();
        map.insert("name".into(), name.clone().into());
        map.insert("type".into(), of.clone().into());
        Dynamic::from(map)
    };
    let variables: Array = block.variables.iter().map(variable).collect();
    map.insert("number".into(), int(number as u64).into());
    map.insert("line".into(), line);
    map.insert("size".into(), int(block.instructions.len() as u64).into());
    map.insert("instructions".into(), instructions.into());
    map.insert("depth".into(), int(block.depth).into());
    map.insert("header".into(), block.is_header.into());
    map.insert("reachable".into(), block.is_reachable.into());
    map.insert("variables".into(), variables.into());
    let calls: Array = block.calls.iter().map(virtual_call).collect();
    map.insert("pc".into(), int(block.pc).into());
    map.insert("calls".into(), calls.into());
    map
}

fn list(context: &PlanContext, methods: &SelectedMethods, sample: Option<RandomSample>) -> Array {
    let all: Vec<ArmedMethod> = match (&methods.only, sample) {
        (None, _) => {
            context.with_runtime(|runtime| runtime.armed_methods(&methods.patterns, sample))
        }
        (Some(only), None) => only.values().cloned().collect(),
        (Some(only), Some(sample)) => {
            let all: Vec<&ArmedMethod> = only.values().collect();
            let drawn = sample.draw(all.len()).into_iter();
            drawn
                .filter_map(|place| all.get(place).copied().cloned())
                .collect()
        }
    };
    all.iter().filter_map(method).map(Dynamic::from).collect()
}

fn flow_graphs(context: &PlanContext, methods: &SelectedMethods) -> Vec<Graph> {
    context.with_runtime(|runtime| match &methods.only {
        None => runtime.flow_graphs(&methods.patterns),
        Some(only) => only
            .keys()
            .filter_map(|id| runtime.flow_graph(*id))
            .collect(),
    })
}

/// Arms the selected methods that are loaded, and returns their flow graphs.
pub(super) fn loaded_graphs(context: &PlanContext, methods: &SelectedMethods) -> Vec<Graph> {
    if methods.only.is_none() {
        context.with_runtime(|runtime| runtime.classes(&methods.patterns));
    }
    flow_graphs(context, methods)
}

/// Returns the hash of the code of the selected methods, which all have the same code.
fn hash(context: &PlanContext, methods: &SelectedMethods) -> ApiResult<String> {
    let all = loaded_graphs(context, methods);
    let Some(first) = all.first() else {
        return api_error(NOTHING_LOADED);
    };
    match all.iter().find(|other| other.hash != first.hash) {
        None => Ok(first.hash.clone()),
        Some(other) => api_error(format!(
            "{}::{} and {}::{} have different code: select one method",
            first.method.class, first.method.method, other.method.class, other.method.method
        )),
    }
}

/// Checks that each selected method has the code with this hash.
fn expect(context: &PlanContext, methods: &SelectedMethods, hash: &str) -> ApiResult<()> {
    let all = loaded_graphs(context, methods);
    if all.is_empty() {
        return api_error(NOTHING_LOADED);
    }
    match all.iter().find(|graph| graph.hash != hash) {
        None => Ok(()),
        Some(other) => api_error(format!(
            "{}::{} has other code than expected: its hash is {}, not {hash}; look at its fragments anew with `veneer fragments`",
            other.method.class, other.method.method, other.hash
        )),
    }
}

/// The error if no method of a selection is loaded.
pub(super) const NOTHING_LOADED: &str =
    "no loaded method is selected: name a method of a class that the program has loaded";

/// Returns the number of the only fragment that begins at a source line. All selected methods must
/// have the same number there, because an edit names one number for all of them.
pub(super) fn fragment_at(
    context: &PlanContext,
    methods: &SelectedMethods,
    line: INT,
) -> ApiResult<INT> {
    let all = loaded_graphs(context, methods);
    let Some(first) = all.first() else {
        return api_error(NOTHING_LOADED);
    };
    let begins = |graph: &Graph| -> Vec<usize> {
        let at_line = |block: &Block| block.line.is_some_and(|own| INT::from(own) == line);
        (0..graph.blocks.len())
            .filter(|n| at_line(&graph.blocks[*n]))
            .collect()
    };
    let numbers = begins(first);
    if let Some(other) = all.iter().find(|other| begins(other) != numbers) {
        return api_error(format!(
            "{}::{} and {}::{} have different fragments at line {line}: select one method",
            first.method.class, first.method.method, other.method.class, other.method.method
        ));
    }
    let listed = |words: Vec<String>| words.join(", ");
    match numbers[..] {
        [number] => Ok(int(number as u64)),
        [] => {
            let mut lines: Vec<u16> = first.blocks.iter().filter_map(|b| b.line).collect();
            lines.sort_unstable();
            lines.dedup();
            api_error(format!(
                "no fragment of {}::{} begins at line {line}: they begin at {}",
                first.method.class,
                first.method.method,
                listed(lines.iter().map(u16::to_string).collect())
            ))
        }
        _ => api_error(format!(
            "several fragments of {}::{} begin at line {line}: write one of the numbers {}",
            first.method.class,
            first.method.method,
            listed(numbers.iter().map(usize::to_string).collect())
        )),
    }
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn("list", move |methods: &mut SelectedMethods| {
        list(&plan, methods, None)
    });
    let plan = context.clone();
    engine.register_fn(
        "sample",
        move |methods: &mut SelectedMethods, count: INT, seed: INT| -> ApiResult<Array> {
            let count = number("number of methods: write 0 or more", count)?;
            // Any integer is a valid seed, so its bits are reinterpreted.
            let seed = seed as u64;
            Ok(list(&plan, methods, Some(RandomSample { count, seed })))
        },
    );
    let plan = context.clone();
    engine.register_fn("graphs", move |methods: &mut SelectedMethods| {
        let all = flow_graphs(&plan, methods);
        let maps = all.iter().filter_map(graph);
        maps.map(Dynamic::from).collect::<Array>()
    });
    let plan = context.clone();
    engine.register_fn(
        "fragment_at",
        move |methods: &mut SelectedMethods, line: INT| fragment_at(&plan, methods, line),
    );
    let plan = context.clone();
    engine.register_fn("hash", move |methods: &mut SelectedMethods| {
        hash(&plan, methods)
    });
    let plan = context.clone();
    engine.register_fn(
        "expect",
        move |methods: &mut SelectedMethods, hash: ImmutableString| {
            expect(&plan, methods, &hash).map(|()| methods.clone())
        },
    );
}
