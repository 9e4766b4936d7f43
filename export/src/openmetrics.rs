//! The text format of OpenMetrics 1.0, which Prometheus scrapes.
//!
//! ```text
//!   # TYPE veneer_hits counter
//!   # HELP veneer_hits Number of passes of a point, or of runs of a plan's code there.
//!   veneer_hits_total{pid="4711",instrument="i1",name="hits",class="shop.Desk",method="serve(I)V",fragment="3",line="41"} 1000
//!   # EOF
//! ```
//!
//! Times are seconds with nine decimal places, so whole nanoseconds are exact.
//!
//! The module writes the text itself and uses no client library. Client libraries maintain their
//! own metrics, cannot export summaries with given values, and do not all escape label values.

use std::fmt::Write;

use veneer_protocol::Report;

use crate::metric::{Labels, MetricFamily, MetricType, MetricValue, metric_families};

/// The value of the HTTP header `Content-Type` for this format.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A report in the text format of OpenMetrics.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for family in metric_families(report) {
        // Writing to a string cannot fail.
        let _ = write(&mut text, &family);
    }
    text + "# EOF\n"
}

/// The metric name with prefix and unit.
fn full_name(family: &MetricFamily) -> String {
    let unit = if family.is_time { "_seconds" } else { "" };
    format!("veneer_{}{unit}", family.name)
}

fn write(to: &mut String, family: &MetricFamily) -> std::fmt::Result {
    let name = full_name(family);
    let kind = match family.kind {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
        MetricType::Summary => "summary",
        MetricType::Histogram => "histogram",
        MetricType::Info => "info",
    };
    writeln!(to, "# TYPE {name} {kind}")?;
    if family.is_time {
        writeln!(to, "# UNIT {name} seconds")?;
    }
    writeln!(to, "# HELP {name} {}", family.help)?;
    for (labels, figure) in &family.samples {
        let labels = &label_list(labels);
        match figure {
            MetricValue::Count(n) if family.kind == MetricType::Info => {
                writeln!(to, "{name}_info{{{labels}}} {n}")?;
            }
            MetricValue::Count(n) => writeln!(to, "{name}_total{{{labels}}} {n}")?,
            MetricValue::Gauge(n) => {
                writeln!(to, "{name}{{{labels}}} {}", number(*n, family.is_time))?
            }
            MetricValue::Summary { count, sum, .. } => {
                let sum = i128::try_from(*sum).unwrap_or(i128::MAX);
                writeln!(to, "{name}_count{{{labels}}} {count}")?;
                writeln!(to, "{name}_sum{{{labels}}} {}", number(sum, family.is_time))?;
            }
            MetricValue::Histogram {
                count,
                sum,
                min,
                buckets,
                ..
            } => {
                let mut below = 0u64;
                for (bound, count) in buckets {
                    below = below.saturating_add(*count);
                    // Values above all bounds are counted in the bucket `+Inf` below.
                    if *bound < i64::MAX {
                        writeln!(to, "{name}_bucket{{{labels},le=\"{bound}.0\"}} {below}")?;
                    }
                }
                let all = below.max(*count);
                writeln!(to, "{name}_bucket{{{labels},le=\"+Inf\"}} {all}")?;
                // OpenMetrics requires that the sum of a histogram never decreases. A sum
                // that may have decreased is omitted, and with it the count.
                if *min >= 0 && *sum >= 0 {
                    writeln!(to, "{name}_count{{{labels}}} {all}")?;
                    writeln!(to, "{name}_sum{{{labels}}} {sum}")?;
                }
            }
        }
    }
    Ok(())
}

/// The value as text; a time in nanoseconds is written in seconds.
fn number(value: i128, is_time: bool) -> String {
    if !is_time {
        return value.to_string();
    }
    let sign = if value < 0 { "-" } else { "" };
    let (whole, rest) = (
        value.unsigned_abs() / 1_000_000_000,
        value.unsigned_abs() % 1_000_000_000,
    );
    format!("{sign}{whole}.{rest:09}")
}

/// The labels as `name="value"` pairs, separated by commas.
fn label_list(labels: &Labels) -> String {
    let pairs = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
    pairs.collect::<Vec<_>>().join(",")
}

