//! A report as families of metrics: what OpenMetrics and OTLP have in common.
//!
//! ```text
//!   counters, code    hits                                  counter
//!   timers            time, time_min, time_max              summary, gauges        seconds
//!   logs              events, events_dropped                counters
//!   tally             table_hits                            counter
//!   sums              table_hits, table_sum, _min, _max     counter, gauges
//!   histogram, linear table_values                          histogram
//!   rate              table_hits                            counter: receivers make the rate
//!   distinct          table_hits, table_distinct            counter, gauge
//!   top               table_top, table_top_error            gauges
//!   the JVM           jvm, uptime, classes_armed, …         info, gauges
//! ```
//!
//! Every sample has `pid`, then `instrument`, `name`, `class`, `method`, and as far as they apply `fragment`, `to`, `what`, `line`; those of
//! tables `table`, `name`, `key1` … `key4`. What is absent has no label. A class that several loaders have defined comes several times in a
//! report with the same names; receivers take each set of labels once, so such figures are added up.

use indexmap::IndexMap;
use serde_json::Value as Json;
use veneer_protocol::{
    Figures, Instrument, Point, Readings, Report, Table, TableKind, bucket_bounds,
};

#[cfg(test)]
pub mod sample;

/// Names and values, in a fixed order.
pub type Labels = Vec<(&'static str, String)>;

/// What kind of number a family has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Only rises, as long as nobody clears it.
    Counter,
    /// Rises and falls.
    Gauge,
    /// How many, and their sum.
    Summary,
    /// How many up to each bound.
    Histogram,
    /// Only labels.
    Info,
}

