//! Rows, events and tables of compiled code as text: aligned, within [`WIDTH`] columns, and in forms for other programs.
//!
//! ```text
//!   Row ──▶ rows.rs      Event ──▶ events.rs      Tally ──▶ entries.rs, bars.rs, csv.rs
//!              └────── layout.rs ──────┴─────────────────────┘
//! ```

mod bars;
mod call_stacks;
mod csv;
mod entries;
mod events;
mod layout;
mod place;
mod rows;
mod text;

pub use bars::render_bars;
pub use call_stacks::{render_collapsed, render_stacks};
pub use csv::render_csv;
pub use entries::render_tally;
pub use events::render_events;
pub use rows::render;
pub use text::{count, duration, shorten, signature};

/// The widest line, in characters.
pub const WIDTH: usize = 100;
