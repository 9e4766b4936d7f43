//! Arming of classes that are loaded already: retransforms the loaded classes that a plan names and
//! that are not armed.
//!
//! ```text
//!   attach ─▶ one class by its full name? ─ yes ─▶ is the name in UnarmedClasses? ─ no ─▶ nothing to do
//!                      │ no                                      │ yes
//!                      └──────▶ walk over all loaded classes ◀───┘ ─▶ RetransformClasses ─▶ class hook
//! ```
//!
//! For patterns with `+`, the agent asks the JVM which loaded classes are subtypes of the named
//! class. Annotations are in the class file only. However, a class whose constant pool does not
//! mention the annotation's type does not have the annotation, so it is not retransformed. Nor is a
//! class that a wildcard selects for its calls of a method, if its constant pool has no such method.
//!
//! The walk asks the JVM for the name of each class, which takes milliseconds in a large program.
//! Therefore [`UnarmedClasses`](crate::classes::unarmed_classes::UnarmedClasses) keeps the names of
//! all loaded classes that are not armed:
//!
//! * The first walk adds the classes that were loaded before the agent.
//! * From then on, the class hook adds each class that it does not arm.
//! * `ClassPrepare` adds the class once more, because a class may be loaded while a walk passes by.
//!
//! A name too many, of a class that has been unloaded or armed, only costs one walk.

use crate::agent::Agent;
use crate::classes::arming_filter::on_cell_path;
use crate::classes::later_agents;
use crate::classes::load_hook::refuse_on_cell_path;
use crate::classes::plan_pattern::{may_call, single_class};
use crate::classes::registry::Class;
use crate::classes::selection;
use crate::jvm::jni::{Env, jclass};
use std::collections::HashSet;
use std::sync::Arc;
use veneer_fragmenter::anchor;
use veneer_fragmenter::classfile::ClassFile;
use veneer_instruments::MethodPattern;
use veneer_names::{MethodName, java_form};

/// A loaded class.
struct LoadedClass {
    /// A local reference.
    class: jclass,
    /// The internal name of the class, with slashes.
    name: String,
    dotted: String,
}

/// Retransforms the loaded classes that the patterns name and that are not armed for them yet.
/// `called`: if the instrument acts at calls of this method only. Returns whether there were any.
/// Called by the plan thread only.
pub fn arm_loaded_classes(
    agent: &Agent,
    env: Env,
    patterns: &[MethodPattern],
    called: Option<&MethodPattern>,
) -> bool {
    let unarmed = &agent.unarmed;
    let names: Option<Vec<String>> = patterns.iter().map(single_class).collect();
    let is_done = |name: &String| {
        let known = agent.registry.classes_named(name);
        !unarmed.may_have(name) && !known.iter().any(|c| lacks_method(agent, env, c, patterns))
    };
    if names
        .as_ref()
        .is_some_and(|names| names.iter().all(is_done))
    {
        return false;
    }
    // The names are removed before the walk, and the walk adds those that are still not armed. So a
    // name that another thread adds during the walk is not lost.
    let is_first_walk = !unarmed.is_complete();
    names.iter().flatten().for_each(|name| unarmed.remove(name));
    let loaded = loaded_classes(agent, env);
    // The matches are found while all local references are valid, because supertypes are among
    // them.
    let matches = matching_classes(agent, env, (patterns, called), &loaded);
    let (mut selected, mut wanted) = (Vec::new(), Vec::new());
    for (class, is_match) in loaded.into_iter().zip(matches) {
        if is_match {
            let known = record_of(agent, env, &class);
            if on_cell_path(&class.name) {
                refuse_on_cell_path(agent, &class.dotted);
            } else if known.is_none_or(|c| lacks_method(agent, env, &c, patterns))
                && agent.tool.is_modifiable(class.class)
            {
                wanted.push((class.class, class.dotted.clone()));
            }
            selected.push(class);
        } else {
            if is_first_walk && record_of(agent, env, &class).is_none() {
                unarmed.add(&class.name);
            }
            // SAFETY: `loaded` has made the local reference, which is not used again.
            unsafe { env.delete(class.class) };
        }
    }
    retransform(agent, &wanted);
    for class in selected {
        match record_of(agent, env, &class) {
            Some(known) => known.mark_prepared(agent.tool, env, class.class),
            None => unarmed.add(&class.name),
        }
        // SAFETY: as above.
        unsafe { env.delete(class.class) };
    }
    if is_first_walk {
        unarmed.mark_complete();
    }
    !wanted.is_empty()
}

/// All loaded classes but arrays, hidden classes and anchors.
fn loaded_classes(agent: &Agent, env: Env) -> Vec<LoadedClass> {
    let mut loaded = Vec::new();
    for class in agent.tool.loaded(env) {
        let name = agent.tool.class_name(class);
        match name.filter(|name| !anchor::is_anchor(name)) {
            Some(name) => loaded.push(LoadedClass {
                class,
                dotted: java_form(&name),
                name,
            }),
            // SAFETY: `loaded` has made the local reference, which is not used again.
            None => unsafe { env.delete(class) },
        }
    }
    loaded
}

