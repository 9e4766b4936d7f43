//! Renders rows, events and tally tables as text: aligned within [`TABLE_WIDTH`] columns, as bars,
//! as CSV, or as collapsed stacks.
//!
//! ```text
//!   Row ──▶ rows.rs      Event ──▶ events.rs      Tally ──▶ entries.rs, bars.rs, csv.rs
//!              └────── foot.rs ────────┴──────────────┘
//!                         └──▶ veneer_text::TextTable
//! ```
//!
//! `outputs.rs` has the columns and cells of each kind of table.

mod bars;
mod call_stacks;
mod csv;
mod entries;
mod events;
mod foot;
mod outputs;
mod place;
mod rows;
mod text;

pub use bars::render_bars;
pub use call_stacks::{render_collapsed, render_stacks};
pub use csv::{CsvError, render_csv};
pub use entries::{render_tally, render_tally_within};
pub use events::render_events;
pub use foot::TABLE_WIDTH;
pub use outputs::{OwnValue, own_values};
pub use rows::{render_rows, render_rows_within};
pub use text::{format_count, format_duration};
