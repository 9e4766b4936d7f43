//! Flame graphs: collapsed stacks become one HTML file that a browser shows without other files.
//!
//! ```text
//!   main;serve;find 7 ─┐                    ┌───────────────────────┐
//!   main;serve 2      ─┼─▶ render ─▶ HTML ─▶ │ main               10 │
//!   main 1            ─┘                    ├──────────────────┬────┘
//!                                           │ serve          9 │
//!                                           ├─────────────┬────┘
//!                                           │ find      7 │
//!                                           └─────────────┘
//! ```
//!
//! The input is the text that `--collapsed` prints, so the picture and that text always have the
//! same stacks. The crate opens no file and no connection.

mod flame_graph;

pub use flame_graph::{MalformedStack, render, render_difference};
