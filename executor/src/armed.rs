//! What plans can choose from: armed methods, all or a sample, and their flow graphs.

use crate::agent::Agent;
use crate::loaded;
use crate::methods;
use crate::registry::Class;
use crate::weave;
use std::sync::Arc;
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::bytecode::opcode::mnemonic;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::points::reachable;
use veneer_instruments::{ArmedMethod, Block, Graph, MethodPattern, Sample};

/// The classes of which the patterns may select methods, in order of arming.
pub fn classes(agent: &Agent, patterns: &[MethodPattern]) -> Vec<Arc<Class>> {
    let names: Option<Vec<String>> = patterns.iter().map(loaded::only_class).collect();
    let Some(names) = names else {
        let mut all = agent.registry.all();
        all.retain(|class| {
            let hit = patterns.iter().any(|p| p.matches_class(&class.dotted));
            hit && !class.state().restored
        });
        return all;
    };
    let named = names.iter().flat_map(|name| agent.registry.named(name));
    let mut all: Vec<Arc<Class>> = named.collect();
    all.retain(|class| !class.state().restored);
    all.sort_by_key(|class| class.first_id);
    all.dedup_by(|a, b| Arc::ptr_eq(a, b));
    all
}

/// The methods of a class that the patterns select: their places among its armed methods. Classes that are not prepared
/// yet, where nothing can be attached, have none.
fn selected(class: &Class, patterns: &[MethodPattern]) -> Vec<usize> {
    let here: Vec<&MethodPattern> = patterns
        .iter()
        .filter(|p| p.matches_class(&class.dotted))
        .collect();
    let state = class.state();
    if state.class.is_none() {
        return Vec::new();
    }
    let methods = state.methods.iter().enumerate();
    methods
        .filter(|(_, m)| {
            here.iter()
                .any(|p| p.matches_method(&m.name, &m.descriptor))
        })
        .map(|(place, _)| place)
        .collect()
}

/// See `Runtime::armed`.
pub fn list(agent: &Agent, patterns: &[MethodPattern], sample: Option<Sample>) -> Vec<ArmedMethod> {
    let mut all: Vec<(Arc<Class>, usize)> = Vec::new();
    for class in classes(agent, patterns) {
        let places = selected(&class, patterns);
        all.extend(places.into_iter().map(|place| (class.clone(), place)));
    }
    let row = |(class, place): &(Arc<Class>, usize)| {
        let state = class.state();
        state.methods.get(*place).map(|m| ArmedMethod {
            class: class.dotted.clone(),
            method: format!("{}{}", m.name, m.descriptor),
        })
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
pub fn graphs(agent: &Agent, patterns: &[MethodPattern]) -> Vec<Graph> {
    let mut out = Vec::new();
    for class in classes(agent, patterns) {
        let places = selected(&class, patterns);
        if places.is_empty() {
            continue;
        }
        let (original, methods) = {
            let state = class.state();
            (state.original.clone(), state.methods.clone())
        };
        let Ok(file) = ClassFile::parse(&original) else {
            continue;
        };
        for m in places.into_iter().filter_map(|place| methods.get(place)) {
            // What was armed can be analysed again.
            let Ok((method, armed)) = methods::analyse(agent, &file, &class, m.id) else {
                continue;
            };
            let reached = reachable(&method, &armed.points);
            let block = |f: &veneer_fragmenter::flowgraph::Fragment| {
                let around = method.loops.loops.iter();
                let around = around.filter(|l| l.body[f.id.index()]);
                let instructions = method.instructions[f.instructions.clone()].iter();
                Block {
                    line: method.line(f.start),
                    instructions: instructions
                        .map(|i| mnemonic(i.1.op()).to_string())
                        .collect(),
                    depth: around.count() as u32,
                    is_header: method.loops.headers().any(|n| n.index() == f.id.index()),
                    is_reachable: reached.contains(&f.id),
                    variables: weave::variables(&method, &armed, Site::Before(f.id)),
                }
            };
            let from = |f: &veneer_fragmenter::flowgraph::Fragment| {
                let (from, to) = (f.id.0, method.flow.successors(f.id));
                to.into_iter()
                    .map(|to| (from, to.0))
                    .collect::<Vec<(u32, u32)>>()
            };
            out.push(Graph {
                method: ArmedMethod {
                    class: class.dotted.clone(),
                    method: format!("{}{}", m.name, m.descriptor),
                },
                fragments: method.flow.len() as u32,
                edges: method.flow.fragments().flat_map(from).collect(),
                blocks: method.flow.fragments().map(block).collect(),
            });
        }
    }
    out
}
