//! The calling-context tree of a trace in the form of a call graph, for the flame graph of the page.

use std::collections::HashMap;
use std::path::Path;

use veneer_calls::{
    CallKind, CallProfile, Context, ContextCost, ContextId, Loader, Method, MethodForm, MethodId,
    MethodName, Origin, Parent, Selection, output,
};
use veneer_traces::Trace;
use veneer_traces::analysis::CallContexts;

use super::api_error::ApiError;
use super::opened_trace::{open, unreadable};

/// The contexts of a trace as `veneer calls show --json` prints those of a call graph.
///
/// # Errors
/// The trace cannot be read.
pub fn contexts(directory: &Path) -> Result<Vec<u8>, ApiError> {
    let trace = open(directory)?;
    let profile = profile(&trace)?;
    let mut json = Vec::new();
    output::json::write(&Selection::all(&profile), &mut json)
        .map_err(|error| ApiError::of_text("not-read", &error.to_string()))?;
    Ok(json)
}

fn profile(trace: &Trace) -> Result<CallProfile, ApiError> {
    let found = CallContexts::of_trace(trace).map_err(|error| unreadable(&error))?;
    let mut profile = CallProfile::new();
    if found.merged > 0 {
        let text = format!(
            "The trace has too many contexts: {} calls are part of the context around them.",
            found.merged
        );
        profile.add_info("contexts", &text);
    }
    let loader = profile.add_loader(&Loader {
        name: String::new(),
        number: 1,
    });
    let mut methods: HashMap<&str, MethodId> = HashMap::new();
    let mut ids: Vec<Option<ContextId>> = Vec::with_capacity(found.contexts.len());
    for context in &found.contexts {
        // The first one is the root of all threads, which a call graph does not have.
        if ids.is_empty() {
            ids.push(None);
            continue;
        }
        let method = *methods.entry(&context.method).or_insert_with(|| {
            profile.add_method(Method {
                loader,
                name: name_of(&context.method),
                form: MethodForm::Bytecode,
                code_bytes: None,
                entries: None,
            })
        });
        let parent = ids.get(context.parent).copied().flatten();
        let id = profile.add_context(Context {
            parent: parent.map_or(Parent::Root(None), Parent::Context),
            method,
            bci: None,
            origin: Origin::Call(CallKind::Other),
            cost: ContextCost {
                calls: context.calls,
                wall_ns: context.wall_ns,
                self_ns: context.self_ns,
                ..ContextCost::default()
            },
        });
        ids.push(Some(id));
    }
    Ok(profile)
}

/// The name of a node: that of a method, or of another event in brackets, such as a wait.
fn name_of(text: &str) -> MethodName {
    match text.split_once("::") {
        Some((class, method)) => MethodName::new(class, method, ""),
        None => MethodName::new("", text, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_no_calls_have_no_class() {
        assert_eq!(
            name_of("shop.Desk::serve"),
            MethodName::new("shop.Desk", "serve", "")
        );
        assert_eq!(name_of("collection"), MethodName::new("", "collection", ""));
    }
}
