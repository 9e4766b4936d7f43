//! The file of a filter: rules in the form of JPMT.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use veneer_traces::analysis::TraceFilter;

use crate::cli::RecordedEvents;
use crate::output::print_error;

/// The lines of a filter that a command's options add before those of a file.
pub fn option_lines(threads: &[String], longer: Option<f64>) -> Vec<String> {
    let mut lines: Vec<String> = threads
        .iter()
        .map(|name| format!("includethread {name}"))
        .collect();
    if !threads.is_empty() {
        lines.push("excludethread *".into());
    }
    lines.extend(longer.map(|seconds| format!("longer {seconds}")));
    lines
}

/// The calls that no recording has.
const WITHOUT_FILE: &str = "in threads without an events file";

/// Which calls a recording with this filter counts and does not have: a part of a sentence.
pub fn uncounted_reason(rules: &str) -> String {
    let filter = TraceFilter::parse(rules).unwrap_or_default();
    let mut reasons = Vec::new();
    if let Some(longer) = filter.longer {
        let millis = longer.as_secs_f64() * 1000.0;
        reasons.push(format!("that are shorter than {millis} ms"));
    }
    if !filter.threads.is_empty() {
        reasons.push("in threads that the filter leaves out".into());
    }
    reasons.push(WITHOUT_FILE.into());
    reasons.join(", or ")
}

/// The filter of a recording.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TraceRules {
    /// The lines of the recorder's filter.
    pub lines: String,
    /// The events that the filter and the command ask for.
    pub events: RecordedEvents,
}

/// The line of a filter by which the trace keeps its last seconds only.
pub fn keep_last_line(seconds: f64) -> String {
    format!("keep_last {seconds}")
}

/// The filter of a recording: the rules of the filter file, and the events of the file and of
/// `events`. Other lines of a JPMT configuration are reported.
pub fn read_rules(path: Option<&Path>, events: &RecordedEvents) -> Result<TraceRules> {
    let events = events.clone();
    let Some(path) = path else {
        let lines = observed_lines(&events).join("\n");
        return Ok(TraceRules { lines, events });
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
    let threads = filter.threads.iter().map(|rule| {
        let word = if rule.is_include {
            "includethread"
        } else {
            "excludethread"
        };
        format!("{word} {}", rule.name)
    });
    let longer = filter.longer.iter();
    let longer = longer.map(|time| format!("longer {}", time.as_secs_f64()));
    let events = events.union(RecordedEvents {
        jvm: filter.events(),
        calls: filter.call_events().collect(),
    });
    let lines = observed_lines(&events).into_iter();
    let lines = lines.chain(source).chain(kept).chain(longer);
    let lines = lines.chain(threads).chain(rules);
    Ok(TraceRules {
        lines: lines.collect::<Vec<_>>().join("\n"),
        events,
    })
}

/// The lines that ask for events.
fn observed_lines(events: &RecordedEvents) -> Vec<String> {
    let lines = events.names().map(|name| format!("observe_{name}"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::{CallEventKind, VmEventKind};

    #[test]
    fn the_lines_have_the_events_of_the_file_and_of_the_option() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = "observe_monitor_contention\nobserve_park\nobserve_object_allocation\nobserve_tea\nkeep_last 2.50\nlonger 0.001\nincludethread http 1\nexcludemethod * <init>\n";
        fs::write(file.path(), text).expect("it is written");
        let events = RecordedEvents {
            jvm: [VmEventKind::Collection].into_iter().collect(),
            ..RecordedEvents::default()
        };
        let rules = read_rules(Some(file.path()), &events).expect("rules");
        assert_eq!(
            rules.lines,
            "observe_contended\nobserve_gc\nobserve_allocate\nobserve_park\nkeep_last 2.5\nlonger 0.001\nincludethread http 1\nexcludemethod * <init>"
        );
        assert_eq!(rules.events.calls, [CallEventKind::Park].into());
        let rules = read_rules(None, &events).expect("rules");
        assert_eq!((rules.lines.as_str(), rules.events), ("observe_gc", events));
    }
}
