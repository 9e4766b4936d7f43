//! Queries: one row per call, filtered, grouped and sorted.
//!
//! ```text
//!   calls("shop..*Dao::*(..)").under("shop.Desk::serve(..)").longer(5 ms).by("method")
//!   ───────────────┬─────────  ───────────────────────┬───────────────── ──────┬─────
//!               source                             filters                  grouping
//! ```
//!
//! Method patterns are those of plans. A query streams: its memory depends on the number of groups
//! or of sorted rows, and not on the length of the trace. Segments without a selected call are
//! skipped by the index. If rows are grouped, or the first ones of a sorted result are wanted, several threads
//! read parts of the trace at once. A part begins where the index has a snapshot of the open calls.

mod columns;
mod condition;
mod groups;
mod parallel;
mod parser;
mod quantiles;
mod query_text;
mod row_order;
mod row_visitor;
mod run;
mod selection;
mod sorted_rows;
mod tokens;

pub use columns::{Cell, Column, RowView, Unit, kind_text, method_text, values_text};
pub use condition::{Comparison, Condition, Operand};
pub use parser::parse;
pub use quantiles::Quantiles;
pub use query_text::{Measure, Query, QueryError, ResultColumn, Show, Sort, Source};
pub use run::{Readers, RunError, run, run_with};
pub use selection::FrameSelection;
