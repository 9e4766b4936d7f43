//! Compiles the tree of a probe to steps, for one point.
//!
//! `&&` and `||` are the only expressions that need a jump. The compiler evaluates them before the
//! statement that contains them and stores the result in a hidden variable. The operand stack is
//! therefore empty at every label.
//!
//! This file has the compiler's state and its basic operations. The files in `compile/` each
//! compile one kind of construct.

mod boxed;
mod call;
mod describe;
pub mod invoke;
mod kept;
mod method;
mod opcode;
mod operation;
mod statement;
mod tag;
mod value;

pub use method::ProbeMethod;
pub use tag::KeyTag;

use crate::error::{ProbeError, Reason};
use crate::scope::Scope;
use crate::step::{ComputationalType, HelperClass, Label, ProbeStep};
use crate::tree::{ProbeCode, SourcePosition, Statement};
use crate::ty::Ty;
use opcode::{F2D, I2L, L2D};

/// Limit for the iterations of a `for` loop at run time. The helper `more` in `VeneerProbe`
/// enforces the limit.
pub const MAX_LOOP_ITERATIONS: i64 = 1_000;
/// Limit for the variables of the method that a probe reads.
pub const MAX_READ_VARIABLES: usize = 16;
/// Limit for the keys of a table.
pub const MAX_TABLE_KEYS: usize = 4;
/// Limit for the steps of a compiled probe. HotSpot inlines no method of this size, so a larger
/// probe would always be a call.
pub const MAX_STEPS: usize = 2_000;
/// Limit for the local-variable slots of a compiled probe, including its parameters.
pub const MAX_LOCAL_SLOTS: u16 = 200;

/// Returns the descriptor under which a value is passed to a helper. Helpers take `Object` for all
/// references and cast.
fn helper_descriptor(ty: &Ty) -> &'static str {
    match ty {
        Ty::Long | Ty::Stack => "J",
        Ty::Double => "D",
        Ty::Bool => "Z",
        _ => "Ljava/lang/Object;",
    }
}

/// Returns the computational type that holds a value of this type.
pub fn computational_type(ty: &Ty) -> ComputationalType {
    match ty {
        Ty::Long | Ty::Stack => ComputationalType::Long,
        Ty::Double => ComputationalType::Double,
        Ty::Bool => ComputationalType::Int,
        _ => ComputationalType::Reference,
    }
}

/// Compiles a probe for one point.
pub fn compile(code: &ProbeCode, scope: &dyn Scope) -> Result<ProbeMethod, ProbeError> {
    let mut compiler = Compiler::new(scope);
    compiler.block(&code.body)?;
    compiler.step(ProbeStep::Return, 0, 0);
    compiler.finish()
}

/// Until [`Compiler::finish`] knows the number of parameters, the steps refer to the probe's own
/// variables by this number plus their index.
const OWN_VARIABLES: u16 = 0x8000;

/// A variable of the method that the probe reads.
struct VariableRead {
    name: String,
    given: ComputationalType,
    ty: Ty,
    /// The probe's own variable that holds the value if its type in the probe is wider.
    widened: Option<usize>,
}

struct Compiler<'s> {
    scope: &'s dyn Scope,
    /// The variables of the method that the probe receives as parameters.
    reads: Vec<VariableRead>,
    own: Vec<ComputationalType>,
    /// The variables that the current statement can name. A later one hides an earlier one of its
    /// name.
    visible: Vec<(String, Ty, usize)>,
    /// The own variable behind [`ProbeMethod::enter_flag`].
    entered: Option<usize>,
    steps: Vec<ProbeStep>,
    labels: u32,
    /// Whether the last step is a jump or a return. Steps are then dropped until the next label,
    /// because they are unreachable.
    is_unreachable: bool,
    depth: u16,
    max_depth: u16,
}

type ProbeResult<T> = Result<T, ProbeError>;

fn refuse<T>(place: SourcePosition, reason: Reason) -> ProbeResult<T> {
    Err(ProbeError { place, reason })
}

impl<'s> Compiler<'s> {
    fn new(scope: &'s dyn Scope) -> Self {
        Compiler {
            scope,
            reads: Vec::new(),
            own: Vec::new(),
            visible: Vec::new(),
            entered: None,
            steps: Vec::new(),
            labels: 0,
            is_unreachable: false,
            depth: 0,
            max_depth: 0,
        }
    }
}

