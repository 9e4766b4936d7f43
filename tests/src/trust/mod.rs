//! The evidence that a program under Veneer behaves as without Veneer, part by part.
//!
//! ```text
//!   checker · corpora · programs · suites · random · threads · hostile · memory · fuzz
//!       ─▶ Part ─▶ docs/trust/‹part›.json ─▶ docs/trust.md
//! ```
//!
//! Each part is a module with a function `run(&Scope) -> Result<Part, TrustError>`. The test suite
//! runs the parts in quick scope; the command `trust` (`make trust`) runs them in full.

pub mod corpora;
pub mod fuzz;
pub mod hostile;
pub mod memory;
pub mod mutants;
pub mod part;
pub mod programs;
pub mod random;
pub mod render;
pub mod suites;
pub mod threads;

pub use part::{Part, Scope, Table, TrustError};

/// A part of the evidence.
pub struct Entry {
    /// The name on the command line and of the file in `docs/trust/`.
    pub name: &'static str,
    pub run: fn(&Scope) -> Result<Part, TrustError>,
    /// The part during which this one also runs, because its JVMs wait most of the time. `None` if it
    /// runs by itself.
    pub beside: Option<&'static str>,
}

/// All parts, in the order of the page.
pub const PARTS: &[Entry] = &[
    Entry {
        name: "checker",
        run: mutants::run,
        beside: None,
    },
    Entry {
        name: "corpora",
        run: corpora::run,
        beside: None,
    },
    Entry {
        name: "programs",
        run: programs::run,
        beside: None,
    },
    Entry {
        name: "suites",
        run: suites::run,
        beside: None,
    },
    Entry {
        name: "threads",
        run: threads::run,
        beside: None,
    },
    Entry {
        name: "hostile",
        run: hostile::run,
        beside: None,
    },
    Entry {
        name: "memory",
        run: memory::run,
        beside: Some("fuzz"),
    },
    Entry {
        name: "random",
        run: random::run,
        beside: None,
    },
    Entry {
        name: "fuzz",
        run: fuzz::run,
        beside: None,
    },
];
