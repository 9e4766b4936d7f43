//! Comma-separated values (RFC 4180). There is a row for each point of an instrument and for each
//! entry of a table. Rows with further metrics of the entry follow the entry's row: its buckets,
//! its seconds, its number of different values, or the error bound of its count.
//!
//! ```text
//!   id,name,kind,plan,attached,class,method,fragment,to,what,line,key1,key2,key3,key4,count,sum,min,max
//!   i1,hits,counter,hot.rhai,true,shop.Desk,serve(I)V,3,,,41,,,,,1000,,,
//!   i2,took,timer,hot.rhai,true,shop.Desk,serve(I)V,,,,,,,,,3,5600,100,4500   times in nanoseconds
//!   t1,cost,histogram,hot.rhai,true,,,,,,,book,,,,4,10,0,6
//!   t1,cost,bucket,hot.rhai,true,,,,,,,book,,,,3,,0,0        3 values from 0 to 0
//!   t2,often,second,hot.rhai,true,,,,,,,ann,,,,30,,1,1       rate: 30 values one second ago
//!   t3,users,different,hot.rhai,true,,,,,,,shop,,,,5,,,      distinct: 5 different values
//!   t4,paths,error,hot.rhai,true,,,,,,,/a,,,,8,,,            top: 8 may belong to other keys
//! ```

use serde_json::Value;
use thiserror::Error;
use veneer_protocol::{
    EntryMetrics, Instrument, InstrumentKind, Measurement, PointRow, Report, Table, TableEntry,
};

/// The names of the columns, in order.
pub const COLUMNS: [&str; 19] = [
    "id", "name", "kind", "plan", "attached", "class", "method", "fragment", "to", "what", "line",
    "key1", "key2", "key3", "key4", "count", "sum", "min", "max",
];

