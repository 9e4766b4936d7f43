//! `transformation("name", |graph, options| …)`: transformations of a plan's own, and `methods("…").dump(…)`: the
//! graphs of methods before and after edits.
//!
//! ```text
//!   transformation(name, f)         f is kept under the name
//!   methods(p).optimise(name, o)    for each method: f(graph, o) ─▶ [edit, …] ─▶ the agent checks and applies them
//!   methods(p).edit(name, o)        the same; the edits may change results
//!   methods(p).dump(name, o)        the same; the agent checks the edits and shows the graph, and applies nothing
//! ```
//!
//! A transformation chooses among the edits that the agent has, and makes no code itself. So whatever it returns, the
//! agent checks each edit, the emitter makes the code, and the checker compares the code with the method.

use super::armed::{NOTHING_LOADED, graph, loaded_graphs};
use super::convert::{ApiResult, api_error, int};
use super::passes::{counter, passes};
use super::patch::{Patch, WrittenEdit, apply, spec, written_edits};
use super::selection::SelectedMethods;
use crate::context::PlanContext;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext};
use std::collections::BTreeMap;
use std::sync::Arc;
use veneer_instruments::{EditSpec, EditedGraph, Graph, GraphDump, MethodPasses};
use veneer_names::FragmentId;

/// The transformations that are part of Veneer.
const BUILT_IN: [&str; 5] = [
    "huge",
    "devirtualise",
    "specialise",
    "superblock",
    "unswitch",
];

/// A call of a plan's function, with the state of the plan.
type PlanCall<'a> = (&'a PlanContext, &'a NativeCallContext<'a>);

/// The edits that a transformation has chosen for one method.
struct ChosenEdits {
    method: Graph,
    edits: Vec<WrittenEdit>,
}

impl ChosenEdits {
    /// The spec that makes the edits of the method, and of no other method.
    fn spec(&self, context: &PlanContext, methods: &SelectedMethods) -> ApiResult<EditSpec> {
        let own = self.selection(methods);
        let edits = self.edits.iter().map(|edit| edit.resolve(context, &own));
        let edits = edits.collect::<ApiResult<_>>()?;
        Ok(EditSpec {
            only: vec![self.method.method.id],
            ..spec(context, &own, edits)?
        })
    }

    /// The method alone.
    fn selection(&self, methods: &SelectedMethods) -> SelectedMethods {
        let method = self.method.method.clone();
        SelectedMethods {
            only: Some(Arc::new(BTreeMap::from([(method.id, method)]))),
            ..methods.clone()
        }
    }
}

fn declare(context: &PlanContext, name: &str, function: FnPtr) -> ApiResult<()> {
    if name.is_empty() || BUILT_IN.contains(&name) {
        return api_error(format!(
            "`{name}` cannot be the name of a transformation: choose another name"
        ));
    }
    match context.declare_transformation(name, function) {
        true => Ok(()),
        false => api_error(format!(
            "the plan has a transformation `{name}` already: choose another name"
        )),
    }
}

/// Calls a transformation for each selected method. Methods for which it returns no edit are left out.
fn choose(
    (context, call): PlanCall,
    methods: &SelectedMethods,
    name: &str,
    options: &Map,
) -> ApiResult<Vec<ChosenEdits>> {
    let Some(function) = context.transformation(name) else {
        let mut known: Vec<String> = BUILT_IN.iter().map(|name| format!("\"{name}\"")).collect();
        let own = context.transformation_names().into_iter();
        known.extend(own.map(|name| format!("\"{name}\"")));
        return api_error(format!(
            "`{name}` is no transformation; there are {}",
            known.join(", ")
        ));
    };
    let counted = match options.get("counts") {
        Some(counts) => {
            let id = counter(counts)?;
            passes(context.with_runtime(|runtime| runtime.rows(id)))
        }
        None => Vec::new(),
    };
    let graphs = loaded_graphs(context, methods);
    if graphs.is_empty() {
        return api_error(NOTHING_LOADED);
    }
    let mut chosen = Vec::new();
    for method in graphs {
        let Some(map) = counted_graph(&method, &counted) else {
            continue;
        };
        let arguments = (Dynamic::from(map), Dynamic::from(options.clone()));
        let edits: Dynamic = function
            .call_within_context(call, arguments)
            .or_else(|error| named_error(name, &function, error))?;
        let Ok(edits) = edits.as_array_ref().map(|edits| edits.clone()) else {
            return api_error(format!(
                "the transformation `{name}` must return an array of edits such as [skip(3)], not `{edits}`"
            ));
        };
        let edits = written_edits(&edits)?;
        if !edits.is_empty() {
            chosen.push(ChosenEdits { method, edits });
        }
    }
    Ok(chosen)
}

/// The error of a transformation whose function does not have two parameters. Other errors stay as they are.
fn named_error<T>(name: &str, function: &FnPtr, error: Box<EvalAltResult>) -> ApiResult<T> {
    match *error {
        EvalAltResult::ErrorFunctionNotFound(ref missing, _)
            if missing.starts_with(function.fn_name()) =>
        {
            api_error(format!(
                "the transformation `{name}` must be a function of two parameters: |graph, options| […]"
            ))
        }
        _ => Err(error),
    }
}

