//! Completions of a partial pattern: the names of loaded classes and of their methods.
//!
//! ```text
//!   sh           ─▶  shop.
//!   shop.        ─▶  shop.Desk  shop.dao.
//!   Des          ─▶  shop.Desk                 a class by its simple name
//!   shop.Desk::  ─▶  shop.Desk::<init>(..)  shop.Desk::serve(..)
//!   shop.Desk::< ─▶  shop.Desk::<clinit>(..)  shop.Desk::<init>(..)
//! ```
//!
//! Clients ask for completions while the user types a pattern. The plan thread answers. No class is
//! armed for this.

use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use std::collections::BTreeSet;
use veneer_fragmenter::anchor;
use veneer_instruments::{CLASS_INITIALISER, complete_class_name};
use veneer_names::java_form;

/// The first `limit` completions of a text, sorted. See `Runtime::completions`.
pub fn complete(tool: Tool, env: Env, text: &str, limit: usize) -> Vec<String> {
    let mut found = BTreeSet::new();
    for class in tool.loaded(env) {
        let name = tool.class_name(class);
        if let Some(name) = name.filter(|name| !anchor::is_anchor(name)) {
            let dotted = java_form(&name);
            match text.split_once("::") {
                Some((wanted, start)) if wanted == dotted => {
                    let methods = tool.method_names(class).into_iter();
                    let fitting = methods.filter(|name| fits_method(name, start));
                    found.extend(fitting.map(|name| format!("{dotted}::{name}(..)")));
                }
                Some(_) => {}
                None => found.extend(complete_class_name(&dotted, text)),
            }
        }
        // SAFETY: `loaded` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
    }
    found.into_iter().take(limit).collect()
}

/// Whether a method name completes its beginning. Static initialisers are offered only if the user
/// has typed `<`: they are armed only if a plan names them, and those of loaded classes have mostly
/// run already.
fn fits_method(name: &str, start: &str) -> bool {
    name.starts_with(start) && (name != CLASS_INITIALISER || start.starts_with('<'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_initialisers_are_offered_only_after_an_angle_bracket() {
        assert!(fits_method("serve", "") && fits_method("serve", "ser"));
        assert!(!fits_method("serve", "serves"));
        assert!(fits_method("<init>", "") && fits_method("<init>", "<"));
        assert!(!fits_method(CLASS_INITIALISER, "") && fits_method(CLASS_INITIALISER, "<"));
    }
}
