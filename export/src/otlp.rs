//! Metrics in the OpenTelemetry protocol (OTLP 1.x): protobuf for collectors, JSON lines for files.
//!
//! ```text
//!   resource  service.name, process.pid, process.runtime.name, process.runtime.version
//!     └─ scope veneer
//!          ├─ veneer.hits          sum, cumulative, monotonic         {instrument, name, class, method, …}
//!          ├─ veneer.time          histogram without bounds: count, sum, min, max     s
//!          ├─ veneer.time.min …    gauges
//!          └─ veneer.table.values  histogram with bounds
//! ```
//!
//! All values are totals since the agent's start, so a lost push loses no counts.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message;
use thiserror::Error;
use veneer_protocol::Report;

use crate::metric::{Labels, MetricFamily, MetricType, MetricValue, metric_families};

/// The value of the HTTP header `Content-Type` for protobuf requests.
pub const CONTENT_TYPE: &str = "application/x-protobuf";
/// The URL path at which a collector accepts metrics.
pub const METRICS_PATH: &str = "/v1/metrics";

/// Why a report could not be converted.
#[derive(Debug, Error)]
#[error("the figures cannot be written as OTLP JSON: {0}")]
pub struct OtlpError(#[from] serde_json::Error);

/// Data of a request that the report does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceInfo {
    /// `service.name`.
    pub service: String,
    /// Start of the agent, in nanoseconds since 1970. The value must be the same in all requests;
    /// otherwise receivers assume that the counters were reset.
    pub began: u64,
    /// Time at which the values were read, in nanoseconds since 1970.
    pub now: u64,
}

/// The body of a protobuf request.
pub fn encode_protobuf(report: &Report, about: &ResourceInfo) -> Vec<u8> {
    request(report, about).encode_to_vec()
}

/// The request as one line of JSON, the file format of collectors.
pub fn encode_json(report: &Report, about: &ResourceInfo) -> Result<String, OtlpError> {
    Ok(serde_json::to_string(&request(report, about))? + "\n")
}

