//! Loaded classes that are not armed: those that a plan names are brought through the class hook.
//!
//! ```text
//!   attach ─▶ one class by its full name? ─ yes ─▶ is one of that name in `Unarmed`? ─ no ─▶ nothing to do
//!                      │ no                                      │ yes
//!                      └──────▶ walk over all loaded classes ◀───┘ ─▶ RetransformClasses ─▶ hook
//! ```
//!
//! What is below a class that a pattern with `+` names, the JVM tells of classes that are loaded. An annotation stands in the class file only; but
//! a class whose constant pool does not mention its type does not have it, and is left alone.
//!
//! The walk asks the JVM for the name of each class, which takes milliseconds in a large program. So [`Unarmed`](crate::classes::unarmed_classes::Unarmed) has the names of
//! all loaded classes that are not armed. The first walk notes those that were there before the agent; from then on the class hook
//! notes what it lets pass, and `ClassPrepare` does so again, for a class that was just on its way while a walk went by. A name too
//! many (its class is unloaded, or was armed meanwhile) costs a walk and nothing else.

use crate::agent::Agent;
use crate::classes::arming_filter;
use crate::classes::registry::Class;
use crate::classes::selection;
use crate::jvm::jni::{Env, jclass};
use crate::weaving::weaver::mark_prepared;
use std::collections::HashSet;
use std::sync::Arc;
use veneer_fragmenter::anchor;
use veneer_fragmenter::classfile::ClassFile;
use veneer_instruments::MethodPattern;

/// The internal name of the one class that a pattern can select; none where it has wildcards.
pub fn only_class(pattern: &MethodPattern) -> Option<String> {
    let text = pattern.class_text();
    let wild = text.contains('*') || text.contains("..") || pattern.has_subtypes();
    (!wild).then(|| text.replace('.', "/"))
}

/// Brings loaded classes that the patterns name, and that are not armed for them yet, through the class hook. Called by the plan
/// thread only.
///
/// Whether there were any.
pub fn arm(agent: &Agent, env: Env, patterns: &[MethodPattern]) -> bool {
    let unarmed = &agent.unarmed;
    let names: Option<Vec<String>> = patterns.iter().map(only_class).collect();
    let done = |name: &String| {
        let known = agent.registry.named(name);
        !unarmed.may_have(name) && !known.iter().any(|c| missing(agent, env, c, patterns))
    };
    if names.as_ref().is_some_and(|names| names.iter().all(done)) {
        return false;
    }
    // Whoever adds one of them from here on is not forgotten; what the walk finds is added at its end.
    let all = !unarmed.is_complete();
    names.iter().flatten().for_each(|name| unarmed.remove(name));
    let mut chosen: Vec<(jclass, String)> = Vec::new();
    let mut wanted = Vec::new();
    let mut loaded: Vec<(jclass, String, String)> = Vec::new();
    for class in agent.tool.loaded(env) {
        let name = agent.tool.class_name(class);
        match name.filter(|n| !anchor::is_anchor(n)) {
            Some(name) => {
                let dotted = name.replace('/', ".");
                loaded.push((class, name, dotted));
            }
            None => env.delete(class),
        }
    }
    // Before any of these references goes.
    let hits = hits(agent, env, patterns, &loaded);
    for ((class, name, dotted), matches) in loaded.into_iter().zip(hits) {
        let known = match matches || all {
            true => record(agent, env, class, &name),
            false => None,
        };
        if !matches {
            if all && known.is_none() {
                unarmed.add(&name);
            }
            env.delete(class);
            continue;
        }
        if arming_filter::on_cell_path(&name) {
            agent.refuse(
                &dotted,
                "",
                "OnCellPath",
                "the JVM needs the class to run a cell; it is never armed",
            );
        } else if known.is_none_or(|c| missing(agent, env, &c, patterns))
            && agent.tool.is_modifiable(class)
        {
            wanted.push((class, dotted));
        }
        chosen.push((class, name));
    }
    retransform(agent, &wanted);
    for (class, name) in chosen {
        match record(agent, env, class, &name) {
            Some(known) => mark_prepared(agent, env, &known, class),
            None => unarmed.add(&name),
        }
        env.delete(class);
    }
    if all {
        unarmed.completed();
    }
    !wanted.is_empty()
}

