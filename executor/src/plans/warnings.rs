//! Warnings about patterns that match nothing.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use veneer_instruments::{MethodPattern, Spec, nearest};

/// Names of loaded classes that are close to a pattern.
pub fn near(agent: &Agent, env: Env, pattern: &MethodPattern) -> Vec<String> {
    let mut names = Vec::new();
    for class in agent.tool.loaded(env) {
        if let Some(name) = agent
            .tool
            .class_name(class)
            .filter(|n| !veneer_fragmenter::anchor::is_anchor(n))
        {
            names.push(name.replace('/', "."));
        }
        env.delete(class);
    }
    nearest(pattern, names.iter().map(String::as_str), 3)
        .into_iter()
        .map(|s| s.to_string())
        .collect()
}

pub fn hint(agent: &Agent, env: Env, pattern: &MethodPattern) -> String {
    let names = near(agent, env, pattern);
    if names.is_empty() {
        String::new()
    } else {
        format!("; near it: {}", names.join(", "))
    }
}

/// At the end of the run: says which instruments that were there from its start never matched anything. Not of a process that is one of
/// several with the same plans, most of which have nothing to do with it.
pub fn warn_of_nothing(agent: &Agent, env: Env) {
    if agent.config.children {
        return;
    }
    let idle: Vec<Spec> = {
        let tables = agent.table.lock();
        tables
            .instruments
            .iter()
            .filter(|i| i.attached && i.tried.is_empty() && i.spec.only.is_none())
            .map(|i| i.spec.clone())
            .collect()
    };
    let silent: Vec<(String, String)> = {
        let tables = agent.table.lock();
        let nowhere = tables
            .instruments
            .iter()
            .filter(|i| i.attached && i.standing.is_empty());
        nowhere
            .filter_map(|i| Some((i.spec.plan.clone(), i.unsaid.clone()?)))
            .collect()
    };
    for (plan, error) in silent {
        agent.problem(
            &plan,
            &format!("it stood nowhere in the whole run: {error}"),
        );
    }
    for spec in idle {
        for pattern in &spec.patterns {
            agent.problem(
                &spec.plan,
                &format!(
                    "{}: `{pattern}` matched no method in the whole run{}",
                    spec.plan,
                    hint(agent, env, pattern)
                ),
            );
        }
    }
}
