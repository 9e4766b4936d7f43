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
