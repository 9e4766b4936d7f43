//! The instruments that count calls: the plan that attaches them, and their counts.

use std::process;

use veneer_instruments::PointRow;
use veneer_protocol::Report;

use super::assemble::Readings;
use super::tasks::{TASKS, UNFOLLOWED};
use veneer_client::plan_text::literal;

/// The most points of each instrument.
const MAX_POINTS: u32 = 5_000_000;

/// The times of contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextTimes {
    /// Those of a clock that the agent writes at short intervals.
    Coarse,
    /// Those of the processor's counter, read at both ends of each call.
    Exact,
}

/// The options of a recording of contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextOptions {
    times: ContextTimes,
    /// Whether the calls of a task are below the context in which it was submitted.
    has_tasks: bool,
}

impl ContextOptions {
    /// The options for `--exact-times` and `--tasks`.
    pub fn new(are_exact: bool, has_tasks: bool) -> ContextOptions {
        let times = match are_exact {
            false => ContextTimes::Coarse,
            true => ContextTimes::Exact,
        };
        ContextOptions { times, has_tasks }
    }

    /// The facts of a profile about its contexts.
    pub fn facts(self) -> Vec<(&'static str, &'static str)> {
        let tasks = self
            .has_tasks
            .then_some(("tasks", "below the contexts that submitted them"));
        let times = ("times", self.times.info());
        std::iter::once(times).chain(tasks).collect()
    }
}

impl ContextTimes {
    /// The instrument of a plan.
    fn instrument(self) -> &'static str {
        match self {
            ContextTimes::Coarse => "contexts()",
            ContextTimes::Exact => "exact_contexts()",
        }
    }

    /// The fact of a profile about its times.
    fn info(self) -> &'static str {
        match self {
            ContextTimes::Coarse => {
                "from a clock of 0.2 ms; the standard error of a time t is at most the square root of t × 0.2 ms"
            }
            ContextTimes::Exact => "exact",
        }
    }
}

/// The names of the instruments of a recording. They distinguish the recordings of several commands.
pub struct InstrumentNames {
    points: String,
    receivers: String,
    first_receivers: String,
    virtual_calls: String,
    contexts: String,
}

impl InstrumentNames {
    /// The names for a recording by this command.
    pub fn of_this_process() -> InstrumentNames {
        let name = |what| format!("veneer calls {}: {what}", process::id());
        InstrumentNames {
            points: name("counts"),
            receivers: name("receivers"),
            first_receivers: name("first receivers"),
            virtual_calls: name("virtual calls"),
            contexts: name("contexts"),
        }
    }

    /// The plan that attaches the instruments. The table of the first receivers has room for
    /// `max_receivers` call sites.
    ///
    /// Most virtual call sites meet one class only. So a site remembers the class of its first
    /// receiver, and the table counts only the calls on other classes. The calls on the first class are
    /// the rest of the site's calls.
    pub fn plan(&self, patterns: &[String], max_receivers: u32) -> String {
        let patterns: Vec<String> = patterns.iter().map(|pattern| literal(pattern)).collect();
        format!(
            "let m = methods([{}]).limit({MAX_POINTS});\n\
             let t = tally({max_receivers}).named({});\n\
             let first = tally({max_receivers}).named({});\n\
             let g = m.call_graph().before(counter().named({}));\n\
             let v = m.call_graph().before(code(|p| {{ let c = inline_cache(p.receiver); \
             if c == 2 {{ t.count(site_id(), class_of(p.receiver)) }} \
             else if c == 1 {{ first.count(site_id(), class_of(p.receiver)) }} }}).named({}));\n",
            patterns.join(", "),
            literal(&self.receivers),
            literal(&self.first_receivers),
            literal(&self.points),
            literal(&self.virtual_calls),
        )
    }

    /// The end of a plan that also records contexts. It prints the ids of all instruments and the
    /// directory of the recording as JSON.
    pub fn context_plan(&self, options: ContextOptions) -> String {
        format!(
            "{}print(#{{ ids: [g.id(), v.id(), c.id()], directory: c.recording().directory, \
             unfollowed: {} }}.to_json());\n",
            self.context_recorder(options),
            if options.has_tasks { UNFOLLOWED } else { "0" }
        )
    }

    /// The end of a plan that also records contexts until the JVM ends.
    pub fn context_plan_until_exit(&self, options: ContextOptions) -> String {
        format!(
            "{}at_exit(|| {{ c.detach(); {} }});\n",
            self.context_recorder(options),
            // An instrument that is detached need not have matched anything.
            if options.has_tasks {
                "for t in tasks { t.detach(); }"
            } else {
                ""
            }
        )
    }

    fn context_recorder(&self, options: ContextOptions) -> String {
        format!(
            "let c = m.around({}.named({}));\n{}",
            options.times.instrument(),
            literal(&self.contexts),
            if options.has_tasks { TASKS } else { "" }
        )
    }

    /// Selects the counts of this recording from a report.
    pub fn readings(&self, report: Report) -> Readings {
        let rows = report.instruments.into_iter();
        let mut readings = self.counts(rows.map(|one| (one.name, one.points)));
        readings.refusals = report.refusals;
        for table in report.tables {
            if table.name == self.receivers {
                readings.are_receivers_whole = table.omitted == 0 && table.rest.count() == 0;
                readings.receivers = table.entries;
            } else if table.name == self.first_receivers {
                readings.first_receivers = table.entries;
            }
        }
        readings
    }

    /// Selects the counts of this recording from instruments with their names.
    pub fn counts(&self, all: impl Iterator<Item = (String, Vec<PointRow>)>) -> Readings {
        let mut readings = Readings::default();
        for (name, points) in all {
            if name == self.points {
                points.into_iter().for_each(|row| readings.add_point(row));
            } else if name == self.contexts {
                readings.contexts.extend(points);
            }
        }
        readings
    }
}
