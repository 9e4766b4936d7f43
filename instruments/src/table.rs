//! Renders rows, events and tally tables as text: aligned within [`TABLE_WIDTH`] columns, as bars,
//! as CSV, or as collapsed stacks.
//!
//! ```text
//!   Row ──▶ rows.rs      Event ──▶ events.rs      Tally ──▶ entries.rs, bars.rs, csv.rs
//!              └──── text_table.rs ────┴──────────────┴──────────┘
//!                          └──▶ display_text.rs: width in columns, shortening, control characters
//! ```
//!
//! [`TextTable`] is the only code of Veneer that aligns columns. The tables of the command use it
//! too.

mod bars;
mod call_stacks;
mod csv;
mod display_text;
mod entries;
mod events;
mod place;
mod rows;
mod text;
mod text_table;

pub use bars::render_bars;
pub use call_stacks::{render_collapsed, render_stacks};
pub use csv::{CsvError, render_csv};
pub use display_text::{
    display_width, longest_prefix, pad_left, pad_right, replace_control_characters, shorten,
    shorten_end, shorten_middle,
};
pub use entries::render_tally;
pub use events::render_events;
pub use rows::render_rows;
pub use text::{format_count, format_duration, format_signature};
pub use text_table::{ColumnFormat, RenderedTable, TABLE_WIDTH, TextTable};
