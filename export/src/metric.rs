//! A report as metric families, the common data model of OpenMetrics and OTLP.
//!
//! ```text
//!   counters, code    hits                                  counter
//!   timers            time, time_min, time_max              summary, gauges        seconds
//!   logs              events, events_dropped                counters
//!   tally             table_hits                            counter
//!   sums              table_hits, table_sum, _min, _max     counter, gauges
//!   histogram, linear table_values                          histogram
//!   rate              table_hits                            counter; receivers compute the rate
//!   distinct          table_hits, table_distinct            counter, gauge
//!   top               table_top, table_top_error            gauges
//!   the JVM           jvm, uptime, classes_armed, …         info, gauges
//! ```
//!
//! Labels:
//!
//! * Every sample has `pid`.
//! * Samples of points have `instrument`, `name`, `class`, `method`, and `fragment`, `to`, `what`
//!   and
//!   `line` if the point has them.
//! * Samples of tables have `table`, `name`, and `key1` … `key4` if the entry has them.
//!
//! If several class loaders have defined a class, the report has several points with equal names.
//! Receivers accept each set of labels only once, so the samples of such points are merged.

use indexmap::IndexMap;
use serde_json::Value as Json;
use veneer_protocol::{
    EntryMetrics, Instrument, Measurement, PointRow, Report, Table, TableKind, bucket_bounds,
};

#[cfg(test)]
pub mod sample;

/// Label names and values, in a fixed order.
pub type Labels = Vec<(&'static str, String)>;

/// The metric type of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricType {
    /// A number that only increases, unless a plan clears it.
    Counter,
    /// A number that can increase and decrease.
    Gauge,
    /// The number and the sum of values.
    Summary,
    /// Numbers of values by bucket.
    Histogram,
    /// A constant 1, whose labels contain the information.
    Info,
}

/// A metric family: all samples with one metric name.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricFamily {
    /// The name without prefix, unit and suffixes: `time_min`.
    pub name: &'static str,
    /// A sentence that describes the metric.
    pub help: &'static str,
    /// The type in OpenMetrics.
    pub kind: MetricType,
    /// Whether the values are nanoseconds, which are exported as seconds.
    pub is_time: bool,
    /// The samples by labels, in the order of the report.
    pub samples: IndexMap<Labels, MetricValue>,
}

/// The value of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricValue {
    /// The value of a counter or info.
    Count(u64),
    /// The value of a gauge.
    Gauge(i128),
    /// The value of a summary. If `count` is 0, `min` and `max` are 0.
    Summary {
        /// Number of values.
        count: u64,
        /// Sum of the values.
        sum: u128,
        /// The smallest of the values.
        min: u64,
        /// The largest of the values.
        max: u64,
    },
    /// The value of a histogram.
    Histogram {
        /// Number of values.
        count: u64,
        /// Sum of the values, modulo 2⁶⁴.
        sum: i64,
        /// The smallest of the values.
        min: i64,
        /// The largest of the values.
        max: i64,
        /// The largest value of each bucket and the number of values in the bucket, in ascending
        /// order. For `histogram`, the last bucket is the highest non-empty one; for `linear`, all
        /// buckets are present.
        buckets: Vec<(i64, u64)>,
    },
}

