//! Rows of a trace or of a query as an Apache Parquet file, without compression.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use veneer_traces::Trace;
use veneer_traces::query::{Cell, Column, Query, ResultColumn, Show, Source, Unit, run};

use super::error::TraceExportError;

/// Rows of a row group, which is held in memory.
const ROWS_PER_GROUP: usize = 1 << 16;

/// Writes rows. All columns are optional: texts are UTF-8, averages are doubles, and other numbers
/// are 64-bit integers.
pub struct ParquetRows<W: Write + Send> {
    columns: Vec<ResultColumn>,
    rows: Vec<Vec<Cell>>,
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetRows<W> {
    /// Begins a file with these columns.
    pub fn new(to: W, columns: Vec<ResultColumn>) -> Result<ParquetRows<W>, TraceExportError> {
        let fields = columns.iter().map(|column| {
            let (physical, logical) = match (column.unit, column.is_real) {
                (Unit::Text, _) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
                (_, true) => (PhysicalType::DOUBLE, None),
                _ => (PhysicalType::INT64, None),
            };
            let field = Type::primitive_type_builder(&column.name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical)
                .build()?;
            Ok(Arc::new(field))
        });
        let fields = fields.collect::<ParquetResult<Vec<_>>>()?;
        let schema = Type::group_type_builder("call")
            .with_fields(fields)
            .build()?;
        let properties = Arc::new(WriterProperties::builder().build());
        Ok(ParquetRows {
            columns,
            rows: Vec::new(),
            writer: SerializedFileWriter::new(to, Arc::new(schema), properties)?,
        })
    }

    /// Adds a row.
    pub fn add(&mut self, row: Vec<Cell>) -> Result<(), TraceExportError> {
        self.rows.push(row);
        if self.rows.len() == ROWS_PER_GROUP {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the end of the file, without which it cannot be read.
    pub fn finish(mut self) -> Result<(), TraceExportError> {
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TraceExportError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        for (n, column) in self.columns.iter().enumerate() {
            let cells: Vec<&Cell> = rows.iter().filter_map(|row| row.get(n)).collect();
            let levels = |is_value: fn(&Cell) -> bool| -> Vec<i16> {
                cells.iter().map(|cell| i16::from(is_value(cell))).collect()
            };
            let Some(mut writer) = group.next_column()? else {
                break;
            };
            match (column.unit, column.is_real) {
                (Unit::Text, _) => {
                    let values = cells.iter().filter_map(|cell| match cell {
                        Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                        _ => None,
                    });
                    let values: Vec<ByteArray> = values.collect();
                    let levels = levels(|cell| matches!(cell, Cell::Text(_)));
                    writer
                        .typed::<ByteArrayType>()
                        .write_batch(&values, Some(&levels), None)?;
                }
                (_, true) => {
                    let values = cells.iter().filter_map(|cell| match cell {
                        Cell::Real(number) => Some(*number),
                        _ => None,
                    });
                    let values: Vec<f64> = values.collect();
                    let levels = levels(|cell| matches!(cell, Cell::Real(_)));
                    writer
                        .typed::<DoubleType>()
                        .write_batch(&values, Some(&levels), None)?;
                }
                _ => {
                    let values = cells.iter().filter_map(|cell| match cell {
                        Cell::Number(number) => Some(i64::try_from(*number).unwrap_or(i64::MAX)),
                        _ => None,
                    });
                    let values: Vec<i64> = values.collect();
                    let levels = levels(|cell| matches!(cell, Cell::Number(_)));
                    writer
                        .typed::<Int64Type>()
                        .write_batch(&values, Some(&levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }
}

/// Writes all nodes and instants with all columns of queries.
pub fn write_nodes(trace: &Trace, to: impl Write + Send) -> Result<(), TraceExportError> {
    let query = Query {
        show: Column::ALL.iter().copied().map(Show::Column).collect(),
        ..Query::new(Source::Events(Vec::new()))
    };
    let mut rows = ParquetRows::new(to, query.columns())?;
    let mut written = Ok(());
    run(&query, trace, |row| {
        written = rows.add(row);
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written?;
    rows.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::otlp::sample::trace;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    #[test]
    fn a_file_has_a_row_per_node_and_is_read_again() {
        let scratch = tempfile::tempdir().unwrap();
        let trace = trace(scratch.path());
        let path = scratch.path().join("t.parquet");
        write_nodes(&trace, std::fs::File::create(&path).unwrap()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 2);
        let field = |row: usize, name: &str| {
            let mut columns = rows[row].get_column_iter();
            columns.find(|c| c.0 == name).map(|c| c.1.clone()).unwrap()
        };
        assert_eq!(field(0, "method"), Field::Str("shop.Dao::find".into()));
        assert_eq!(field(0, "wall"), Field::Long(100));
        assert_eq!(field(0, "ended"), Field::Str("throw".into()));
        assert_eq!(field(1, "self"), Field::Long(200));
        assert_eq!(field(1, "cpu"), Field::Null);
    }
}
