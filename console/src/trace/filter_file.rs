//! The file of a filter: rules in the form of JPMT.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use veneer_traces::analysis::TraceFilter;

use crate::output::print_error;

/// The rules of the filter file, one per line. Other lines of a JPMT configuration are reported.
pub fn read_rules(path: Option<&Path>) -> Result<String> {
    let Some(path) = path else {
        return Ok(String::new());
    };
    let text = fs::read_to_string(path)
        .with_context(|| format!("the filter {} cannot be read", path.display()))?;
    let filter = TraceFilter::parse(&text)
        .with_context(|| format!("the filter {} is malformed", path.display()))?;
    let observed = filter
        .observed
        .iter()
        .map(|event| format!("observe_{event}"));
    let observed = observed.filter(|word| word != "observe_method_invocations");
    let ignored: Vec<String> = observed.chain(filter.ignored).collect();
    if !ignored.is_empty() {
        print_error(&format_args!(
            "warning: {}: no effect here: {}; method calls are recorded",
            path.display(),
            ignored.join(", ")
        ));
    }
    let rules = filter.rules.iter().map(|rule| {
        let word = if rule.is_include {
            "includemethod"
        } else {
            "excludemethod"
        };
        format!("{word} {} {}", rule.class, rule.method)
    });
    Ok(rules.collect::<Vec<_>>().join("\n"))
}
