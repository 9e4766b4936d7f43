//! The filter of a trace: a configuration file of JPMT, read as it is.
//!
//! ```text
//!   output log/test5.bin
//!   observe_monitor_contention
//!   excludemethod * <init>
//!   includemethod shop.* *
//!   excludemethod * *
//! ```
//!
//! The first rule that matches a method decides. A method that no rule matches is included. `*`
//! matches any text, dots included. The source is Harkema et al., "Performance Monitoring of Java
//! Applications" (WOSP 2002), section 4.2. Lines that begin with `#` are comments.

use std::time::Duration;

use thiserror::Error;
use veneer_instruments::{CallEventKind, VmEventKind, VmEventKinds};

/// The longest time that a filter can ask to keep.
const MAX_KEPT_SECONDS: f64 = 86_400.0;
/// JPMT's name for the events of blocked threads.
const MONITOR_CONTENTION: &str = "monitor_contention";
/// JPMT's name for allocated objects.
const OBJECT_ALLOCATION: &str = "object_allocation";
/// JPMT's name for calls, which every recording has.
const METHOD_INVOCATIONS: &str = "method_invocations";

/// An include or exclude rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRule {
    /// Whether methods that match are included.
    pub is_include: bool,
    /// The pattern of the class, dotted.
    pub class: String,
    /// The pattern of the method's name.
    pub method: String,
}

/// An include or exclude rule for threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRule {
    /// Whether threads that match are included.
    pub is_include: bool,
    /// The pattern of the name.
    pub name: String,
}

/// A filter of methods, threads and events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFilter {
    /// The rules in order.
    pub rules: Vec<FilterRule>,
    /// The name of the output.
    pub output: Option<String>,
    /// The events to observe, by their names without `observe_`: those of [`VmEventKind`] and
    /// [`CallEventKind`], and JPMT's `monitor_contention`, `object_allocation` and
    /// `method_invocations`.
    pub observed: Vec<String>,
    /// The rules for the names of threads, in order.
    pub threads: Vec<ThreadRule>,
    /// The duration from which on calls are recorded.
    pub longer: Option<Duration>,
    /// The source of processor times: `rseq`, `clock` or `none`.
    pub processor_time: Option<String>,
    /// The time before its end that the trace must have. What is older may be overwritten.
    pub keep_last: Option<Duration>,
    /// Other words of the file, which have no effect here: `bytecode_rewriting`.
    pub ignored: Vec<String>,
}

/// A line of a filter that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "line {line}: `{text}` needs a pattern of classes and a pattern of methods: `{word} shop.* *`"
)]
pub struct FilterError {
    /// The line, from 1.
    pub line: usize,
    /// The rule's first word.
    pub word: String,
    /// The whole line.
    pub text: String,
}

impl TraceFilter {
    /// Parses a configuration file.
    ///
    /// # Errors
    /// The first rule that has not exactly two patterns.
    pub fn parse(text: &str) -> Result<TraceFilter, FilterError> {
        let mut filter = TraceFilter::default();
        for (line, text) in (1..).zip(text.lines()) {
            let words: Vec<&str> = text.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [word, ..] if word.starts_with('#') => {}
                [word @ ("includemethod" | "excludemethod"), patterns @ ..] => {
                    let [class, method] = patterns else {
                        return Err(FilterError {
                            line,
                            word: (*word).into(),
                            text: text.trim().into(),
                        });
                    };
                    filter.rules.push(FilterRule {
                        is_include: *word == "includemethod",
                        class: (*class).into(),
                        method: (*method).into(),
                    });
                }
                [word @ ("includethread" | "excludethread"), _, ..] => {
                    let name = text.trim_start().strip_prefix(word).unwrap_or_default();
                    filter.threads.push(ThreadRule {
                        is_include: *word == "includethread",
                        name: name.trim().into(),
                    });
                }
                ["longer", seconds] if parse_seconds(seconds).is_some() => {
                    filter.longer = parse_seconds(seconds);
                }
                ["output", name] => filter.output = Some((*name).into()),
                ["processor_time", source @ ("rseq" | "clock" | "none")] => {
                    filter.processor_time = Some((*source).into());
                }
                ["keep_last", seconds] if parse_seconds(seconds).is_some() => {
                    filter.keep_last = parse_seconds(seconds);
                }
                [word, ..] => match word.strip_prefix("observe_") {
                    Some(event) => filter.observed.push(event.into()),
                    None => filter.ignored.push(text.trim().into()),
                },
            }
        }
        Ok(filter)
    }

    /// The events of the JVM that the filter asks for.
    pub fn events(&self) -> VmEventKinds {
        let kinds = self.observed.iter().filter_map(|name| event_kind(name));
        kinds.collect()
    }

    /// The events at calls of the JDK's methods that the filter asks for.
    pub fn call_events(&self) -> impl Iterator<Item = CallEventKind> {
        self.observed
            .iter()
            .filter_map(|name| CallEventKind::named(name))
    }

    /// The names of events that a trace cannot have.
    pub fn unknown_events(&self) -> impl Iterator<Item = &str> {
        let unknown = |name: &&str| {
            *name != METHOD_INVOCATIONS
                && event_kind(name).is_none()
                && CallEventKind::named(name).is_none()
        };
        self.observed.iter().map(String::as_str).filter(unknown)
    }

    /// Whether a thread is included, by its name. The first rule that matches decides.
    pub fn includes_thread(&self, name: &str) -> bool {
        let rule = self.threads.iter().find(|rule| glob(&rule.name, name));
        rule.is_none_or(|rule| rule.is_include)
    }

    /// Whether a method is included. `class` is dotted.
    pub fn includes(&self, class: &str, method: &str) -> bool {
        let rule = self
            .rules
            .iter()
            .find(|rule| glob(&rule.class, class) && glob(&rule.method, method));
        rule.is_none_or(|rule| rule.is_include)
    }
}