/// Of which of the classes (with their dotted names) methods may be selected.
fn hits(
    agent: &Agent,
    env: Env,
    patterns: &[MethodPattern],
    loaded: &[(jclass, String, String)],
) -> Vec<bool> {
    let mut hits = vec![false; loaded.len()];
    for pattern in patterns {
        let mut above: Vec<jclass> = Vec::new();
        if pattern.has_subtypes() {
            let named = loaded.iter().filter(|c| pattern.names_class(&c.2));
            above.extend(named.map(|c| c.0));
        }
        let selects = |class: jclass, dotted: &str| {
            let below = |other: &jclass| env.is_assignable(class, *other);
            if !pattern.names_class(dotted) && !above.iter().any(below) {
                return false;
            }
            // Where the JVM does not tell, the class file does.
            let mentioned = pattern
                .has_annotations()
                .then(|| agent.tool.mentioned(class));
            let types = mentioned.flatten();
            types.is_none_or(|types| pattern.may_be_annotated(&types))
        };
        for (hit, (class, _, dotted)) in hits.iter_mut().zip(loaded) {
            *hit = *hit || selects(*class, dotted);
        }
    }
    hits
}

fn record(agent: &Agent, env: Env, class: jclass, name: &str) -> Option<Arc<Class>> {
    let loader = agent.tool.loader(class);
    let known = agent.registry.find(env, name, loader);
    env.delete(loader);
    known
}

/// All in one pause of the application; one by one where that fails: a class that cannot be transformed must not keep the others
/// from it.
fn retransform(agent: &Agent, wanted: &[(jclass, String)]) {
    let classes: Vec<jclass> = wanted.iter().map(|w| w.0).collect();
    match agent.tool.retransform(&classes) {
        Ok(()) => {}
        Err(e) if wanted.len() == 1 => {
            let name = wanted.first().map_or("", |w| w.1.as_str());
            agent.refuse(name, "", "RetransformFailed", &e.to_string());
        }
        Err(_) => wanted
            .iter()
            .for_each(|one| retransform(agent, std::slice::from_ref(one))),
    }
}

/// Whether a known class has methods that the patterns name and that were never tried by name, or is not armed any more.
fn missing(agent: &Agent, env: Env, class: &Class, patterns: &[MethodPattern]) -> bool {
    if class.state().restored {
        return true;
    }
    let facts = selection::asked(agent.tool, env, class, patterns);
    let facts = facts.as_deref();
    unarmed(class).iter().any(|(name, descriptor)| {
        let hit = |p: &MethodPattern| match facts {
            Some(_) => p.selects(&class.dotted, facts, name, descriptor),
            // It is not prepared yet; the hook looks closer.
            None => p.matches(&class.dotted, name, descriptor),
        };
        patterns.iter().any(hit)
    })
}

/// The methods of a class that have code and no cell, kept until the class comes through the hook again.
fn unarmed(class: &Class) -> Arc<[(String, String)]> {
    let (original, armed) = {
        let state = class.state();
        if let Some(known) = &state.unarmed {
            return known.clone();
        }
        let armed: HashSet<usize> = state.methods.iter().map(|m| m.index).collect();
        (state.original.clone(), armed)
    };
    let Ok(file) = ClassFile::parse(&original) else {
        return Arc::new([]);
    };
    let mut found = Vec::new();
    for (i, m) in file.methods.iter().enumerate() {
        let has_code = m.attributes.iter().any(|a| a.is(&file.pool, "Code"));
        if armed.contains(&i) || !has_code {
            continue;
        }
        if let (Ok(name), Ok(descriptor)) = (file.pool.text(m.name), file.pool.text(m.descriptor)) {
            found.push((name.into_owned(), descriptor.into_owned()));
        }
    }
    let found: Arc<[(String, String)]> = found.into();
    let mut state = class.state();
    if Arc::ptr_eq(&state.original, &original) && state.methods.len() == armed.len() {
        state.unarmed = Some(found.clone());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_one_class_only_without_wildcards() {
        let class = |text| MethodPattern::parse(text).ok().and_then(|p| only_class(&p));
        assert_eq!(
            class("a.b.Outer$Inner::*(..)"),
            Some("a/b/Outer$Inner".into())
        );
        assert_eq!(class("Main::run(int)"), Some("Main".into()));
        assert_eq!(class("a.B*::run"), None);
        assert_eq!(class("a..B::run"), None);
        assert_eq!(class("*..*"), None);
        assert_eq!(class("a.I+::run"), None);
        assert_eq!(class("@a.Test static a.B::run"), Some("a/B".into()));
    }
}
