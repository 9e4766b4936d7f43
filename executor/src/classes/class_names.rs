//! Names of loaded classes and of their methods, for whoever types a pattern. Nothing is armed for it.
//!
//! ```text
//!   sh           ─▶  shop.
//!   shop.        ─▶  shop.Desk  shop.dao.
//!   Des          ─▶  shop.Desk                 a class by its simple name
//!   shop.Desk::  ─▶  shop.Desk::<init>(..)  shop.Desk::serve(..)
//!   shop.Desk::< ─▶  shop.Desk::<clinit>(..)  shop.Desk::<init>(..)
//! ```

use crate::agent::Agent;
use crate::jvm::jni::Env;
use std::collections::BTreeSet;
use veneer_fragmenter::anchor;
use veneer_instruments::{INITIALISER, completed};

/// See `Runtime::names`. Called by the plan thread.
pub fn beginning(agent: &Agent, env: Env, text: &str, limit: usize) -> Vec<String> {
    let mut found = BTreeSet::new();
    for class in agent.tool.loaded(env) {
        let name = agent.tool.class_name(class);
        if let Some(name) = name.filter(|name| !anchor::is_anchor(name)) {
            let dotted = name.replace('/', ".");
            match text.split_once("::") {
                Some((wanted, start)) if wanted == dotted => {
                    let methods = agent.tool.method_names(class).into_iter();
                    // It is armed only where it is named, and mostly over when somebody could name it.
                    let named = start.starts_with('<');
                    let fits =
                        |name: &String| name.starts_with(start) && (named || name != INITIALISER);
                    found.extend(methods.filter(fits).map(|m| format!("{dotted}::{m}(..)")));
                }
                Some(_) => {}
                None => found.extend(completed(&dotted, text)),
            }
        }
        env.delete(class);
    }
    found.into_iter().take(limit).collect()
}
