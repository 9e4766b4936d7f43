//! From the tree to steps, for one point.
//!
//! `&&` and `||` are the only values that need a jump. They are worked out before the statement that holds them, into a variable of their
//! own, so that the stack is empty at every label.
//!
//! Here is what all of it stands on; `compile/` has what there is to compile, one kind of thing a file.

mod call;
pub mod invoke;
mod method;
mod opcode;
mod operation;
mod statement;
mod tag;
mod value;

pub use method::Method;
pub use tag::Tag;

use crate::error::{ProbeError, Reason};
use crate::scope::Scope;
use crate::step::{Kind, Label, Owner, Step};
use crate::tree::{Code, Place, Statement};
use crate::ty::Ty;
use opcode::{F2D, I2L, L2D};

/// Elements of an array that a loop goes over at most.
pub const TURNS: i64 = 1_000;
/// Variables of the point that a probe reads at most.
pub const READS: usize = 16;
/// Keys of a table at most.
pub const KEYS: usize = 4;
/// Steps of a method at most: more than HotSpot would inline into anything.
pub const STEPS: usize = 2_000;
/// Words of local variables at most, those that come from the point too.
pub const WORDS: u16 = 200;

/// The descriptor under which a value is handed to helpers: they cast.
fn handed(ty: &Ty) -> &'static str {
    match ty {
        Ty::Long | Ty::Stack => "J",
        Ty::Double => "D",
        Ty::Bool => "Z",
        _ => "Ljava/lang/Object;",
    }
}

/// How a value is kept.
pub fn kind(ty: &Ty) -> Kind {
    match ty {
        Ty::Long | Ty::Stack => Kind::Long,
        Ty::Double => Kind::Double,
        Ty::Bool => Kind::Int,
        _ => Kind::Reference,
    }
}

/// Compiles a probe for a point.
pub fn compile(code: &Code, scope: &dyn Scope) -> Result<Method, ProbeError> {
    let mut compiler = Compiler {
        scope,
        reads: Vec::new(),
        own: Vec::new(),
        named: Vec::new(),
        entered: None,
        steps: Vec::new(),
        labels: 0,
        ended: false,
        depth: 0,
        deepest: 0,
    };
    compiler.block(&code.body)?;
    compiler.step(Step::Return, 0, 0);
    compiler.finish()
}

/// Own variables are numbered from here until it is known how many are given.
const OWN: u16 = 0x8000;

/// A variable of the point.
struct Read {
    name: String,
    given: Kind,
    ty: Ty,
    /// The own variable that has it, where it is wider here.
    kept: Option<usize>,
}

struct Compiler<'s> {
    scope: &'s dyn Scope,
    /// The variables that it is given, with their types there and here, and where they are kept here.
    reads: Vec<Read>,
    own: Vec<Kind>,
    /// The probe's variables that can be named here; a later one of the same name hides an earlier one.
    named: Vec<(String, Ty, usize)>,
    /// See [`Method::entered`].
    entered: Option<usize>,
    steps: Vec<Step>,
    labels: u32,
    /// Nothing goes on from the last step: what follows before the next label is never reached.
    ended: bool,
    depth: u16,
    deepest: u16,
}

type Answer<T> = Result<T, ProbeError>;

fn refuse<T>(place: Place, reason: Reason) -> Answer<T> {
    Err(ProbeError { place, reason })
}

