//! Text for a terminal: its width in columns, shortening, characters that control the terminal,
//! tables of aligned columns, and patterns with wildcards.
//!
//! ```text
//!   TextTable ──▶ pad_left, pad_right, shorten …     widths in columns of a terminal
//!        └──────▶ replace_control_characters         names and values may contain any character
//!   clean_frame                                      a frame of a collapsed stack
//! ```
//!
//! ```
//! use veneer_text::{ColumnFormat, TextTable};
//!
//! let mut table = TextTable::new(&[("class", ColumnFormat::ShrinkName), ("n", ColumnFormat::Right)]);
//! table.push_row(["com.shop.Desk", "7"]);
//! table.push_row(["com.漢字", "1,234"]);
//! let rendered = table.render(Some(100));
//! assert_eq!(rendered.heading, "class              n");
//! assert_eq!(rendered.rows, ["com.shop.Desk      7", "com.漢字       1,234"]);
//! ```
//!
//! **Invariant:** this crate depends on no other crate of the workspace, so that each crate that
//! prints a table can use it.

mod display_text;
mod stack_frame;
mod text_table;
mod wildcard;

pub use display_text::{
    display_width, longest_prefix, pad_left, pad_right, replace_control_characters, shorten,
    shorten_end, shorten_middle,
};
pub use stack_frame::clean_frame;
pub use text_table::{ColumnFormat, RenderedTable, TextTable};
pub use wildcard::{matches_sequence, matches_wildcard};