impl Compiler<'_> {
    fn step(&mut self, step: ProbeStep, pops: u16, pushes: u16) {
        match step {
            ProbeStep::BindLabel(_) => self.is_unreachable = false,
            _ if self.is_unreachable => return,
            _ => self.is_unreachable = matches!(step, ProbeStep::Return | ProbeStep::Goto(_)),
        }
        self.steps.push(step);
        self.depth = self.depth.saturating_sub(pops) + pushes;
        self.max_depth = self.max_depth.max(self.depth);
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn variable(&mut self, ty: &Ty) -> usize {
        self.own.push(computational_type(ty));
        self.own.len() - 1
    }

    fn load_own(&mut self, n: usize) {
        let kind = self.own[n];
        self.step(
            ProbeStep::Load(kind, OWN_VARIABLES + n as u16),
            0,
            kind.words(),
        );
    }

    fn store_own(&mut self, n: usize) {
        let kind = self.own[n];
        self.step(
            ProbeStep::Store(kind, OWN_VARIABLES + n as u16),
            kind.words(),
            0,
        );
    }

    fn block(&mut self, body: &[Statement]) -> ProbeResult<()> {
        let names = self.visible.len();
        for statement in body {
            self.statement(statement)?;
            // Stop early, so that no input makes the steps much longer than the limit.
            if self.steps.len() > MAX_STEPS {
                break;
            }
        }
        self.visible.truncate(names);
        Ok(())
    }

    fn helper(
        &mut self,
        name: &'static str,
        descriptor: impl Into<String>,
        pops: u16,
        pushes: u16,
    ) {
        self.helper_of(HelperClass::Probe, name, descriptor, (pops, pushes));
    }

    fn helper_of(
        &mut self,
        of: HelperClass,
        name: &'static str,
        descriptor: impl Into<String>,
        (pops, pushes): (u16, u16),
    ) {
        let descriptor = descriptor.into();
        let step = ProbeStep::Helper {
            of,
            name,
            descriptor,
        };
        self.step(step, pops, pushes);
    }

    fn find(&self, name: &str) -> Option<(String, Ty, usize)> {
        self.visible.iter().rev().find(|n| n.0 == name).cloned()
    }

    /// Converts the value on the stack to the wanted type, or reports a type error.
    fn fit(&mut self, wanted: &Ty, found: Ty, place: SourcePosition) -> ProbeResult<()> {
        let found = match wanted {
            Ty::Long | Ty::Double | Ty::Bool => self.unboxed(found),
            _ => found,
        };
        let fits = match (wanted, &found) {
            (Ty::Double, Ty::Long) => {
                self.step(ProbeStep::Plain(L2D), 2, 2);
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

    /// If the probe calls methods of the application, wraps the steps in `enter` and `leave`.
    /// `enter` returns false if the thread is already inside such a probe; the probe then does
    /// nothing. Methods that the probe calls thus do not run such probes again.
    fn wrap_in_enter_and_leave(&mut self) {
        let Some(n) = self.entered else {
            return;
        };
        let skipped = self.label();
        let slot = OWN_VARIABLES + n as u16;
        let helper = |name, descriptor: &str| ProbeStep::Helper {
            of: HelperClass::Probe,
            name,
            descriptor: descriptor.into(),
        };
        let mut steps = vec![
            helper("enter", "()Z"),
            ProbeStep::Store(ComputationalType::Int, slot),
            ProbeStep::Load(ComputationalType::Int, slot),
            ProbeStep::IfZero(skipped),
        ];
        for step in self.steps.drain(..) {
            if step == ProbeStep::Return {
                steps.push(ProbeStep::Load(ComputationalType::Int, slot));
                steps.push(helper("leave", "(Z)V"));
            }
            steps.push(step);
        }
        steps.extend([ProbeStep::BindLabel(skipped), ProbeStep::Return]);
        self.steps = steps;
        self.max_depth = self.max_depth.max(1);
    }

    fn finish(mut self) -> ProbeResult<ProbeMethod> {
        self.wrap_in_enter_and_leave();
        let mut next_slot = 0;
        let mut parameters: Vec<u16> = Vec::new();
        let mut widening = Vec::new();
        for (n, read) in self.reads.iter().enumerate() {
            parameters.push(next_slot);
            next_slot += read.given.words();
            if let Some(own) = read.widened {
                let (conversion, wide) = match read.given {
                    ComputationalType::Float => (F2D, ComputationalType::Double),
                    _ => (I2L, ComputationalType::Long),
                };
                widening.extend([
                    ProbeStep::Load(read.given, n as u16),
                    ProbeStep::Plain(conversion),
                    ProbeStep::Store(wide, OWN_VARIABLES + own as u16),
                ]);
                self.max_depth = self.max_depth.max(2);
            }
        }
        self.steps.splice(0..0, widening);
        let mut own: Vec<u16> = Vec::new();
        for kind in &self.own {
            own.push(next_slot);
            next_slot += kind.words();
        }
        if self.reads.len() > MAX_READ_VARIABLES {
            let what = format!("{} variables of the method", self.reads.len());
            return refuse(SourcePosition::default(), Reason::TooLarge { what });
        }
        if next_slot > MAX_LOCAL_SLOTS || self.steps.len() > MAX_STEPS {
            let what = format!("{next_slot} words of variables, {} steps", self.steps.len());
            return refuse(SourcePosition::default(), Reason::TooLarge { what });
        }
        for step in &mut self.steps {
            if let ProbeStep::Load(_, slot) | ProbeStep::Store(_, slot) = step {
                *slot = match slot.checked_sub(OWN_VARIABLES) {
                    Some(n) => own[usize::from(n)],
                    None => parameters[usize::from(*slot)],
                };
            }
        }
        Ok(ProbeMethod {
            parameters: self.reads.into_iter().map(|r| (r.name, r.given)).collect(),
            locals: self.own,
            steps: self.steps,
            max_stack: self.max_depth,
            enter_flag: self.entered.map(|n| own[n]),
            tables: Vec::new(),
        })
    }
}
