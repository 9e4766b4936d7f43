//! The evidence that the program under Veneer is the program, part by part.
//!
//! ```text
//!   checker · corpora · programs · suites · random · threads · hostile · memory · fuzz ─▶ Part ─▶ docs/trust/‹part›.json ─▶ docs/trust.md
//! ```
//!
//! Each part is a module with a function `run(&Scope) -> Result<Part, TrustError>`. In quick scope the test suite runs it; the
//! command `trust` (`make trust`) runs the whole.

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

/// A part by name.
pub struct Entry {
    /// The name on the command line and of the file in `docs/trust/`.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&Scope) -> Result<Part, TrustError>,
}

/// All parts, in the order of the page.
pub const PARTS: &[Entry] = &[
    Entry {
        name: "checker",
        run: mutants::run,
    },
    Entry {
        name: "corpora",
        run: corpora::run,
    },
    Entry {
        name: "programs",
        run: programs::run,
    },
    Entry {
        name: "suites",
        run: suites::run,
    },
    Entry {
        name: "threads",
        run: threads::run,
    },
    Entry {
        name: "hostile",
        run: hostile::run,
    },
    Entry {
        name: "memory",
        run: memory::run,
    },
    Entry {
        name: "random",
        run: random::run,
    },
    Entry {
        name: "fuzz",
        run: fuzz::run,
    },
];