/// Escapes `\`, `"` and line feeds in a label value. OpenMetrics permits no other escapes.
fn escape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sample::report;
    use veneer_protocol::{Bucket, EntryMetrics};

    #[test]
    fn each_metric_type_has_its_lines() {
        let text = render(&report());
        let has = |line: &str| assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        let at = r#"class="shop.Desk",method="serve(Lshop/Order;I)V""#;
        has("# TYPE veneer_hits counter");
        has(&format!(
            r#"veneer_hits_total{{pid="4711",instrument="i1",name="hits \"of\" a\\b",{at},fragment="3",line="41"}} 1000"#
        ));
        has(&format!(
            r#"veneer_hits_total{{pid="4711",instrument="i3",name="seen",{at},fragment="5",what="call shop.Cart::add @17"}} 4"#
        ));
        has("# UNIT veneer_time_seconds seconds");
        let took = format!(r#"pid="4711",instrument="i2",name="took",{at}"#);
        has(&format!("veneer_time_seconds_count{{{took}}} 3"));
        has(&format!("veneer_time_seconds_sum{{{took}}} 0.000005600"));
        has(&format!("veneer_time_max_seconds{{{took}}} 0.000004500"));
        has(
            r#"veneer_table_hits_total{pid="4711",table="t1",name="orders",key1="ann; x\n",key2="7"} 12"#,
        );
        has(r#"veneer_table_values_bucket{pid="4711",table="t2",name="cost",le="5.0"} 3"#);
        has(r#"veneer_table_values_bucket{pid="4711",table="t2",name="cost",le="6.0"} 4"#);
        has(r#"veneer_table_values_bucket{pid="4711",table="t2",name="cost",le="+Inf"} 4"#);
        has(r#"veneer_table_sum{pid="4711",table="t3",name="owed",key1="ann"} -9"#);
        let width = r#"pid="4711",table="t5",name="width""#;
        for (bound, count) in [("-1.0", 0), ("9.0", 3), ("19.0", 4), ("+Inf", 6)] {
            has(&format!(
                r#"veneer_table_values_bucket{{{width},le="{bound}"}} {count}"#
            ));
        }
        has(&format!("veneer_table_values_sum{{{width}}} 50"));
        has(r#"veneer_table_hits_total{pid="4711",table="t6",name="often",key1="ann"} 40"#);
        has("# TYPE veneer_table_distinct gauge");
        has(r#"veneer_table_distinct{pid="4711",table="t7",name="users",key1="shop"} 5"#);
        has(r#"veneer_table_hits_total{pid="4711",table="t7",name="users",key1="shop"} 9"#);
        has("# TYPE veneer_table_top gauge");
        has(r#"veneer_table_top{pid="4711",table="t8",name="paths",key1="/a"} 70"#);
        has(r#"veneer_table_top_error{pid="4711",table="t8",name="paths",key1="/a"} 8"#);
        has(r#"veneer_jvm_info{pid="4711",vm="OpenJDK 64-Bit Server VM",version="17.0.15+6"} 1"#);
        has(r#"veneer_uptime_seconds{pid="4711"} 5.120000000"#);
        assert!(text.ends_with("\n# EOF\n") && !text.contains("latest"));
        assert!(!text.contains("drawn") && !text.contains("veneer_table_rest"));
    }

    #[test]
    fn a_sum_that_may_decrease_is_omitted() {
        let mut report = report();
        let distribution = EntryMetrics::Distribution {
            count: 2,
            sum: -4,
            min: -9,
            max: 5,
            buckets: vec![
                Bucket {
                    from: i64::MIN,
                    to: -1,
                    count: 1,
                },
                Bucket {
                    from: 5,
                    to: 5,
                    count: 1,
                },
            ],
        };
        report.tables[1].entries[0].figures = distribution;
        let text = render(&report);
        assert!(text.contains("le=\"-1.0\"} 1\n") && text.contains("le=\"+Inf\"} 2\n"));
        assert!(
            !text.contains("veneer_table_values_sum{pid=\"4711\",table=\"t2\"")
                && !text.contains("veneer_table_values_count{pid=\"4711\",table=\"t2\"")
        );
    }
}