fn request(report: &Report, about: &ResourceInfo) -> ExportMetricsServiceRequest {
    let jvm = &report.jvm;
    let attributes = vec![
        attribute(
            "service.name",
            any_value::Value::StringValue(about.service.clone()),
        ),
        attribute("process.pid", any_value::Value::IntValue(jvm.pid.into())),
        attribute(
            "process.runtime.name",
            any_value::Value::StringValue(jvm.name.clone()),
        ),
        attribute(
            "process.runtime.version",
            any_value::Value::StringValue(jvm.version.clone()),
        ),
    ];
    let families = metric_families(report).into_iter();
    // The labels of the info metric are attributes of the resource.
    let metrics = families.filter(|family| family.kind != MetricType::Info);
    let metrics = metrics.map(|family| to_metric(&family, about)).collect();
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource {
                attributes,
                ..Resource::default()
            }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(InstrumentationScope {
                    name: "veneer".into(),
                    version: env!("CARGO_PKG_VERSION").into(),
                    ..InstrumentationScope::default()
                }),
                metrics,
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

fn attribute(key: &str, value: any_value::Value) -> KeyValue {
    KeyValue {
        key: key.into(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// All labels except `pid`, which is an attribute of the resource.
fn attributes(labels: &Labels) -> Vec<KeyValue> {
    let own = labels.iter().filter(|(name, _)| *name != "pid");
    own.map(|(name, value)| attribute(name, any_value::Value::StringValue(value.clone())))
        .collect()
}

fn to_metric(family: &MetricFamily, about: &ResourceInfo) -> Metric {
    let samples = family.samples.iter();
    let numbers = || {
        let point = |(labels, figure): (&Labels, &MetricValue)| NumberDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: about.began,
            time_unix_nano: about.now,
            value: Some(number(figure, family.is_time)),
            ..NumberDataPoint::default()
        };
        samples.clone().map(point).collect()
    };
    let cumulative = AggregationTemporality::Cumulative as i32;
    let data = match family.kind {
        MetricType::Counter | MetricType::Info => metric::Data::Sum(Sum {
            data_points: numbers(),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        MetricType::Gauge => metric::Data::Gauge(Gauge {
            data_points: numbers(),
        }),
        MetricType::Summary | MetricType::Histogram => {
            let point = |(labels, figure): (&Labels, &MetricValue)| HistogramDataPoint {
                attributes: attributes(labels),
                start_time_unix_nano: about.began,
                time_unix_nano: about.now,
                ..distribution(figure, family.is_time)
            };
            metric::Data::Histogram(Histogram {
                data_points: samples.clone().map(point).collect(),
                aggregation_temporality: cumulative,
            })
        }
    };
    Metric {
        name: format!("veneer.{}", family.name.replace('_', ".")),
        description: family.help.into(),
        unit: if family.is_time { "s" } else { "1" }.into(),
        data: Some(data),
        ..Metric::default()
    }
}

fn number(figure: &MetricValue, is_time: bool) -> number_data_point::Value {
    let whole: i128 = match figure {
        MetricValue::Count(n) => (*n).into(),
        MetricValue::Gauge(n) => *n,
        MetricValue::Summary { count, .. } | MetricValue::Histogram { count, .. } => {
            (*count).into()
        }
    };
    if is_time {
        return number_data_point::Value::AsDouble(seconds(whole));
    }
    match i64::try_from(whole) {
        Ok(n) => number_data_point::Value::AsInt(n),
        Err(_) => number_data_point::Value::AsDouble(whole as f64),
    }
}

fn seconds(ns: i128) -> f64 {
    ns as f64 / 1e9
}

fn distribution(figure: &MetricValue, is_time: bool) -> HistogramDataPoint {
    let scaled = |n: i128| if is_time { seconds(n) } else { n as f64 };
    match figure {
        MetricValue::Summary {
            count,
            sum,
            min,
            max,
        } => {
            let known = |n: u64| (*count > 0).then(|| scaled(n.into()));
            HistogramDataPoint {
                count: *count,
                sum: Some(scaled(i128::try_from(*sum).unwrap_or(i128::MAX))),
                min: known(*min),
                max: known(*max),
                // A histogram without bounds has one bucket.
                bucket_counts: vec![*count],
                ..HistogramDataPoint::default()
            }
        }
        MetricValue::Histogram {
            count,
            sum,
            min,
            max,
            buckets,
        } => {
            let known = |n: i64| (*count > 0).then(|| scaled(n.into()));
            // OTLP requires a last bucket without an upper bound. It contains the values above all
            // bounds, if any.
            let bounded = buckets.iter().filter(|(bound, _)| *bound < i64::MAX);
            let mut counts: Vec<u64> = bounded.clone().map(|(_, count)| *count).collect();
            let inside = counts.iter().fold(0u64, |sum, n| sum.saturating_add(*n));
            let all = inside.max(*count);
            counts.push(all - inside);
            HistogramDataPoint {
                // OTLP requires that `count` is the sum of the buckets. The report's count can be
                // smaller, because threads may add values between the reads of count and buckets.
                count: all,
                // OTLP permits a sum only if the sum never decreases.
                sum: (*min >= 0 && *sum >= 0).then_some(*sum as f64),
                min: known(*min),
                max: known(*max),
                bucket_counts: counts,
                explicit_bounds: bounded.map(|(bound, _)| *bound as f64).collect(),
                ..HistogramDataPoint::default()
            }
        }
        MetricValue::Count(_) | MetricValue::Gauge(_) => HistogramDataPoint::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sample::report;

    fn about() -> ResourceInfo {
        ResourceInfo {
            service: "shop".into(),
            began: 1_000_000_000,
            now: 6_120_000_000,
        }
    }

    fn metric_of(request: &ExportMetricsServiceRequest, name: &str) -> Metric {
        let scope = &request.resource_metrics[0].scope_metrics[0];
        let found = scope.metrics.iter().find(|metric| metric.name == name);
        found.unwrap_or_else(|| panic!("no metric {name}")).clone()
    }

    #[test]
    fn a_request_reads_back_with_exact_figures() {
        let bytes = encode_protobuf(&report(), &about());
        let request = ExportMetricsServiceRequest::decode(&bytes[..]).unwrap();
        let Some(metric::Data::Sum(hits)) = metric_of(&request, "veneer.hits").data else {
            panic!("no sum");
        };
        assert!(hits.is_monotonic);
        let value = hits.data_points[0].value.as_ref();
        assert_eq!(value, Some(&number_data_point::Value::AsInt(1000)));
        let Some(metric::Data::Histogram(time)) = metric_of(&request, "veneer.time").data else {
            panic!("no histogram");
        };
        let point = &time.data_points[0];
        assert_eq!(
            (point.count, point.sum, point.max),
            (3, Some(5.6e-6), Some(4.5e-6))
        );
        let Some(metric::Data::Histogram(cost)) = metric_of(&request, "veneer.table.values").data
        else {
            panic!("no histogram");
        };
        let point = &cost.data_points[0];
        assert_eq!(point.bucket_counts, [3, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(point.explicit_bounds, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let width = &cost.data_points[1];
        assert_eq!(width.bucket_counts, [0, 3, 1, 2]);
        assert_eq!(width.explicit_bounds, [-1.0, 9.0, 19.0]);
    }

    #[test]
    fn json_has_the_names_of_the_specification() {
        let text = encode_json(&report(), &about()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let resource = &value["resourceMetrics"][0];
        assert_eq!(resource["resource"]["attributes"][0]["key"], "service.name");
        let metrics = &resource["scopeMetrics"][0]["metrics"];
        let hits = metrics
            .as_array()
            .unwrap()
            .iter()
            .find(|m| m["name"] == "veneer.hits");
        // The JSON form of protobuf writes 64-bit integers as strings.
        assert_eq!(hits.unwrap()["sum"]["dataPoints"][0]["asInt"], "1000");
    }
}
