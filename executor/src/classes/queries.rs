//! The armed classes, methods and flow graphs from which plans choose.
//!
//! The plan thread calls these functions for `Runtime`. They read the registry and change nothing.

use crate::agent::Agent;
use crate::classes::method_analysis::{AnalysedMethod, analyse};
use crate::classes::method_table::MethodEntry;
use crate::classes::plan_pattern::single_class;
use crate::classes::registry::Class;
use crate::classes::selection::{self, MethodSelection};
use crate::jvm::jni::Env;
use std::sync::Arc;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::devirtualisation::VirtualCall;
use veneer_fragmenter::listing::{self, ParameterListing, PlaceListing};
use veneer_fragmenter::method::Method;
use veneer_instruments::{
    ArmedClass, ArmedMethod, Block, DescribedMethod, Graph, MethodPattern, Parameter, RandomSample,
    VirtualCallSite,
};
use veneer_names::{MethodId, MethodRef, java_form};

/// The armed classes of which the patterns may select methods, in the order of their ids.
pub fn armed_classes(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<Arc<Class>> {
    let names: Option<Vec<String>> = patterns.iter().map(single_class).collect();
    let is_selected = |class: &Arc<Class>| {
        !MethodSelection::new(agent.tool, env, class, patterns).is_empty()
            && !class.state().restored
    };
    let Some(names) = names else {
        let mut all = agent.registry.all();
        all.retain(is_selected);
        return all;
    };
    let named = names
        .iter()
        .flat_map(|name| agent.registry.classes_named(name));
    let mut all: Vec<Arc<Class>> = named.collect();
    all.retain(is_selected);
    all.sort_by_key(|class| class.first_id);
    all.dedup_by(|a, b| Arc::ptr_eq(a, b));
    all
}

/// The methods of a class that the patterns select, as indices into its armed methods. A class that
/// is not prepared yet has none, because nothing can be attached to it.
fn selected_methods(
    agent: &Agent,
    env: Env,
    class: &Class,
    patterns: &[MethodPattern],
) -> Vec<usize> {
    let selection = MethodSelection::new(agent.tool, env, class, patterns);
    let state = class.state();
    if state.class.is_none() {
        return Vec::new();
    }
    let methods = state.methods.iter().enumerate();
    methods
        .filter(|(_, m)| selection.selects(m.name, m.descriptor))
        .map(|(index, _)| index)
        .collect()
}

/// Descriptions of the armed classes with the methods that the patterns select. See
/// `Runtime::classes`.
pub fn describe_classes(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
    let classes = armed_classes(agent, env, patterns).into_iter();
    classes
        .filter_map(|class| describe_class(agent, env, &class, patterns))
        .collect()
}

fn describe_class(
    agent: &Agent,
    env: Env,
    class: &Class,
    patterns: &[MethodPattern],
) -> Option<ArmedClass> {
    let selected = selected_methods(agent, env, class, patterns);
    if selected.is_empty() {
        return None;
    }
    let facts = selection::class_metadata(agent.tool, env, class)?;
    let local = class.local(env)?;
    let is_initialised = agent.tool.is_initialised(local);
    // SAFETY: `Class::local` has made the local reference, which is not used again.
    unsafe { env.delete(local) };
    let methods = class.state().methods.clone();
    let describe = |m: MethodEntry| {
        let known = facts.method(m.name, m.descriptor)?;
        Some(DescribedMethod {
            method: armed_method(class, m),
            flags: known.flags,
            annotations: known.annotations.clone(),
            size: known.size.unwrap_or(0),
        })
    };
    Some(ArmedClass {
        name: class.dotted.to_string(),
        flags: facts.flags,
        annotations: facts.annotations.clone(),
        supertypes: facts.supertypes.clone(),
        is_initialised,
        methods: selected
            .into_iter()
            .filter_map(|index| methods.get(index).and_then(describe))
            .collect(),
    })
}

fn armed_method(class: &Class, m: MethodEntry) -> ArmedMethod {
    ArmedMethod {
        id: m.id,
        class: class.dotted.to_string(),
        method: format!("{}{}", m.name, m.descriptor),
    }
}

/// The armed methods that the patterns select, all or a sample of them. See
/// `Runtime::armed_methods`.
pub fn armed_methods(
    agent: &Agent,
    env: Env,
    patterns: &[MethodPattern],
    sample: Option<RandomSample>,
) -> Vec<ArmedMethod> {
    let mut all: Vec<(Arc<Class>, usize)> = Vec::new();
    for class in armed_classes(agent, env, patterns) {
        let selected = selected_methods(agent, env, &class, patterns);
        all.extend(selected.into_iter().map(|index| (class.clone(), index)));
    }
    let entry = |(class, index): &(Arc<Class>, usize)| {
        let state = class.state();
        let found = state.methods.get(*index);
        found.map(|m| armed_method(class, m))
    };
    match sample {
        None => all.iter().filter_map(entry).collect(),
        Some(sample) => {
            let drawn = sample.draw(all.len()).into_iter();
            drawn.filter_map(|i| all.get(i).and_then(entry)).collect()
        }
    }
}

/// The flow graphs of the methods that the patterns select. See `Runtime::flow_graphs`.
pub fn flow_graphs(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> Vec<Graph> {
    let mut out = Vec::new();
    for class in armed_classes(agent, env, patterns) {
        let selected = selected_methods(agent, env, &class, patterns);
        if !selected.is_empty() {
            let is_selected = |index, _| selected.contains(&index);
            out.extend(graphs_of_class(agent, &class, is_selected));
        }
    }
    out
}

/// The flow graph of the method with this id. See `Runtime::flow_graph`.
pub fn flow_graph(agent: &Agent, id: MethodId) -> Option<Graph> {
    let class = agent.registry.class_of_method(id)?;
    graphs_of_class(agent, &class, |_, method| method == id).pop()
}

/// The flow graphs of armed methods of a class. `is_wanted` gets the index among the armed methods
/// and the id. Methods that cannot be analysed are left out.
fn graphs_of_class(
    agent: &Agent,
    class: &Class,
    is_wanted: impl Fn(usize, MethodId) -> bool,
) -> Vec<Graph> {
    let methods = class.state().methods.clone();
    let Ok(original) = class.original_file() else {
        return Vec::new();
    };
    let Ok(file) = ClassFile::parse(&original) else {
        return Vec::new();
    };
    let wanted = methods.iter().enumerate();
    let wanted = wanted.filter(|(index, m)| is_wanted(*index, m.id));
    wanted
        .filter_map(|(_, m)| {
            let analysed = analyse(&agent.policy, &file, class, m.id).ok()?;
            Some(graph_of(armed_method(class, m), &analysed))
        })
        .collect()
}

fn graph_of(method: ArmedMethod, analysed: &AnalysedMethod) -> Graph {
    let listed = listing::graph(&analysed.method, &analysed.armed.points);
    let block = |place: PlaceListing| Block {
        line: place.line,
        instructions: place.instructions.into_iter().map(Into::into).collect(),
        depth: place.depth,
        is_header: place.is_header,
        is_reachable: place.is_reachable,
        variables: place.variables,
        pc: place.pc,
        calls: {
            let calls = place.calls.into_iter();
            let sites = calls.filter_map(|one| call_site(&analysed.method, one));
            sites.collect()
        },
    };
    let parameter = |one: ParameterListing| Parameter {
        name: one.name,
        kind: one.kind,
        can_be_constant: one.can_be_constant,
    };
    Graph {
        method,
        fragments: listed.places.len() as u32,
        hash: listed.hash.to_string(),
        edges: listed.edges,
        blocks: listed.places.into_iter().map(block).collect(),
        parameters: listed.parameters.into_iter().map(parameter).collect(),
    }
}

/// `None` if the descriptor is malformed.
fn call_site(method: &Method, call: VirtualCall) -> Option<VirtualCallSite> {
    let label = format!("{}{}", call.name, call.descriptor);
    let called = MethodRef::parse(&label).ok()?;
    Some(VirtualCallSite {
        pc: call.pc,
        line: method.line(call.pc),
        target: format!("{}::{}", java_form(&call.class), called.java_form()),
    })
}
