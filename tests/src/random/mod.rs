//! Random methods: classes that no compiler would write, that every JVM accepts, and that always end.
//!
//! ```text
//!   seed ─▶ Draft: shape (regions, items, ranges) ─▶ Body: code with types at every place ─▶ class file
//!                     │ without(item)                        expression · statement · flow
//!                     ╰── a smaller one that fails too
//! ```
//!
//! Control flow is any graph, irreducible ones too; values stay on the operand stack across branches; variables change their
//! types; exception ranges overlap, lie in loops and guard their own handlers; monitors nest. A block counts on its own that it is passed, so Veneer's
//! counts can be held against the program's. Stack maps need no analysis: the generator decides what each place holds, and makes
//! every way there fit.
//!
//! The classes run under `tests/java/random/base/Runner.java`, which calls every method with several arguments and prints a
//! line for each with what it gave, threw (with lines) and did.

mod body;
mod class;
mod code;
mod draw;
mod expression;
mod flow;
mod kind;
mod method;
mod pool;
pub mod run;
mod shape;
mod statement;

pub use draw::Draw;

use class::ClassWriter;
use method::Draft;

/// A class as it was drawn.
#[derive(Clone, Debug)]
pub struct RandomClass {
    /// What it was drawn from.
    pub seed: u64,
    drafts: Vec<Draft>,
}

impl RandomClass {
    /// Draws a class with six methods and a constructor.
    pub fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed ^ 0x5eed);
        Self {
            seed,
            drafts: (0..7).map(|n| Draft::draw(&mut draw, n == 0)).collect(),
        }
    }

    /// Its name with dots: `r.C‹seed›`.
    pub fn name(&self) -> String {
        format!("r.C{}", self.seed)
    }

    /// The number of methods, the constructor included.
    pub fn methods(&self) -> usize {
        self.drafts.len()
    }

    /// The class file.
    pub fn bytes(&self) -> Vec<u8> {
        let name = self.name().replace('.', "/");
        let mut draw = Draw::new(self.seed);
        let mut class = ClassWriter::new(&name, &mut draw, self.drafts.len() - 1);
        for (number, draft) in self.drafts.iter().enumerate() {
            draft.write(&mut class, number);
        }
        class.finish()
    }

    /// Items of method `method`.
    pub fn items(&self, method: usize) -> usize {
        self.drafts
            .get(method)
            .map_or(0, |draft| draft.region.count())
    }

    /// Items that do something, in all methods.
    pub fn weight(&self) -> usize {
        (0..self.methods())
            .map(|method| {
                (0..self.items(method))
                    .filter(|item| self.without(method, *item).is_some())
                    .count()
            })
            .sum()
    }

    /// The class with one item of one method emptied; `None` where that changes nothing.
    pub fn without(&self, method: usize, item: usize) -> Option<Self> {
        let mut smaller = self.clone();
        let draft = smaller.drafts.get_mut(method)?;
        draft.region = draft.region.without(item)?;
        Some(smaller)
    }
}
