//! `veneer trace query`: rows as a table, CSV, JSON or Parquet.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use veneer_export::trace::ParquetRows;
use veneer_traces::query::{Cell, Query, ResultColumn, Unit, parse, run as run_query};
use veneer_traces::{Findings, Trace};

use super::text::{clean, duration, findings};
use crate::cli::{RowFormat, TraceQueryArguments};
use crate::export::Output;
use crate::output::{Style, print_error};

/// Rows of a table that are printed if the query has no `top`.
const MAX_TABLE_ROWS: usize = 1000;

/// Prints the rows and returns the exit code.
pub fn run(arguments: &TraceQueryArguments) -> Result<u8> {
    let query = parse(&arguments.expression).context("the query is malformed")?;
    let trace = Trace::open(&arguments.directory)?;
    let columns = query.columns();
    let is_binary = arguments.format == RowFormat::Parquet;
    let mut to = BufWriter::new(Output::open(arguments.output.as_deref(), is_binary)?);
    if is_binary {
        return parquet(&query, &trace, to);
    }
    if arguments.format == RowFormat::Csv {
        let names: Vec<String> = columns.iter().map(|c| csv_field(&c.name)).collect();
        writeln!(to, "{}", names.join(","))?;
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut is_cut = false;
    let mut written = Ok(());
    let found = run_query(&query, &trace, |row| {
        written = match arguments.format {
            RowFormat::Table if query.top.is_none() && rows.len() == MAX_TABLE_ROWS => {
                is_cut = true;
                return ControlFlow::Break(());
            }
            RowFormat::Table => {
                rows.push(row);
                Ok(())
            }
            RowFormat::Csv => {
                let fields: Vec<String> = row.iter().map(|c| csv_field(&c.to_string())).collect();
                writeln!(to, "{}", fields.join(","))
            }
            RowFormat::Json | RowFormat::Parquet => writeln!(to, "{}", json(&columns, row)),
        };
        match &written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    written?;
    if arguments.format == RowFormat::Table {
        let style = Style::of_output(arguments.output.as_deref());
        write_table(&mut to, &columns, &rows, style)?;
    }
    to.flush()?;
    report(&found?);
    if is_cut {
        print_error(&format!(
            "only {MAX_TABLE_ROWS} rows are shown: add .top(n), or use --format csv"
        ));
    }
    Ok(0)
}

/// Prints the findings to standard error.
fn report(found: &Findings) {
    let unseen = findings(found);
    if !unseen.is_empty() {
        print_error(&unseen);
    }
}

/// Writes the rows as a Parquet file.
fn parquet(query: &Query, trace: &Trace, to: impl Write + Send) -> Result<u8> {
    let mut rows = ParquetRows::new(to, query.columns())?;
    let mut written = Ok(());
    let found = run_query(query, trace, |row| {
        written = rows.add(row);
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    written?;
    rows.finish()?;
    report(&found?);
    Ok(0)
}

/// A field of CSV, in quotation marks if necessary (RFC 4180).
fn csv_field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

fn json(columns: &[ResultColumn], row: Vec<Cell>) -> Value {
    let values = row.into_iter().map(|cell| match cell {
        Cell::Null => Value::Null,
        Cell::Number(number) => number.into(),
        Cell::Real(number) => number.into(),
        Cell::Text(text) => text.into(),
    });
    let names = columns.iter().map(|column| column.name.clone());
    Value::Object(names.zip(values).collect::<Map<String, Value>>())
}

fn write_table(
    to: &mut impl Write,
    columns: &[ResultColumn],
    rows: &[Vec<Cell>],
    style: Style,
) -> io::Result<()> {
    let text = |cell: &Cell, unit: Unit| match (cell, unit) {
        (Cell::Null, _) => "-".into(),
        (Cell::Number(ns), Unit::Nanoseconds) => duration(*ns),
        (Cell::Real(ns), Unit::Nanoseconds) => duration(ns.round().max(0.0) as u64),
        (other, _) => clean(&other.to_string()),
    };
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .zip(columns)
                .map(|(c, column)| text(c, column.unit))
                .collect()
        })
        .collect();
    let width = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = columns.iter().map(|c| width(&c.name)).collect();
    for line in &lines {
        for (widest, cell) in widths.iter_mut().zip(line) {
            *widest = (*widest).max(width(cell));
        }
    }
    let join = |cells: &[String]| {
        let mut line = String::new();
        for ((cell, widest), column) in cells.iter().zip(&widths).zip(columns) {
            let fill = " ".repeat(widest.saturating_sub(width(cell)));
            match column.unit {
                Unit::Text => line += &format!("{cell}{fill}  "),
                _ => line += &format!("{fill}{cell}  "),
            }
        }
        line.trim_end().to_string()
    };
    let titles: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    writeln!(to, "{}", style.bold(&join(&titles)))?;
    lines
        .iter()
        .try_for_each(|line| writeln!(to, "{}", join(line)))
}