/// For each class: whether a pattern may select methods of it.
fn matching_classes(
    agent: &Agent,
    env: Env,
    (patterns, called): (&[MethodPattern], Option<&MethodPattern>),
    loaded: &[LoadedClass],
) -> Vec<bool> {
    let mut matches = vec![false; loaded.len()];
    let can_call = |one: &LoadedClass| {
        called.is_none_or(|called| {
            let members = agent.tool.named_members(one.class);
            may_call(called, members.as_deref())
        })
    };
    for pattern in patterns {
        let mut supertypes: Vec<jclass> = Vec::new();
        if pattern.has_subtypes() {
            let named = loaded.iter().filter(|c| pattern.names_class(&c.dotted));
            supertypes.extend(named.map(|c| c.class));
        }
        let is_match = |one: &LoadedClass| {
            let is_subtype = |other: &jclass| env.is_assignable(one.class, *other);
            if !pattern.names_class(&one.dotted) && !supertypes.iter().any(is_subtype) {
                return false;
            }
            // If the JVM does not return the constant pool, the class hook decides by the class
            // file.
            let mentioned = pattern
                .has_annotations()
                .then(|| agent.tool.mentioned(one.class));
            let types = mentioned.flatten();
            types.is_none_or(|types| pattern.may_be_annotated(&types))
                && (single_class(pattern).is_some() || can_call(one))
        };
        for (matched, one) in matches.iter_mut().zip(loaded) {
            *matched = *matched || is_match(one);
        }
    }
    matches
}

/// The record of a loaded class, if it is armed.
fn record_of(agent: &Agent, env: Env, class: &LoadedClass) -> Option<Arc<Class>> {
    let loader = agent.tool.loader(class.class);
    let known = agent.registry.find(env, &class.name, loader);
    // SAFETY: `Tool::loader` has made the local reference, which is not used again.
    unsafe { env.delete(loader) };
    known
}

/// Retransforms classes (with their dotted names) in one pause of the application. If that fails,
/// retransforms them one by one, so that a class that cannot be transformed does not prevent the
/// others.
fn retransform(agent: &Agent, wanted: &[(jclass, String)]) {
    let classes: Vec<jclass> = wanted.iter().map(|(class, _)| *class).collect();
    match (later_agents::retransform(agent, &classes), wanted) {
        (Ok(()), _) => {}
        (Err(e), [(_, name)]) => agent.refuse(name, "", "RetransformFailed", &e.to_string()),
        (Err(_), several) => several.chunks(1).for_each(|one| retransform(agent, one)),
    }
}

/// Whether the patterns select a method of an armed class that has no cell, or the class has its
/// original code again.
fn lacks_method(agent: &Agent, env: Env, class: &Class, patterns: &[MethodPattern]) -> bool {
    if class.state().restored {
        return true;
    }
    let facts = selection::metadata_if_needed(agent.tool, env, class, patterns);
    let facts = facts.as_deref();
    methods_without_cell(class).iter().any(|method| {
        let MethodName { name, descriptor } = method;
        let selects = |p: &MethodPattern| match facts {
            Some(_) => p.selects(class.dotted.as_str(), facts, name, descriptor),
            // The facts are unknown, so the class hook decides.
            None => p.matches(class.dotted.as_str(), name, descriptor),
        };
        patterns.iter().any(selects)
    })
}

/// The methods of a class that have code but no cell. The result is kept until the class passes the
/// hook again.
fn methods_without_cell(class: &Class) -> Arc<[MethodName]> {
    let (original, armed) = {
        let state = class.state();
        if let Some(known) = &state.unarmed {
            return known.clone();
        }
        let armed: HashSet<usize> = state.methods.iter().map(|m| m.index).collect();
        (state.original.clone(), armed)
    };
    let Ok(bytes) = original.read() else {
        // Without its class file, the class cannot get more cells.
        return Arc::default();
    };
    let found: Arc<[MethodName]> = methods_with_code(&bytes, &armed).into();
    let mut state = class.state();
    if state.original.is_same(&original) && state.methods.len() == armed.len() {
        state.unarmed = Some(found.clone());
    }
    found
}

/// The methods in a class file that have code and whose index is not in `excluded`. Empty for a
/// malformed class file.
fn methods_with_code(bytes: &[u8], excluded: &HashSet<usize>) -> Vec<MethodName> {
    let Ok(file) = ClassFile::parse(bytes) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (index, method) in file.methods.iter().enumerate() {
        let has_code = method.attributes.iter().any(|a| a.is(&file.pool, "Code"));
        if excluded.contains(&index) || !has_code {
            continue;
        }
        let name = file.pool.text(method.name);
        if let (Ok(name), Ok(descriptor)) = (name, file.pool.text(method.descriptor)) {
            found.push(MethodName {
                name: name.into_owned(),
                descriptor: descriptor.into_owned(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_class_cache::StoredFile;

    const POINTS: &[u8] = include_bytes!("fixtures/Points.classfile");

    #[test]
    fn methods_with_a_cell_are_left_out() {
        let names = |excluded: &[usize]| -> Vec<String> {
            let found = methods_with_code(POINTS, &excluded.iter().copied().collect());
            found
                .into_iter()
                .map(|m| m.name + m.descriptor.as_str())
                .collect()
        };
        let all = names(&[]);
        assert_eq!(all.first().map(String::as_str), Some("<init>(Z)V"));
        assert!(all.contains(&"loop(I)I".to_string()));
        let fewer = names(&[0, 2]);
        assert_eq!(fewer.len(), all.len() - 2);
        assert!(!fewer.contains(&"loop(I)I".to_string()));
    }

    #[test]
    fn a_malformed_class_file_has_no_methods() {
        assert!(methods_with_code(&POINTS[..50], &HashSet::new()).is_empty());
    }

    #[test]
    fn the_methods_without_a_cell_are_kept_with_the_class_file() {
        let class = crate::classes::registry::test_class("shop/Points", 0..8);
        class.state().original = StoredFile::on_heap(POINTS);
        let first = methods_without_cell(&class);
        assert!(Arc::ptr_eq(&first, &methods_without_cell(&class)));
    }
}