/// Why a report could not be converted.
#[derive(Debug, Error)]
#[error("the figures cannot be written as CSV: {0}")]
pub struct CsvError(#[from] csv::Error);

/// The values of the columns from `count` on; `None` is an empty column.
#[derive(Default)]
struct Numbers {
    count: Option<u64>,
    sum: Option<i128>,
    min: Option<i128>,
    max: Option<i128>,
}

impl Numbers {
    fn count(count: u64) -> Self {
        Numbers {
            count: Some(count),
            ..Numbers::default()
        }
    }
}

/// A report as CSV text. The first line has the names of the columns.
pub fn render(report: &Report) -> Result<String, CsvError> {
    let mut bytes = Vec::new();
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(&mut bytes);
    writer.write_record(COLUMNS)?;
    for row in rows(report) {
        writer.write_record(row)?;
    }
    writer.flush().map_err(csv::Error::from)?;
    drop(writer);
    // All cells are UTF-8, so no character is replaced.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn rows(report: &Report) -> Vec<[String; COLUMNS.len()]> {
    let mut rows = Vec::new();
    for instrument in &report.instruments {
        rows.extend(instrument.points.iter().map(|p| point_row(instrument, p)));
    }
    for table in &report.tables {
        for entry in &table.entries {
            rows.extend(entry_rows(table, entry));
        }
    }
    rows
}

fn point_row(instrument: &Instrument, point: &PointRow) -> [String; COLUMNS.len()] {
    let kind = match instrument.kind {
        InstrumentKind::Counter => "counter",
        InstrumentKind::Timer => "timer",
        InstrumentKind::Log => "log",
        InstrumentKind::Code => "code",
        InstrumentKind::Recorder => "recorder",
    };
    let numbers = match point.data {
        Measurement::Count { hits } => Numbers::count(hits),
        Measurement::Log { events, .. } => Numbers::count(events),
        Measurement::Time {
            count,
            total_ns,
            min_ns,
            max_ns,
        } => Numbers {
            count: Some(count),
            sum: Some(total_ns.into()),
            min: Some(min_ns.into()),
            max: Some(max_ns.into()),
        },
    };
    let at = [
        point.class.clone(),
        point.method.clone(),
        text(point.fragment.map(|f| f.0)),
        text(point.to.map(|f| f.0)),
        point.what.clone().unwrap_or_default(),
        text(point.line),
    ];
    let (id, name, plan) = (&instrument.id, &instrument.name, &instrument.plan);
    let head = (id.as_str(), name.as_str(), kind, plan.as_str());
    row(head, instrument.attached, at, &[], &numbers)
}

fn entry_rows(table: &Table, entry: &TableEntry) -> Vec<[String; COLUMNS.len()]> {
    let with = |kind: &str, numbers: &Numbers| {
        let head = (
            table.id.as_str(),
            table.name.as_str(),
            kind,
            table.plan.as_str(),
        );
        row(
            head,
            table.attached,
            Default::default(),
            &entry.keys,
            numbers,
        )
    };
    let numbers = match &entry.figures {
        EntryMetrics::Sums {
            count,
            sum,
            min,
            max,
        }
        | EntryMetrics::Distribution {
            count,
            sum,
            min,
            max,
            ..
        } => Numbers {
            count: Some(*count),
            sum: Some((*sum).into()),
            min: Some((*min).into()),
            max: Some((*max).into()),
        },
        other => Numbers::count(other.count()),
    };
    let between = |count: u64, from: i128, to: i128| Numbers {
        count: Some(count),
        sum: None,
        min: Some(from),
        max: Some(to),
    };
    let mut rows = vec![with(table.kind.plan_function(), &numbers)];
    match &entry.figures {
        EntryMetrics::Distribution { buckets, .. } => rows.extend(buckets.iter().map(|bucket| {
            let (from, to) = (bucket.from.into(), bucket.to.into());
            with("bucket", &between(bucket.count, from, to))
        })),
        EntryMetrics::Rate { seconds, .. } => rows.extend(seconds.iter().map(|second| {
            let ago = second.ago.into();
            with("second", &between(second.count, ago, ago))
        })),
        EntryMetrics::Distinct { distinct, .. } => {
            rows.push(with("different", &Numbers::count(*distinct)));
        }
        EntryMetrics::UpperBound { error, .. } => rows.push(with("error", &Numbers::count(*error))),
        EntryMetrics::Sums { .. }
        | EntryMetrics::Occurrence { .. }
        | EntryMetrics::Count { .. } => {}
    }
    rows
}

fn row(
    (id, name, kind, plan): (&str, &str, &str, &str),
    attached: bool,
    at: [String; 6],
    keys: &[Value],
    numbers: &Numbers,
) -> [String; COLUMNS.len()] {
    let key = |n: usize| match keys.get(n) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => crate::metric::join_frames(lines),
        Some(other) => other.to_string(),
    };
    let [class, method, fragment, to, what, line] = at;
    [
        id.into(),
        name.into(),
        kind.into(),
        plan.into(),
        attached.to_string(),
        class,
        method,
        fragment,
        to,
        what,
        line,
        key(0),
        key(1),
        key(2),
        key(3),
        text(numbers.count),
        text(numbers.sum),
        text(numbers.min),
        text(numbers.max),
    ]
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sample::report;

    #[test]
    fn rows_have_all_columns_and_special_characters_are_quoted() {
        let text = render(&report()).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(&rows[0][1], "hits \"of\" a\\b");
        assert_eq!(&rows[0][15], "1000");
        let took = rows.iter().find(|row| &row[1] == "took").unwrap();
        assert_eq!(
            took.iter().skip(15).collect::<Vec<_>>(),
            ["3", "5600", "100", "4500"]
        );
        let of = |name: &str, kind: &str| {
            let found = rows.iter().filter(|row| &row[1] == name && &row[2] == kind);
            let pairs = found.map(|row| (row[15].to_owned(), row[17].to_owned()));
            pairs.collect::<Vec<(String, String)>>()
        };
        let pair = |count: &str, min: &str| (count.to_owned(), min.to_owned());
        assert_eq!(of("cost", "bucket"), [pair("3", "0"), pair("1", "6")]);
        assert_eq!(of("width", "bucket").len(), 4);
        assert_eq!(of("width", "bucket")[1], pair("3", "0"));
        assert_eq!(of("often", "rate"), [pair("40", "")]);
        assert_eq!(of("often", "second"), [pair("30", "1")]);
        assert_eq!(of("users", "distinct"), [pair("9", "")]);
        assert_eq!(of("users", "different"), [pair("5", "")]);
        assert_eq!(of("paths", "top"), [pair("70", "")]);
        assert_eq!(of("paths", "error"), [pair("8", "")]);
        let odd = rows.iter().find(|row| &row[11] == "ann; x\n").unwrap();
        assert_eq!((&odd[2], &odd[12]), ("tally", "7"));
        assert!(text.contains("\r\n") && text.contains("\"ann; x\n\""));
    }
}
