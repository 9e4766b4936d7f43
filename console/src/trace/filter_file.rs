//! The file of a filter: rules in the form of JPMT.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use veneer_instruments::VmEventKinds;
use veneer_traces::analysis::TraceFilter;

use crate::output::print_error;

/// The line of a filter by which the trace keeps its last seconds only.
pub fn keep_last_line(seconds: f64) -> String {
    format!("keep_last {seconds}")
}

/// The lines of the recorder's filter: the rules of the filter file, and the events of the file and
/// of `events`. Other lines of a JPMT configuration are reported.
pub fn read_rules(path: Option<&Path>, events: VmEventKinds) -> Result<String> {
    let Some(path) = path else {
        return Ok(observed_lines(events).join("\n"));
    };
    let text = fs::read_to_string(path)
        .with_context(|| format!("the filter {} cannot be read", path.display()))?;
    let filter = TraceFilter::parse(&text)
        .with_context(|| format!("the filter {} is malformed", path.display()))?;
    let unknown = filter.unknown_events();
    let unknown = unknown.map(|event| format!("observe_{event}"));
    let ignored: Vec<String> = unknown.chain(filter.ignored.iter().cloned()).collect();
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
    let source = filter.processor_time.iter();
    let source = source.map(|source| format!("processor_time {source}"));
    let kept = filter.keep_last.iter();
    let kept = kept.map(|time| keep_last_line(time.as_secs_f64()));
    let lines = observed_lines(filter.events().union(events)).into_iter();
    Ok(lines
        .chain(source)
        .chain(kept)
        .chain(rules)
        .collect::<Vec<_>>()
        .join("\n"))
}

/// The lines that ask for events of the JVM.
fn observed_lines(events: VmEventKinds) -> Vec<String> {
    let lines = events.iter().map(|kind| format!("observe_{kind}"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::VmEventKind;

    #[test]
    fn the_lines_have_the_events_of_the_file_and_of_the_option() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = "observe_monitor_contention\nobserve_object_allocation\nkeep_last 2.50\nexcludemethod * <init>\n";
        fs::write(file.path(), text).expect("it is written");
        let events = VmEventKinds::from_iter([VmEventKind::Collection]);
        let rules = read_rules(Some(file.path()), events).expect("rules");
        assert_eq!(
            rules,
            "observe_contended\nobserve_gc\nkeep_last 2.5\nexcludemethod * <init>"
        );
        assert_eq!(read_rules(None, events).expect("rules"), "observe_gc");
    }
}
