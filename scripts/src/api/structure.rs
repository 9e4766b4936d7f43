//! The structure of the program, from classes to instructions: `classes("…")`, and predicates on
//! the structure, `methods("…").filter(|m| …)` and `.blocks().filter(|b| …)`.
//!
//! ```text
//!   class ─▶ .methods ─▶ method ─▶ .blocks ─▶ block ─▶ .instructions
//!                                  analysed when the plan reads it
//! ```

use super::armed::block;
use super::convert::{ApiResult, api_error, int};
use super::selection::{SelectedMethods, SelectedPoints};
use crate::context::PlanContext;
use rhai::{Array, Dynamic, Engine, FnPtr, ImmutableString, NativeCallContext};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use veneer_instruments::{
    ArmedClass, DescribedMethod, Graph, PointSelector, class_flag_words, flag_words,
};
use veneer_names::MethodRef;

/// A class as a value of the script.
#[derive(Clone)]
struct Class {
    context: Arc<PlanContext>,
    class: Arc<ArmedClass>,
}

/// A method as a value of the script.
#[derive(Clone)]
struct Method {
    context: Arc<PlanContext>,
    method: Arc<DescribedMethod>,
    graph: Arc<OnceLock<Option<Graph>>>,
}

fn strings<'a>(texts: impl Iterator<Item = &'a str>) -> Array {
    texts.map(|text| Dynamic::from(text.to_owned())).collect()
}

fn all(texts: &[String]) -> Array {
    strings(texts.iter().map(String::as_str))
}

impl Method {
    fn new(context: &Arc<PlanContext>, method: DescribedMethod) -> Self {
        Method {
            context: context.clone(),
            method: Arc::new(method),
            graph: Arc::default(),
        }
    }

    /// Returns the flow graph; `None` if the method's class was unloaded.
    fn graph(&self) -> Option<&Graph> {
        let id = self.method.method.id;
        let ask = || self.context.with_runtime(|runtime| runtime.flow_graph(id));
        self.graph.get_or_init(ask).as_ref()
    }

    fn name(&self) -> &str {
        let text = &self.method.method.method;
        MethodRef::parse(text).map_or(text, |method| method.name)
    }

    /// Returns the blocks as maps, each with its class and method.
    fn blocks(&self) -> Array {
        let graph = self.graph().into_iter();
        let blocks = graph.flat_map(|graph| graph.blocks.iter().enumerate());
        let one = |(number, of)| {
            let mut map = block(number, of);
            let method = &self.method.method;
            map.insert("class".into(), method.class.clone().into());
            map.insert("method".into(), method.method.clone().into());
            Dynamic::from(map)
        };
        blocks.map(one).collect()
    }

    fn edges(&self) -> Array {
        let edges = self.graph().into_iter().flat_map(|graph| &graph.edges);
        let pair = |&(from, to): &(u32, u32)| -> Dynamic {
            let ends: Array = vec![int(from).into(), int(to).into()];
            ends.into()
        };
        edges.map(pair).collect()
    }
}

/// Returns the classes of a selection, with the selected methods only.
fn described(context: &PlanContext, methods: &SelectedMethods) -> Vec<ArmedClass> {
    let mut classes = context.with_runtime(|runtime| runtime.classes(&methods.patterns));
    if let Some(only) = &methods.only {
        for class in &mut classes {
            class.methods.retain(|m| only.contains_key(&m.method.id));
        }
        classes.retain(|class| !class.methods.is_empty());
    }
    classes
}

fn holds(call: &NativeCallContext, predicate: &FnPtr, of: Dynamic) -> ApiResult<bool> {
    let answer: Dynamic = predicate.call_within_context(call, (of,))?;
    match answer.as_bool() {
        Ok(holds) => Ok(holds),
        Err(_) => api_error(format!("a predicate gives true or false, not `{answer}`")),
    }
}

fn filtered_methods(
    context: &Arc<PlanContext>,
    call: &NativeCallContext,
    methods: &SelectedMethods,
    predicate: &FnPtr,
) -> ApiResult<SelectedMethods> {
    let mut only = BTreeMap::new();
    for method in described(context, methods)
        .into_iter()
        .flat_map(|c| c.methods)
    {
        let named = method.method.clone();
        let value = Dynamic::from(Method::new(context, method));
        if holds(call, predicate, value)? {
            only.insert(named.id, named);
        }
    }
    Ok(SelectedMethods {
        only: Some(Arc::new(only)),
        ..methods.clone()
    })
}

