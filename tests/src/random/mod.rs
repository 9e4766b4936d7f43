//! Random methods: classes that no compiler would generate, that every JVM accepts, and that always
//! terminate.
//!
//! ```text
//!   seed ─▶ Draft: shape (regions, items, ranges) ─▶ Body: code with types at every place ─▶ class file
//!                     │ without(item)                        expression · statement · flow
//!                     ╰── a smaller one that fails too
//! ```
//!
//! Properties of the generated code:
//!
//! * The control flow is any graph, including irreducible ones.
//! * Values stay on the operand stack across branches, and variables change their types.
//! * Exception ranges overlap, are in loops, and guard their own handlers; monitors nest.
//! * Each block counts its own executions, so Veneer's counts can be compared with the program's.
//! * Stack maps need no analysis: the generator chooses the state at each position, and converts
//!   the state on every edge to it.
//!
//! The classes run under `tests/java/random/base/Runner.java`. It calls every method with several
//! arguments and prints one line for each: the result, the exception with its lines, and the side
//! effects. It reads the message of a `NullPointerException` only if HotSpot can compute it
//! ([`null_messages`]).

mod body;
mod class;
mod code;
mod draw;
mod expression;
mod flow;
mod kind;
mod method;
pub mod null_messages;
mod pool;
pub mod run;
mod shape;
mod statement;

pub use draw::Draw;

use class::ClassWriter;
use method::Draft;

/// A random class that can be made smaller.
#[derive(Clone, Debug)]
pub struct RandomClass {
    pub seed: u64,
    drafts: Vec<Draft>,
}

impl RandomClass {
    /// Draws a class with a constructor and six methods.
    pub fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed ^ 0x5eed);
        Self {
            seed,
            drafts: (0..7).map(|n| Draft::draw(&mut draw, n == 0)).collect(),
        }
    }

    /// The Java name of the class: `r.C‹seed›`.
    pub fn name(&self) -> String {
        format!("r.C{}", self.seed)
    }

    /// The number of methods, including the constructor.
    pub fn methods(&self) -> usize {
        self.drafts.len()
    }

    /// Generates the class file.
    pub fn bytes(&self) -> Vec<u8> {
        let name = self.name().replace('.', "/");
        let mut draw = Draw::new(self.seed);
        let mut class = ClassWriter::new(&name, &mut draw, self.drafts.len() - 1);
        for (number, draft) in self.drafts.iter().enumerate() {
            draft.write(&mut class, number);
        }
        class.finish()
    }

    /// Number of items in a method.
    pub fn items(&self, method: usize) -> usize {
        self.drafts
            .get(method)
            .map_or(0, |draft| draft.region.count())
    }

    /// Number of items, in all methods, that are not empty.
    pub fn weight(&self) -> usize {
        (0..self.methods())
            .map(|method| {
                (0..self.items(method))
                    .filter(|item| self.without(method, *item).is_some())
                    .count()
            })
            .sum()
    }

    /// Returns the class with one item of one method emptied, or `None` if that changes nothing.
    pub fn without(&self, method: usize, item: usize) -> Option<Self> {
        let mut smaller = self.clone();
        let draft = smaller.drafts.get_mut(method)?;
        draft.region = draft.region.without(item)?;
        Some(smaller)
    }
}