/// A number of seconds above 0 and of at most [`MAX_KEPT_SECONDS`].
fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    let is_valid = seconds > 0.0 && seconds <= MAX_KEPT_SECONDS;
    is_valid.then(|| Duration::from_secs_f64(seconds))
}

/// The kind of event of this name.
fn event_kind(name: &str) -> Option<VmEventKind> {
    match name {
        MONITOR_CONTENTION => Some(VmEventKind::Contended),
        OBJECT_ALLOCATION => Some(VmEventKind::Allocate),
        name => VmEventKind::named(name),
    }
}

/// Whether a text matches a pattern in which `*` is any text.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // The latest `*`, and the place in the text at which its match ends.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, end)) = star {
            star = Some((at, end + 1));
            p = at + 1;
            t = end + 1;
        } else {
            return false;
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|b| *b == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of the paper's section 4.2.
    const PAPER: &str = "output log/test5.bin
observe_monitor_contention
observe_object_allocation
bytecode_rewriting
observe_method_invocations
excludemethod * <init>
excludemethod * main
includemethod net.qahwah.jpmt.test.* *
excludemethod * *
";

    #[test]
    fn the_file_of_the_paper_is_read_as_it_is() {
        let filter = TraceFilter::parse(PAPER).expect("a filter");
        assert_eq!(filter.output.as_deref(), Some("log/test5.bin"));
        let observed = [
            "monitor_contention",
            "object_allocation",
            "method_invocations",
        ];
        assert_eq!(filter.observed, observed);
        assert_eq!(filter.ignored, ["bytecode_rewriting"]);
        let of_jvm = [VmEventKind::Contended, VmEventKind::Allocate];
        assert!(filter.events().iter().eq(of_jvm));
        assert_eq!(filter.unknown_events().next(), None);
        assert_eq!(filter.call_events().next(), None);
        let more = format!("{PAPER}observe_park\nobserve_sleep\nobserve_tea\n");
        let filter = TraceFilter::parse(&more).expect("a filter");
        let called = [CallEventKind::Park, CallEventKind::Sleep];
        assert!(filter.call_events().eq(called));
        assert!(filter.unknown_events().eq(["tea"]));
        let filter = TraceFilter::parse(PAPER).expect("a filter");
        assert_eq!(filter.rules.len(), 4);
        assert!(filter.includes("net.qahwah.jpmt.test.deep.Counter", "increment"));
        assert!(!filter.includes("net.qahwah.jpmt.test.Counter", "<init>"));
        assert!(!filter.includes("net.qahwah.jpmt.test.Counter", "main"));
        assert!(!filter.includes("java.lang.String", "length"));
    }

    #[test]
    fn threads_have_rules_and_calls_a_shortest_duration() {
        let text = "longer 0.0015\nincludethread http worker *\nexcludethread *\n";
        let filter = TraceFilter::parse(text).expect("a filter");
        assert_eq!(filter.longer, Some(Duration::from_micros(1_500)));
        assert!(filter.includes_thread("http worker 7") && !filter.includes_thread("main"));
        assert!(filter.ignored.is_empty());
        assert!(TraceFilter::default().includes_thread("main"));
        for malformed in ["longer", "longer -1", "longer 1 s", "includethread"] {
            let filter = TraceFilter::parse(malformed).expect("a filter");
            assert_eq!(filter.ignored, [malformed]);
        }
    }

    #[test]
    fn the_source_of_processor_times_is_one_of_three_words() {
        let source = |text| TraceFilter::parse(text).expect("a filter").processor_time;
        assert_eq!(source("processor_time clock").as_deref(), Some("clock"));
        assert_eq!(source("processor_time sundial"), None);
    }

    #[test]
    fn the_kept_time_is_a_number_of_seconds() {
        let kept = |text| TraceFilter::parse(text).expect("a filter").keep_last;
        assert_eq!(kept("keep_last 5"), Some(Duration::from_secs(5)));
        assert_eq!(kept("keep_last 0.25"), Some(Duration::from_millis(250)));
        for text in [
            "keep_last",
            "keep_last x",
            "keep_last 0",
            "keep_last 1e9",
            "keep_last NaN",
        ] {
            let filter = TraceFilter::parse(text).expect("a filter");
            assert_eq!((filter.keep_last, &*filter.ignored[0]), (None, text));
        }
    }

    #[test]
    fn a_rule_without_two_patterns_is_an_error_with_its_line() {
        let error = TraceFilter::parse("# all\n\nincludemethod shop.*").expect_err("an error");
        assert_eq!(error.line, 3);
        assert!(error.to_string().contains("`includemethod shop.* *`"));
    }

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text, matches) in [
            ("*", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b", "ab", true),
            ("a*b", "aba", false),
            ("", "", true),
            ("", "a", false),
            ("**a", "bba", true),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
        }
    }
}