impl Compiler<'_> {
    fn step(&mut self, step: Step, pops: u16, pushes: u16) {
        match step {
            Step::Here(_) => self.ended = false,
            _ if self.ended => return,
            _ => self.ended = matches!(step, Step::Return | Step::Goto(_)),
        }
        self.steps.push(step);
        self.depth = self.depth.saturating_sub(pops) + pushes;
        self.deepest = self.deepest.max(self.depth);
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn variable(&mut self, ty: &Ty) -> usize {
        self.own.push(kind(ty));
        self.own.len() - 1
    }

    fn load_own(&mut self, n: usize) {
        let kind = self.own[n];
        self.step(Step::Load(kind, OWN + n as u16), 0, kind.words());
    }

    fn store_own(&mut self, n: usize) {
        let kind = self.own[n];
        self.step(Step::Store(kind, OWN + n as u16), kind.words(), 0);
    }

    fn block(&mut self, body: &[Statement]) -> Answer<()> {
        let names = self.named.len();
        for statement in body {
            self.statement(statement)?;
            // Early, so that no input makes it long.
            if self.steps.len() > STEPS {
                break;
            }
        }
        self.named.truncate(names);
        Ok(())
    }

    fn helper(
        &mut self,
        name: &'static str,
        descriptor: impl Into<String>,
        pops: u16,
        pushes: u16,
    ) {
        self.helper_of(Owner::Probe, name, descriptor, (pops, pushes));
    }

    fn helper_of(
        &mut self,
        of: Owner,
        name: &'static str,
        descriptor: impl Into<String>,
        (pops, pushes): (u16, u16),
    ) {
        let descriptor = descriptor.into();
        let step = Step::Helper {
            of,
            name,
            descriptor,
        };
        self.step(step, pops, pushes);
    }

    fn find(&self, name: &str) -> Option<(String, Ty, usize)> {
        self.named.iter().rev().find(|n| n.0 == name).cloned()
    }

    /// What is on the stack as a value of a type.
    fn fit(&mut self, wanted: &Ty, found: Ty, place: Place) -> Answer<()> {
        let fits = match (wanted, &found) {
            (Ty::Double, Ty::Long) => {
                self.step(Step::Plain(L2D), 2, 2);
                true
            }
            (Ty::Object(_) | Ty::Array(_), Ty::Null) => true,
            (a, b) => a == b,
        };
        if fits {
            return Ok(());
        }
        let wanted = wanted.to_string();
        refuse(place, Reason::Type { wanted, found })
    }

    /// Where methods of the application are called, the thread says so before: what it comes to meanwhile has no such calls.
    fn guard(&mut self) {
        let Some(n) = self.entered else {
            return;
        };
        let over = self.label();
        let slot = OWN + n as u16;
        let helper = |name, descriptor: &str| Step::Helper {
            of: Owner::Probe,
            name,
            descriptor: descriptor.into(),
        };
        let mut steps = vec![
            helper("enter", "()Z"),
            Step::Store(Kind::Int, slot),
            Step::Load(Kind::Int, slot),
            Step::IfZero(over),
        ];
        for step in self.steps.drain(..) {
            if step == Step::Return {
                steps.push(Step::Load(Kind::Int, slot));
                steps.push(helper("leave", "(Z)V"));
            }
            steps.push(step);
        }
        steps.extend([Step::Here(over), Step::Return]);
        self.steps = steps;
        self.deepest = self.deepest.max(1);
    }

    fn finish(mut self) -> Answer<Method> {
        self.guard();
        let mut at = 0;
        let mut places: Vec<u16> = Vec::new();
        let mut first = Vec::new();
        for (n, read) in self.reads.iter().enumerate() {
            places.push(at);
            at += read.given.words();
            if let Some(own) = read.kept {
                let (widen, wide) = match read.given {
                    Kind::Float => (F2D, Kind::Double),
                    _ => (I2L, Kind::Long),
                };
                first.extend([
                    Step::Load(read.given, n as u16),
                    Step::Plain(widen),
                    Step::Store(wide, OWN + own as u16),
                ]);
                self.deepest = self.deepest.max(2);
            }
        }
        self.steps.splice(0..0, first);
        let mut own: Vec<u16> = Vec::new();
        for kind in &self.own {
            own.push(at);
            at += kind.words();
        }
        if self.reads.len() > READS {
            let what = format!("{} variables of the method", self.reads.len());
            return refuse(Place::default(), Reason::TooLarge { what });
        }
        if at > WORDS || self.steps.len() > STEPS {
            let what = format!("{at} words of variables, {} steps", self.steps.len());
            return refuse(Place::default(), Reason::TooLarge { what });
        }
        for step in &mut self.steps {
            if let Step::Load(_, slot) | Step::Store(_, slot) = step {
                *slot = match slot.checked_sub(OWN) {
                    Some(n) => own[usize::from(n)],
                    None => places[usize::from(*slot)],
                };
            }
        }
        Ok(Method {
            reads: self.reads.into_iter().map(|r| (r.name, r.given)).collect(),
            own: self.own,
            steps: self.steps,
            max_stack: self.deepest,
            entered: self.entered.map(|n| own[n]),
        })
    }
}