/// Metrics of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Without prefix, unit and suffixes: `time_min`.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// The figures' type.
    pub kind: Type,
    /// Figures are nanoseconds, to be shown as seconds.
    pub is_time: bool,
    /// By labels, in the report's order.
    pub samples: IndexMap<Labels, Figure>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Figure {
    /// Of a counter or an info.
    Count(u64),
    /// Of a gauge.
    Level(i128),
    /// Of a summary; least and greatest are 0 where there is no value.
    Summary {
        /// How many values.
        count: u64,
        /// Of the values.
        sum: u128,
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// Of a histogram.
    Histogram {
        /// How many values.
        count: u64,
        /// Of the values, exact unless it wrapped around.
        sum: i64,
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// The greatest value of each bucket and how many are in it, from the bottom to the highest that is not empty.
        buckets: Vec<(i64, u64)>,
    },
}

impl Figure {
    /// Adds the figure of another thing with the same labels.
    fn add(&mut self, other: Figure, merge: Merge) {
        match (self, other) {
            (Figure::Count(a), Figure::Count(b)) => *a = a.saturating_add(b),
            (Figure::Level(a), Figure::Level(b)) => match merge {
                Merge::Sum => *a += b,
                Merge::Least => *a = (*a).min(b),
                Merge::Greatest => *a = (*a).max(b),
            },
            (
                Figure::Summary {
                    count,
                    sum,
                    min,
                    max,
                },
                Figure::Summary {
                    count: n,
                    sum: s,
                    min: l,
                    max: g,
                },
            ) => {
                if *count == 0 {
                    (*min, *max) = (l, g);
                } else if n > 0 {
                    (*min, *max) = ((*min).min(l), (*max).max(g));
                }
                *count = count.saturating_add(n);
                *sum += s;
            }
            // Tables are each their own.
            _ => {}
        }
    }
}

/// What two levels with the same labels come to.
#[derive(Clone, Copy)]
enum Merge {
    Sum,
    Least,
    Greatest,
}

/// The families of a report, in a fixed order; those without samples are left out.
pub fn families(report: &Report) -> Vec<Family> {
    let mut all = Families::default();
    all.jvm(report);
    let pid = report.jvm.pid.to_string();
    for instrument in &report.instruments {
        for point in &instrument.points {
            all.point(labels(&pid, instrument, point), point.readings);
        }
    }
    for table in &report.tables {
        all.table(&pid, table);
    }
    all.0.retain(|family| !family.samples.is_empty());
    all.0
}

fn labels(pid: &str, instrument: &Instrument, point: &Point) -> Labels {
    let mut labels: Labels = vec![
        ("pid", pid.into()),
        ("instrument", instrument.id.clone()),
        ("name", instrument.name.clone()),
        ("class", point.class.clone()),
        ("method", point.method.clone()),
    ];
    let optional = [
        ("fragment", point.fragment.map(|n| n.to_string())),
        ("to", point.to.map(|n| n.to_string())),
        ("what", point.what.clone()),
        ("line", point.line.map(|n| n.to_string())),
    ];
    labels.extend(optional.into_iter().filter_map(|(n, v)| Some((n, v?))));
    labels
}

/// All families that there can be, in their order: name, type, whether it is a time, help.
const ALL: [(&str, Type, bool, &str); 21] = [
    ("jvm", Type::Info, false, "The JVM that the figures are of."),
    (
        "uptime",
        Type::Gauge,
        true,
        "How long the agent has been in the JVM.",
    ),
    (
        "classes_armed",
        Type::Gauge,
        false,
        "Classes that were armed.",
    ),
    (
        "methods_armed",
        Type::Gauge,
        false,
        "Methods that were armed.",
    ),
    (
        "versions",
        Type::Counter,
        false,
        "Versions of methods that were made.",
    ),
    (
        "refused_classes",
        Type::Gauge,
        false,
        "Classes that were left as they were.",
    ),
    (
        "refused_methods",
        Type::Gauge,
        false,
        "Single methods that were left as they were.",
    ),
    (
        "events_dropped",
        Type::Counter,
        false,
        "Logged values that found no room, of all instruments.",
    ),
    (
        "hits",
        Type::Counter,
        false,
        "How often a point was passed, or code of a plan ran there.",
    ),
    (
        "time",
        Type::Summary,
        true,
        "How long it took from one point to another, mostly through a method.",
    ),
    (
        "time_min",
        Type::Gauge,
        true,
        "The shortest of these times.",
    ),
    ("time_max", Type::Gauge, true, "The longest of these times."),
    (
        "events",
        Type::Counter,
        false,
        "How often values were logged at a point.",
    ),
    (
        "table_hits",
        Type::Counter,
        false,
        "How often a combination of keys came to a table.",
    ),
    (
        "table_sum",
        Type::Gauge,
        false,
        "The sum of the values that came with a combination of keys.",
    ),
    (
        "table_min",
        Type::Gauge,
        false,
        "The least of these values.",
    ),
    (
        "table_max",
        Type::Gauge,
        false,
        "The greatest of these values.",
    ),
    (
        "table_values",
        Type::Histogram,
        false,
        "How the values are distributed that came with a combination of keys.",
    ),
    (
        "table_distinct",
        Type::Gauge,
        false,
        "How many different values came with a combination of keys.",
    ),
    (
        "table_top",
        Type::Gauge,
        false,
        "How often one of the most frequent combinations of keys came, at most.",
    ),
    (
        "table_top_error",
        Type::Gauge,
        false,
        "How much of that may be other combinations.",
    ),
];
/// The same for what a table could not keep.
const REST: (&str, Type, bool, &str) = (
    "table_rest",
    Type::Counter,
    false,
    "How often a combination of keys found no room in a table.",
);

struct Families(Vec<Family>);

impl Default for Families {
    fn default() -> Self {
        let family = |(name, kind, is_time, help)| Family {
            name,
            help,
            kind,
            is_time,
            samples: IndexMap::new(),
        };
        Families(ALL.into_iter().chain([REST]).map(family).collect())
    }
}

impl Families {
    fn add(&mut self, family: &str, labels: Labels, figure: Figure) {
        self.merge(family, labels, figure, Merge::Sum);
    }

    fn merge(&mut self, family: &str, labels: Labels, figure: Figure, merge: Merge) {
        let Some(family) = self.0.iter_mut().find(|known| known.name == family) else {
            return;
        };
        match family.samples.entry(labels) {
            indexmap::map::Entry::Occupied(mut known) => known.get_mut().add(figure, merge),
            indexmap::map::Entry::Vacant(place) => {
                place.insert(figure);
            }
        }
    }

    fn jvm(&mut self, report: &Report) {
        let pid = || vec![("pid", report.jvm.pid.to_string())];
        let mut info = pid();
        info.push(("vm", report.jvm.name.clone()));
        info.push(("version", report.jvm.version.clone()));
        self.add("jvm", info, Figure::Count(1));
        let totals = &report.totals;
        let uptime = i128::from(report.jvm.millis) * 1_000_000;
        self.add("uptime", pid(), Figure::Level(uptime));
        for (name, level) in [
            ("classes_armed", totals.classes_armed),
            ("methods_armed", totals.methods_armed),
            ("refused_classes", totals.refused_classes),
            ("refused_methods", totals.refused_methods),
        ] {
            self.add(name, pid(), Figure::Level(level.into()));
        }
        self.add("versions", pid(), Figure::Count(totals.versions));
        self.add("events_dropped", pid(), Figure::Count(totals.dropped));
    }

    fn point(&mut self, labels: Labels, readings: Readings) {
        match readings {
            Readings::Count { hits } => self.add("hits", labels, Figure::Count(hits)),
            Readings::Log { events, .. } => self.add("events", labels, Figure::Count(events)),
            Readings::Time {
                count,
                total_ns,
                min_ns,
                max_ns,
            } => {
                if count > 0 {
                    let least = Figure::Level(min_ns.into());
                    self.merge("time_min", labels.clone(), least, Merge::Least);
                    let greatest = Figure::Level(max_ns.into());
                    self.merge("time_max", labels.clone(), greatest, Merge::Greatest);
                }
                let summary = Figure::Summary {
                    count,
                    sum: total_ns.into(),
                    min: min_ns,
                    max: max_ns,
                };
                self.add("time", labels, summary);
            }
        }
    }

    fn table(&mut self, pid: &str, table: &Table) {
        let head: Labels = vec![
            ("pid", pid.into()),
            ("table", table.id.clone()),
            ("name", table.name.clone()),
        ];
        for entry in &table.entries {
            let mut labels = head.clone();
            let names = ["key1", "key2", "key3", "key4"].into_iter();
            labels.extend(names.zip(entry.keys.iter().map(text)));
            self.entry(labels, &entry.figures, table.kind);
        }
        let lost = table.rest.count();
        // Of a sample it is what was not drawn, and nothing is lost.
        if lost > 0 && table.kind != TableKind::Sample {
            self.add("table_rest", head, Figure::Count(lost));
        }
    }

    fn entry(&mut self, labels: Labels, figures: &Figures, kind: TableKind) {
        match figures {
            Figures::Count { count } | Figures::Rate { count, .. } => {
                self.add("table_hits", labels, Figure::Count(*count));
            }
            Figures::Distinct { count, distinct } => {
                let level = Figure::Level((*distinct).into());
                self.add("table_distinct", labels.clone(), level);
                self.add("table_hits", labels, Figure::Count(*count));
            }
            // No counters: what a combination begins with, and begins with again, has been others'.
            Figures::Bound { count, error } => {
                let level = |n: u64| Figure::Level(n.into());
                self.add("table_top", labels.clone(), level(*count));
                self.add("table_top_error", labels, level(*error));
            }
            Figures::Sums {
                count,
                sum,
                min,
                max,
            } => {
                let level = |n: i64| Figure::Level(n.into());
                self.add("table_sum", labels.clone(), level(*sum));
                self.add("table_min", labels.clone(), level(*min));
                self.add("table_max", labels.clone(), level(*max));
                self.add("table_hits", labels, Figure::Count(*count));
            }
            Figures::Distribution {
                count,
                sum,
                min,
                max,
                buckets,
            } if kind == TableKind::Linear => {
                // They are all there, and have bounds of their own.
                let histogram = Figure::Histogram {
                    count: *count,
                    sum: *sum,
                    min: *min,
                    max: *max,
                    buckets: buckets.iter().map(|b| (b.to, b.count)).collect(),
                };
                self.add("table_values", labels, histogram);
            }
            Figures::Distribution {
                count,
                sum,
                min,
                max,
                buckets,
            } => {
                let known = |bound: i64| buckets.iter().find(|b| b.to == bound).map(|b| b.count);
                let top = buckets.last().map_or(-1, |b| b.to);
                // The bounds stay as they are while values come in: only higher ones are added.
                let bounds = bucket_bounds().take_while(|bound| *bound <= top);
                let below = known(-1).map(|count| (-1, count));
                let rest = bounds.map(|bound| (bound, known(bound).unwrap_or(0)));
                let histogram = Figure::Histogram {
                    count: *count,
                    sum: *sum,
                    min: *min,
                    max: *max,
                    buckets: below.into_iter().chain(rest).collect(),
                };
                self.add("table_values", labels, histogram);
            }
            // Single values are no metric.
            Figures::Moment { .. } => {}
        }
    }
}

/// A call stack as one text, the innermost line first.
pub(crate) fn stack(lines: &[Json]) -> String {
    let lines: Vec<&str> = lines.iter().filter_map(Json::as_str).collect();
    lines.join(" < ")
}

/// A key as a label has it.
fn text(key: &Json) -> String {
    match key {
        Json::String(text) => text.clone(),
        Json::Array(lines) => stack(lines),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family<'a>(all: &'a [Family], name: &str) -> &'a Family {
        let found = all.iter().find(|family| family.name == name);
        found.unwrap_or_else(|| panic!("no family {name}"))
    }

    #[test]
    fn classes_of_one_name_are_added_up() {
        let mut report = sample::report();
        let points = &mut report.instruments[0].points;
        points.push(points[0].clone());
        let mut slower = report.instruments[1].points[0].clone();
        slower.readings = Readings::Time {
            count: 1,
            total_ns: 10_000,
            min_ns: 10_000,
            max_ns: 10_000,
        };
        report.instruments[1].points.push(slower);
        let all = families(&report);
        let hits = &family(&all, "hits").samples;
        assert_eq!((hits.len(), &hits[0]), (3, &Figure::Count(2000)));
        let expected = Figure::Summary {
            count: 4,
            sum: 15_600,
            min: 100,
            max: 10_000,
        };
        assert_eq!(family(&all, "time").samples[0], expected);
        assert_eq!(family(&all, "time_min").samples[0], Figure::Level(100));
        assert_eq!(family(&all, "time_max").samples[0], Figure::Level(10_000));
    }

    #[test]
    fn buckets_have_no_gaps() {
        let all = families(&sample::report());
        let Figure::Histogram { buckets, .. } = &family(&all, "table_values").samples[0] else {
            panic!("no histogram");
        };
        let expected = [(0, 3), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1)];
        assert_eq!(buckets[..], expected);
    }

    #[test]
    fn every_name_in_use_is_in_the_list() {
        let mut report = sample::report();
        report.tables[0].rest = Figures::Count { count: 1 };
        assert_eq!(families(&report).len(), ALL.len() + 1);
    }
}