impl MetricValue {
    /// Merges a sample with the same labels into this one. `merge` selects the operation for
    /// gauges.
    fn add(&mut self, other: MetricValue, merge: Merge) {
        match (self, other) {
            (MetricValue::Count(a), MetricValue::Count(b)) => *a = a.saturating_add(b),
            (MetricValue::Gauge(a), MetricValue::Gauge(b)) => match merge {
                Merge::Sum => *a += b,
                Merge::Minimum => *a = (*a).min(b),
                Merge::Maximum => *a = (*a).max(b),
            },
            (
                MetricValue::Summary {
                    count,
                    sum,
                    min,
                    max,
                },
                MetricValue::Summary {
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
            // Each table has its own labels, so histograms are never merged.
            _ => {}
        }
    }
}

/// The operation that merges two gauges with the same labels.
#[derive(Clone, Copy)]
enum Merge {
    Sum,
    Minimum,
    Maximum,
}

/// The metric families of a report, in a fixed order. Families without samples are omitted.
pub fn metric_families(report: &Report) -> Vec<MetricFamily> {
    let mut all = Families::default();
    all.jvm(report);
    let pid = report.jvm.pid.to_string();
    for instrument in &report.instruments {
        for point in &instrument.points {
            all.point(labels(&pid, instrument, point), point.data);
        }
    }
    for table in &report.tables {
        all.table(&pid, table);
    }
    all.0.retain(|family| !family.samples.is_empty());
    all.0
}

fn labels(pid: &str, instrument: &Instrument, point: &PointRow) -> Labels {
    let mut labels: Labels = vec![
        ("pid", pid.into()),
        ("instrument", instrument.id.clone()),
        ("name", instrument.name.clone()),
        ("class", point.class.clone()),
        ("method", point.method.clone()),
    ];
    let optional = [
        ("fragment", point.fragment.map(|f| f.0.to_string())),
        ("to", point.to.map(|f| f.0.to_string())),
        ("what", point.what.clone()),
        ("line", point.line.map(|n| n.to_string())),
    ];
    labels.extend(optional.into_iter().filter_map(|(n, v)| Some((n, v?))));
    labels
}

/// All families except [`REST_FAMILY`] in the order of the output: name, type, whether values are
/// times, help text.
const FAMILIES: [(&str, MetricType, bool, &str); 21] = [
    ("jvm", MetricType::Info, false, "The JVM of these metrics."),
    (
        "uptime",
        MetricType::Gauge,
        true,
        "Time since the agent's start.",
    ),
    (
        "classes_armed",
        MetricType::Gauge,
        false,
        "Number of armed classes.",
    ),
    (
        "methods_armed",
        MetricType::Gauge,
        false,
        "Number of armed methods.",
    ),
    (
        "versions",
        MetricType::Counter,
        false,
        "Number of method versions that were created.",
    ),
    (
        "refused_classes",
        MetricType::Gauge,
        false,
        "Number of classes that the agent refused to change.",
    ),
    (
        "refused_methods",
        MetricType::Gauge,
        false,
        "Number of single methods that the agent refused to change.",
    ),
    (
        "events_dropped",
        MetricType::Counter,
        false,
        "Number of logged events that were dropped, of all instruments.",
    ),
    (
        "hits",
        MetricType::Counter,
        false,
        "Number of passes of a point, or of runs of a plan's code there.",
    ),
    (
        "time",
        MetricType::Summary,
        true,
        "Time from one point to another, usually from method entry to exit.",
    ),
    (
        "time_min",
        MetricType::Gauge,
        true,
        "The shortest of these times.",
    ),
    (
        "time_max",
        MetricType::Gauge,
        true,
        "The longest of these times.",
    ),
    (
        "events",
        MetricType::Counter,
        false,
        "Number of logged events of a point.",
    ),
    (
        "table_hits",
        MetricType::Counter,
        false,
        "Number of values with a combination of keys.",
    ),
    (
        "table_sum",
        MetricType::Gauge,
        false,
        "Sum of the values with a combination of keys.",
    ),
    (
        "table_min",
        MetricType::Gauge,
        false,
        "The smallest of these values.",
    ),
    (
        "table_max",
        MetricType::Gauge,
        false,
        "The largest of these values.",
    ),
    (
        "table_values",
        MetricType::Histogram,
        false,
        "Distribution of the values with a combination of keys.",
    ),
    (
        "table_distinct",
        MetricType::Gauge,
        false,
        "Number of different values with a combination of keys.",
    ),
    (
        "table_top",
        MetricType::Gauge,
        false,
        "Upper bound of the number of values with a frequent combination of keys.",
    ),
    (
        "table_top_error",
        MetricType::Gauge,
        false,
        "Part of this bound that may belong to other combinations.",
    ),
];
/// The family, in the form of [`FAMILIES`], for combinations that a full table could not store.
const REST_FAMILY: (&str, MetricType, bool, &str) = (
    "table_rest",
    MetricType::Counter,
    false,
    "Number of values whose combination of keys a full table could not store.",
);

struct Families(Vec<MetricFamily>);

impl Default for Families {
    fn default() -> Self {
        let family = |(name, kind, is_time, help)| MetricFamily {
            name,
            help,
            kind,
            is_time,
            samples: IndexMap::new(),
        };
        Families(
            FAMILIES
                .into_iter()
                .chain([REST_FAMILY])
                .map(family)
                .collect(),
        )
    }
}

impl Families {
    fn add(&mut self, family: &str, labels: Labels, figure: MetricValue) {
        self.merge(family, labels, figure, Merge::Sum);
    }

    fn merge(&mut self, family: &str, labels: Labels, figure: MetricValue, merge: Merge) {
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
        self.add("jvm", info, MetricValue::Count(1));
        let totals = &report.totals;
        let uptime = i128::from(report.jvm.millis) * 1_000_000;
        self.add("uptime", pid(), MetricValue::Gauge(uptime));
        for (name, level) in [
            ("classes_armed", totals.classes_armed),
            ("methods_armed", totals.methods_armed),
            ("refused_classes", totals.refused_classes),
            ("refused_methods", totals.refused_methods),
        ] {
            self.add(name, pid(), MetricValue::Gauge(level.into()));
        }
        self.add("versions", pid(), MetricValue::Count(totals.versions));
        self.add("events_dropped", pid(), MetricValue::Count(totals.dropped));
    }

    fn point(&mut self, labels: Labels, data: Measurement) {
        match data {
            Measurement::Count { hits } => self.add("hits", labels, MetricValue::Count(hits)),
            Measurement::Log { events, .. } => {
                self.add("events", labels, MetricValue::Count(events))
            }
            Measurement::Time {
                count,
                total_ns,
                min_ns,
                max_ns,
            } => {
                if count > 0 {
                    let min = MetricValue::Gauge(min_ns.into());
                    self.merge("time_min", labels.clone(), min, Merge::Minimum);
                    let max = MetricValue::Gauge(max_ns.into());
                    self.merge("time_max", labels.clone(), max, Merge::Maximum);
                }
                let summary = MetricValue::Summary {
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
            labels.extend(names.zip(entry.keys.iter().map(label_value)));
            self.entry(labels, &entry.figures, table.kind);
        }
        let lost = table.rest.count();
        // The rest of a sample is the unselected combinations, which are not lost.
        if lost > 0 && table.kind != TableKind::Sample {
            self.add("table_rest", head, MetricValue::Count(lost));
        }
    }

    fn entry(&mut self, labels: Labels, figures: &EntryMetrics, kind: TableKind) {
        match figures {
            EntryMetrics::Count { count } | EntryMetrics::Rate { count, .. } => {
                self.add("table_hits", labels, MetricValue::Count(*count));
            }
            EntryMetrics::Distinct { count, distinct } => {
                let level = MetricValue::Gauge((*distinct).into());
                self.add("table_distinct", labels.clone(), level);
                self.add("table_hits", labels, MetricValue::Count(*count));
            }
            // These are gauges and not counters. The space-saving algorithm replaces rare
            // combinations, and a new combination inherits the count of the replaced one as its
            // error. So the count of a combination can decrease.
            EntryMetrics::UpperBound { count, error } => {
                let level = |n: u64| MetricValue::Gauge(n.into());
                self.add("table_top", labels.clone(), level(*count));
                self.add("table_top_error", labels, level(*error));
            }
            EntryMetrics::Sums {
                count,
                sum,
                min,
                max,
            } => {
                let level = |n: i64| MetricValue::Gauge(n.into());
                self.add("table_sum", labels.clone(), level(*sum));
                self.add("table_min", labels.clone(), level(*min));
                self.add("table_max", labels.clone(), level(*max));
                self.add("table_hits", labels, MetricValue::Count(*count));
            }
            EntryMetrics::Distribution {
                count,
                sum,
                min,
                max,
                buckets,
            } if kind == TableKind::Linear => {
                // A linear histogram reports all its buckets, with its own bounds.
                let histogram = MetricValue::Histogram {
                    count: *count,
                    sum: *sum,
                    min: *min,
                    max: *max,
                    buckets: buckets.iter().map(|b| (b.to, b.count)).collect(),
                };
                self.add("table_values", labels, histogram);
            }
            EntryMetrics::Distribution {
                count,
                sum,
                min,
                max,
                buckets,
            } => {
                let known = |bound: i64| buckets.iter().find(|b| b.to == bound).map(|b| b.count);
                let top = buckets.last().map_or(-1, |b| b.to);
                // The bounds below the highest non-empty bucket are always the same. Later exports
                // only add higher bounds, as receivers require.
                let bounds = bucket_bounds().take_while(|bound| *bound <= top);
                let below = known(-1).map(|count| (-1, count));
                let rest = bounds.map(|bound| (bound, known(bound).unwrap_or(0)));
                let histogram = MetricValue::Histogram {
                    count: *count,
                    sum: *sum,
                    min: *min,
                    max: *max,
                    buckets: below.into_iter().chain(rest).collect(),
                };
                self.add("table_values", labels, histogram);
            }
            // Single combinations have no numeric metric.
            EntryMetrics::Occurrence { .. } => {}
        }
    }
}

/// A call stack as one text, with the innermost frame first.
pub(crate) fn join_frames(lines: &[Json]) -> String {
    let lines: Vec<&str> = lines.iter().filter_map(Json::as_str).collect();
    lines.join(" < ")
}

/// A key as a label value.
fn label_value(key: &Json) -> String {
    match key {
        Json::String(text) => text.clone(),
        Json::Array(lines) => join_frames(lines),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family<'a>(all: &'a [MetricFamily], name: &str) -> &'a MetricFamily {
        let found = all.iter().find(|family| family.name == name);
        found.unwrap_or_else(|| panic!("no family {name}"))
    }

    #[test]
    fn points_with_equal_labels_are_merged() {
        let mut report = sample::report();
        let points = &mut report.instruments[0].points;
        points.push(points[0].clone());
        let mut slower = report.instruments[1].points[0].clone();
        slower.data = Measurement::Time {
            count: 1,
            total_ns: 10_000,
            min_ns: 10_000,
            max_ns: 10_000,
        };
        report.instruments[1].points.push(slower);
        let all = metric_families(&report);
        let hits = &family(&all, "hits").samples;
        assert_eq!((hits.len(), &hits[0]), (3, &MetricValue::Count(2000)));
        let expected = MetricValue::Summary {
            count: 4,
            sum: 15_600,
            min: 100,
            max: 10_000,
        };
        assert_eq!(family(&all, "time").samples[0], expected);
        assert_eq!(family(&all, "time_min").samples[0], MetricValue::Gauge(100));
        assert_eq!(
            family(&all, "time_max").samples[0],
            MetricValue::Gauge(10_000)
        );
    }

    #[test]
    fn buckets_have_no_gaps() {
        let all = metric_families(&sample::report());
        let MetricValue::Histogram { buckets, .. } = &family(&all, "table_values").samples[0]
        else {
            panic!("no histogram");
        };
        let expected = [(0, 3), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1)];
        assert_eq!(buckets[..], expected);
    }

    #[test]
    fn every_used_name_is_in_the_list() {
        let mut report = sample::report();
        report.tables[0].rest = EntryMetrics::Count { count: 1 };
        assert_eq!(metric_families(&report).len(), FAMILIES.len() + 1);
    }
}
