//! What plans can choose from: armed methods, all or a sample, and their flow graphs.

use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::classes::retransform;
use crate::classes::selection::{self, Chosen};
use crate::jvm::jni::Env;
use crate::weaving::analysis;
use std::sync::Arc;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::listing::{self, PlaceListing};
use veneer_instruments::{
    ArmedClass, ArmedMethod, Block, DescribedMethod, Graph, MethodPattern, Sample,
};

/// The classes of which the patterns may select methods, in order of arming.
pub fn classes(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<Arc<Class>> {
    let names: Option<Vec<String>> = patterns.iter().map(retransform::only_class).collect();
    let hit = |class: &Arc<Class>| {
        !Chosen::of(agent.tool, env, class, patterns).is_empty() && !class.state().restored
    };
    let Some(names) = names else {
        let mut all = agent.registry.all();
        all.retain(hit);
        return all;
    };
    let named = names.iter().flat_map(|name| agent.registry.named(name));
    let mut all: Vec<Arc<Class>> = named.collect();
    all.retain(hit);
    all.sort_by_key(|class| class.first_id);
    all.dedup_by(|a, b| Arc::ptr_eq(a, b));
    all
}

/// The methods of a class that the patterns select: their places among its armed methods. Classes that are not prepared
/// yet, where nothing can be attached, have none.
fn selected(agent: &Agent, env: Env, class: &Class, patterns: &[MethodPattern]) -> Vec<usize> {
    let chosen = Chosen::of(agent.tool, env, class, patterns);
    let state = class.state();
    if state.class.is_none() {
        return Vec::new();
    }
    let methods = state.methods.iter().enumerate();
    methods
        .filter(|(_, m)| chosen.selects(&m.name, &m.descriptor))
        .map(|(place, _)| place)
        .collect()
}

/// See `Runtime::classes`.
pub fn described(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
    let mut out = Vec::new();
    for class in classes(agent, env, patterns) {
        let places = selected(agent, env, &class, patterns);
        let Some(facts) = selection::of(agent.tool, env, &class).filter(|_| !places.is_empty())
        else {
            continue;
        };
        let Some(local) = class.local(env) else {
            continue;
        };
        let is_initialised = agent.tool.is_initialised(local);
        env.delete(local);
        let methods = class.state().methods.clone();
        let method = |m: &veneer_fragmenter::arming::ArmedMethod| {
            let known = facts.method(&m.name, &m.descriptor)?;
            Some(DescribedMethod {
                method: armed_method(&class, m),
                flags: known.flags,
                annotations: known.annotations.clone(),
                size: known.size.unwrap_or(0),
            })
        };
        out.push(ArmedClass {
            name: class.dotted.clone(),
            flags: facts.flags,
            annotations: facts.annotations.clone(),
            supertypes: facts.supertypes.clone(),
            is_initialised,
            methods: places
                .into_iter()
                .filter_map(|place| methods.get(place).and_then(method))
                .collect(),
        });
    }
    out
}

fn armed_method(class: &Class, m: &veneer_fragmenter::arming::ArmedMethod) -> ArmedMethod {
    ArmedMethod {
        id: m.id,
        class: class.dotted.clone(),
        method: format!("{}{}", m.name, m.descriptor),
    }
}

/// See `Runtime::armed`.
pub fn list(
    agent: &Agent,
    env: Env,
    patterns: &[MethodPattern],
    sample: Option<Sample>,
) -> Vec<ArmedMethod> {
    let mut all: Vec<(Arc<Class>, usize)> = Vec::new();
    for class in classes(agent, env, patterns) {
        let places = selected(agent, env, &class, patterns);
        all.extend(places.into_iter().map(|place| (class.clone(), place)));
    }
    let row = |(class, place): &(Arc<Class>, usize)| {
        let state = class.state();
        let found = state.methods.get(*place);
        found.map(|m| armed_method(class, m))
    };
    match sample {
        None => all.iter().filter_map(row).collect(),
        Some(sample) => {
            let drawn = sample.draw(all.len()).into_iter();
            drawn.filter_map(|i| all.get(i).and_then(row)).collect()
        }
    }
}

/// See `Runtime::graphs`.
pub fn graphs(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<Graph> {
    let mut out = Vec::new();
    for class in classes(agent, env, patterns) {
        let places = selected(agent, env, &class, patterns);
        if !places.is_empty() {
            out.extend(of_class(agent, &class, |place, _| places.contains(&place)));
        }
    }
    out
}

/// See `Runtime::graph`.
pub fn graph(agent: &Agent, id: u32) -> Option<Graph> {
    let class = agent.registry.of_method(id)?;
    of_class(agent, &class, |_, method| method == id).pop()
}

/// The graphs of methods of a class: of those whose place among its armed methods and whose id are wanted.
fn of_class(agent: &Agent, class: &Class, wanted: impl Fn(usize, u32) -> bool) -> Vec<Graph> {
    let (original, methods) = {
        let state = class.state();
        (state.original.clone(), state.methods.clone())
    };
    let Ok(file) = ClassFile::parse(&original) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for (_, m) in methods
        .iter()
        .enumerate()
        .filter(|(place, m)| wanted(*place, m.id))
    {
        // What was armed can be analysed again.
        let Ok((method, armed)) = analysis::analyse(agent, &file, class, m.id) else {
            continue;
        };
        let listed = listing::graph(&method, &armed.points);
        let block = |place: PlaceListing| Block {
            line: place.line,
            instructions: place.instructions.into_iter().map(Into::into).collect(),
            depth: place.depth,
            is_header: place.is_header,
            is_reachable: place.is_reachable,
            variables: place.variables,
        };
        out.push(Graph {
            method: armed_method(class, m),
            fragments: listed.places.len() as u32,
            edges: listed.edges,
            blocks: listed.places.into_iter().map(block).collect(),
        });
    }
    out
}