/// The graph as a map, in which each block has the number of its `passes`: 0 if the counter has none, `()` without a
/// counter of the method.
fn counted_graph(method: &Graph, counted: &[MethodPasses]) -> Option<Map> {
    let mut map = graph(method)?;
    let is_own = |one: &&MethodPasses| {
        one.class == method.method.class && one.method == method.method.method
    };
    let counts = counted.iter().find(is_own).map(|one| &one.passes);
    let mut blocks = map.get_mut("blocks")?.write_lock::<Array>()?;
    for (number, block) in (0..).zip(blocks.iter_mut()) {
        let passes = counts.map_or(Dynamic::UNIT, |counts| {
            int(counts.get(&FragmentId(number)).copied().unwrap_or(0)).into()
        });
        if let Some(mut block) = block.write_lock::<Map>() {
            block.insert("passes".into(), passes);
        }
    }
    drop(blocks);
    Some(map)
}

/// Applies a transformation that must not change results.
pub(super) fn optimise(
    call: PlanCall,
    methods: &SelectedMethods,
    name: &str,
    options: &Map,
) -> ApiResult<Patch> {
    let chosen = choose(call, methods, name, options)?;
    for one in &chosen {
        if let Some(edit) = one.edits.iter().find(|edit| !edit.keeps_results()) {
            let method = &one.method.method;
            return api_error(format!(
                "`{edit}` of the transformation `{name}` may change the results of {}::{}: write .edit(\"{name}\", …) if it may",
                method.class, method.method
            ));
        }
    }
    apply_all((call.0, name), methods, &chosen)
}

fn edit(call: PlanCall, methods: &SelectedMethods, name: &str, options: &Map) -> ApiResult<Patch> {
    let chosen = choose(call, methods, name, options)?;
    apply_all((call.0, name), methods, &chosen)
}

/// Makes the edits that a transformation has chosen, of all methods or of none.
fn apply_all(
    (context, name): (&PlanContext, &str),
    methods: &SelectedMethods,
    chosen: &[ChosenEdits],
) -> ApiResult<Patch> {
    if chosen.is_empty() {
        return api_error(format!(
            "the transformation `{name}` returns no edit for any of the selected methods"
        ));
    }
    let mut made = Vec::new();
    for one in chosen {
        let applied = one.spec(context, methods);
        match applied.and_then(|spec| apply(context, spec)) {
            Ok(patch) => made.push(patch),
            Err(error) => {
                Patch::join(made).detach(context)?;
                return Err(error);
            }
        }
    }
    Ok(Patch::join(made))
}

fn dumped(context: &PlanContext, spec: EditSpec) -> ApiResult<Array> {
    let graphs = context.with_runtime(|runtime| runtime.edited_graphs(spec));
    let graphs = graphs.or_else(api_error)?;
    Ok(graphs.iter().map(dumped_graph).collect())
}

fn dumped_graph(graph: &EditedGraph) -> Dynamic {
    let dump = |dump: &GraphDump| {
        let mut map = Map::new();
        map.insert("text".into(), dump.text.clone().into());
        map.insert("dot".into(), dump.dot.clone().into());
        map.insert("json".into(), dump.json.clone().into());
        Dynamic::from(map)
    };
    let mut map = Map::new();
    map.insert(
        "pattern".into(),
        graph.method.pattern().unwrap_or_default().into(),
    );
    map.insert("before".into(), dump(&graph.before));
    map.insert("after".into(), dump(&graph.after));
    map.into()
}

fn dump_edits(context: &PlanContext, methods: &SelectedMethods, edits: &Array) -> ApiResult<Array> {
    let edits = written_edits(edits)?;
    let edits = edits.iter().map(|edit| edit.resolve(context, methods));
    let edits = edits.collect::<ApiResult<_>>()?;
    dumped(context, spec(context, methods, edits)?)
}

fn dump_transformation(
    call: PlanCall,
    methods: &SelectedMethods,
    name: &str,
    options: &Map,
) -> ApiResult<Array> {
    let mut all = Array::new();
    for one in choose(call, methods, name, options)? {
        all.extend(dumped(call.0, one.spec(call.0, methods)?)?);
    }
    Ok(all)
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn(
        "transformation",
        move |name: ImmutableString, function: FnPtr| declare(&plan, &name, function),
    );
    let plan = context.clone();
    engine.register_fn(
        "edit",
        move |call: NativeCallContext, methods: &mut SelectedMethods, name: &str| {
            edit((&plan, &call), methods, name, &Map::new())
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "edit",
        move |call: NativeCallContext, methods: &mut SelectedMethods, name: &str, options: Map| {
            edit((&plan, &call), methods, name, &options)
        },
    );
    let plan = context.clone();
    engine.register_fn("dump", move |methods: &mut SelectedMethods| {
        dump_edits(&plan, methods, &Array::new())
    });
    let plan = context.clone();
    engine.register_fn(
        "dump",
        move |methods: &mut SelectedMethods, edits: Array| dump_edits(&plan, methods, &edits),
    );
    let plan = context.clone();
    engine.register_fn(
        "dump",
        move |call: NativeCallContext, methods: &mut SelectedMethods, name: &str| {
            dump_transformation((&plan, &call), methods, name, &Map::new())
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "dump",
        move |call: NativeCallContext, methods: &mut SelectedMethods, name: &str, options: Map| {
            dump_transformation((&plan, &call), methods, name, &options)
        },
    );
}