fn filtered_blocks(
    context: &Arc<PlanContext>,
    call: &NativeCallContext,
    points: &SelectedPoints,
    predicate: &FnPtr,
) -> ApiResult<SelectedPoints> {
    let before = match (&points.place, &points.chosen) {
        (PointSelector::Blocks, None) => None,
        (PointSelector::Chosen, Some(before)) => Some(before),
        _ => return api_error("filter() is for methods and blocks: write .blocks().filter(|b| …)"),
    };
    let mut chosen = BTreeMap::new();
    let classes = described(context, &points.methods).into_iter();
    for method in classes.flat_map(|class| class.methods) {
        let id = method.method.id;
        let kept = before.map(|before| before.get(&id));
        if kept == Some(None) {
            continue;
        }
        let method = Method::new(context, method);
        let reachable = |n: usize| {
            let graph = method.graph();
            graph.is_some_and(|g| g.blocks.get(n).is_some_and(|b| b.is_reachable))
        };
        let mut numbers: Vec<u32> = Vec::new();
        for (n, map) in method.blocks().into_iter().enumerate() {
            let number = u32::try_from(n).unwrap_or(u32::MAX);
            let stays = kept.flatten().is_none_or(|kept| kept.contains(&number));
            if stays && reachable(n) && holds(call, predicate, map)? {
                numbers.push(number);
            }
        }
        if !numbers.is_empty() {
            chosen.insert(id, numbers);
        }
    }
    Ok(SelectedPoints {
        methods: points.methods.clone(),
        place: PointSelector::Chosen,
        chosen: Some(Arc::new(chosen)),
    })
}

fn classes(context: &Arc<PlanContext>, methods: &SelectedMethods) -> Array {
    let described = described(context, methods).into_iter();
    let value = |class| Class {
        context: context.clone(),
        class: Arc::new(class),
    };
    described.map(value).map(Dynamic::from).collect()
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<Class>("Class");
    engine.register_type_with_name::<Method>("Method");
    let plan = context.clone();
    engine.register_fn(
        "classes",
        move |text: ImmutableString| -> ApiResult<Array> {
            let methods = SelectedMethods::new(std::iter::once(text.as_str()))?;
            Ok(classes(&plan, &methods))
        },
    );
    let plan = context.clone();
    engine.register_fn("classes", move |texts: Array| -> ApiResult<Array> {
        Ok(classes(&plan, &SelectedMethods::from_array(&texts)?))
    });
    let plan = context.clone();
    engine.register_fn(
        "filter",
        move |call: NativeCallContext, methods: &mut SelectedMethods, predicate: FnPtr| {
            filtered_methods(&plan, &call, methods, &predicate)
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "filter",
        move |call: NativeCallContext, points: &mut SelectedPoints, predicate: FnPtr| {
            filtered_blocks(&plan, &call, points, &predicate)
        },
    );
    engine
        .register_get("name", |c: &mut Class| c.class.name.clone())
        .register_get("annotations", |c: &mut Class| all(&c.class.annotations))
        .register_get("supertypes", |c: &mut Class| all(&c.class.supertypes))
        .register_get("flags", |c: &mut Class| {
            strings(class_flag_words(c.class.flags))
        })
        .register_get("initialised", |c: &mut Class| c.class.is_initialised)
        .register_get("methods", |c: &mut Class| -> Array {
            let methods = c.class.methods.iter();
            let value = |m: &DescribedMethod| Dynamic::from(Method::new(&c.context, m.clone()));
            methods.map(value).collect()
        });
    engine
        .register_get("class", |m: &mut Method| m.method.method.class.clone())
        .register_get("method", |m: &mut Method| m.method.method.method.clone())
        .register_get("name", |m: &mut Method| m.name().to_owned())
        .register_get("pattern", |m: &mut Method| {
            m.method.method.pattern().unwrap_or_default()
        })
        .register_get("size", |m: &mut Method| int(m.method.size))
        .register_get("annotations", |m: &mut Method| all(&m.method.annotations))
        .register_get("flags", |m: &mut Method| {
            strings(flag_words(m.method.flags))
        })
        .register_get("blocks", |m: &mut Method| m.blocks())
        .register_get("edges", |m: &mut Method| m.edges());
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |c: &mut Class| c.class.name.clone());
        engine.register_fn(show, |m: &mut Method| {
            format!("{}::{}", m.method.method.class, m.method.method.method)
        });
    }
}
