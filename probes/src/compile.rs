//! From the tree to steps, for one point.
//!
//! `&&` and `||` are the only values that need a jump. They are worked out before the statement that holds them, into a variable of their
//! own, so that the stack is empty at every label.

use crate::error::{ProbeError, Reason};
use crate::scope::Scope;
use crate::step::{Kind, Label, Step};
use crate::tree::{Code, Expr, Operator, Place, Shape, Statement};
use crate::ty::Ty;
use std::sync::atomic::{AtomicI64, Ordering};

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

/// A compiled probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The variables of the point that it is given, in order, as the application has them.
    pub reads: Vec<(String, Kind)>,
    /// Its own variables, behind those; each is to have a value before the first step.
    pub own: Vec<Kind>,
    /// What it does.
    pub steps: Vec<Step>,
    /// Words of the stack at most.
    pub max_stack: u16,
}

impl Method {
    /// The descriptor of the method.
    pub fn descriptor(&self) -> String {
        let words: String = self.reads.iter().map(|r| r.1.descriptor()).collect();
        format!("({words})V")
    }

    /// The same for the first so many passes that come to the cell, a word in memory.
    #[must_use]
    pub fn first(mut self, cell: i64, most: u64) -> Self {
        // No label of its own has this number: there are fewer than steps.
        let over = Label(u32::MAX);
        let guard = [
            Step::Long(cell),
            Step::Long(most as i64),
            Step::Helper {
                name: "first",
                descriptor: "(JJ)Z".into(),
            },
            Step::IfZero(over),
        ];
        self.steps.splice(0..0, guard);
        self.steps.extend([Step::Here(over), Step::Return]);
        self.max_stack = self.max_stack.max(4);
        self
    }

    /// The same with the places of tables in memory for their numbers.
    #[must_use]
    pub fn placed(mut self, place: &dyn Fn(u32) -> i64) -> Self {
        for step in &mut self.steps {
            if let Step::Table(n) = step {
                *step = Step::Long(place(*n));
            }
        }
        self
    }
}

/// The descriptor under which a value is handed to helpers: they cast.
fn handed(ty: &Ty) -> &'static str {
    match ty {
        Ty::Long => "J",
        Ty::Double => "D",
        Ty::Bool => "Z",
        _ => "Ljava/lang/Object;",
    }
}

/// What a key's word means; four bits for each key, the first in the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// A number.
    Integer = 1,
    /// The bits of a `double`.
    Float = 2,
    /// 0 or 1.
    Bool = 3,
    /// The number of a string of the table, from 1; 0 for `()` and for strings that found no room.
    Text = 4,
    /// An identity hash.
    Object = 5,
}

impl Tag {
    /// The tag of a key, by its place; `None` where there is none.
    pub fn of(tags: u64, n: usize) -> Option<Self> {
        let all = [
            Self::Integer,
            Self::Float,
            Self::Bool,
            Self::Text,
            Self::Object,
        ];
        let bits = tags >> (4 * n) & 15;
        all.into_iter().find(|tag| *tag as u64 == bits)
    }
}

/// How a value is kept.
pub fn kind(ty: &Ty) -> Kind {
    match ty {
        Ty::Long => Kind::Long,
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

    fn statement(&mut self, statement: &Statement) -> Answer<()> {
        match statement {
            Statement::Let { name, value } => {
                let value = self.hoist(value)?;
                let ty = self.value(&value)?;
                let n = self.variable(&ty);
                self.store_own(n);
                self.named.push((name.clone(), ty, n));
            }
            Statement::Assign { name, value } => {
                let Some((_, ty, n)) = self.find(name) else {
                    let name = name.clone();
                    return refuse(value.place, Reason::Unknown { name });
                };
                let place = value.place;
                let value = self.hoist(value)?;
                let found = self.value(&value)?;
                self.fit(&ty, found, place)?;
                self.store_own(n);
            }
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                self.condition(condition)?;
                let (no, end) = (self.label(), self.label());
                self.step(Step::IfZero(no), 1, 0);
                self.block(then)?;
                if otherwise.is_empty() {
                    self.step(Step::Here(no), 0, 0);
                } else {
                    self.step(Step::Goto(end), 0, 0);
                    self.step(Step::Here(no), 0, 0);
                    self.block(otherwise)?;
                    self.step(Step::Here(end), 0, 0);
                }
            }
            Statement::For { name, array, body } => self.each(name, array, body)?,
            Statement::Give {
                table,
                operation,
                values,
                place,
            } => self.give(*table, operation, values, *place)?,
            Statement::Return => self.step(Step::Return, 0, 0),
        }
        Ok(())
    }

    /// A boolean on the stack.
    fn condition(&mut self, e: &Expr) -> Answer<()> {
        let hoisted = self.hoist(e)?;
        let found = self.value(&hoisted)?;
        self.fit(&Ty::Bool, found, e.place)
    }

    fn each(&mut self, name: &str, array: &Expr, body: &[Statement]) -> Answer<()> {
        let place = array.place;
        let array = self.hoist(array)?;
        let of = match self.value(&array)? {
            Ty::Array(of) => of,
            found => {
                let wanted = "an array".into();
                return refuse(place, Reason::Type { wanted, found });
            }
        };
        let ty = Ty::Array(of.clone());
        let element = Ty::of(&of).unwrap_or(Ty::Null);
        let (all, at, one) = (
            self.variable(&ty),
            self.variable(&Ty::Long),
            self.variable(&element),
        );
        self.store_own(all);
        self.step(Step::Long(0), 0, 2);
        self.store_own(at);
        let (head, end) = (self.label(), self.label());
        self.step(Step::Here(head), 0, 0);
        self.load_own(at);
        self.load_own(all);
        self.length(&ty);
        self.helper("more", "(JJ)Z", 4, 1);
        self.step(Step::IfZero(end), 1, 0);
        self.load_own(all);
        self.load_own(at);
        self.element(&of);
        self.store_own(one);
        let names = self.named.len();
        self.named.push((name.to_string(), element, one));
        self.block(body)?;
        self.named.truncate(names);
        self.load_own(at);
        self.step(Step::Long(1), 0, 2);
        self.step(Step::Plain(LADD), 4, 2);
        self.store_own(at);
        self.step(Step::Goto(head), 0, 0);
        self.step(Step::Here(end), 0, 0);
        Ok(())
    }

    fn give(&mut self, table: u32, operation: &str, values: &[Expr], place: Place) -> Answer<()> {
        let hoisted: Vec<Expr> = values
            .iter()
            .map(|v| self.hoist(v))
            .collect::<Answer<_>>()?;
        if let ("push" | "keep", [value]) = (operation, &hoisted[..]) {
            return self.push(table, operation, value);
        }
        let keys = match operation {
            "count" | "put" => hoisted.len(),
            "add" => match hoisted.len().checked_sub(1) {
                Some(keys) => keys,
                None => {
                    let what = "`add` without a value".into();
                    return refuse(place, Reason::TooLarge { what });
                }
            },
            name => return refuse(place, no_function(name)),
        };
        if keys > KEYS {
            let what = format!("{keys} keys, and a table has {KEYS} at most");
            return refuse(place, Reason::TooLarge { what });
        }
        // The tags come before the keys, and are known when those are.
        self.step(Step::Table(table), 0, 2);
        let tags = self.steps.len();
        self.step(Step::Long(0), 0, 2);
        let mut tag = 0;
        for (n, key) in hoisted[..keys].iter().enumerate() {
            tag |= (self.key(table, key)? as i64) << (4 * n);
        }
        for _ in keys..KEYS {
            self.step(Step::Long(0), 0, 2);
        }
        if let Some(step) = self.steps.get_mut(tags) {
            *step = Step::Long(tag);
        }
        match hoisted.get(keys) {
            None if operation == "put" => self.helper("put", "(JJJJJJ)V", 12, 0),
            None => self.helper("count", "(JJJJJJ)V", 12, 0),
            Some(value) => {
                match self.value(value)? {
                    Ty::Double => self.helper("round", "(D)J", 2, 2),
                    found => self.fit(&Ty::Long, found, value.place)?,
                }
                self.helper("add", "(JJJJJJJ)V", 14, 0);
            }
        }
        Ok(())
    }

    /// What the thread has put on a stack of its own last.
    fn stacked(&mut self, table: u32, operation: &str, place: Place) -> Answer<Ty> {
        let numbers = match operation {
            "pop" => Some("pop"),
            "top" => Some("top"),
            _ => None,
        };
        let objects = match operation {
            "take" => "take",
            "peek" => "peek",
            _ if numbers.is_some() => "",
            name => return refuse(place, no_function(name)),
        };
        self.step(Step::Table(table), 0, 2);
        match numbers {
            Some(name) => {
                self.helper(name, "(J)J", 2, 2);
                Ok(Ty::Long)
            }
            None => {
                self.helper(objects, "(J)Ljava/lang/Object;", 2, 1);
                Ok(Ty::Object("java/lang/Object".into()))
            }
        }
    }

    /// Puts a value on a stack of the thread's own.
    fn push(&mut self, table: u32, operation: &str, value: &Expr) -> Answer<()> {
        self.step(Step::Table(table), 0, 2);
        let found = self.value(value)?;
        if operation == "push" {
            self.fit(&Ty::Long, found, value.place)?;
            self.helper("push", "(JJ)V", 4, 0);
            return Ok(());
        }
        if !matches!(found, Ty::Object(_) | Ty::Array(_) | Ty::Null) {
            let wanted = "an object".into();
            return refuse(value.place, Reason::Type { wanted, found });
        }
        self.helper("keep", "(JLjava/lang/Object;)V", 3, 0);
        Ok(())
    }

    /// Puts a key on the stack as a word, and says what kind of word it is.
    fn key(&mut self, table: u32, key: &Expr) -> Answer<Tag> {
        Ok(match self.value(key)? {
            Ty::Long => Tag::Integer,
            Ty::Bool => {
                self.step(Step::Plain(I2L), 1, 2);
                Tag::Bool
            }
            Ty::Double => {
                self.helper("bits", "(D)J", 2, 2);
                Tag::Float
            }
            ty if ty.is_text() => {
                // A string has a number in the table.
                self.step(Step::Table(table), 0, 2);
                self.helper("text", "(Ljava/lang/Object;J)J", 3, 2);
                Tag::Text
            }
            _ => {
                // It may be a string all the same.
                self.step(Step::Table(table), 0, 2);
                self.helper("object", "(Ljava/lang/Object;J)J", 3, 2);
                Tag::Object
            }
        })
    }

    fn helper(
        &mut self,
        name: &'static str,
        descriptor: impl Into<String>,
        pops: u16,
        pushes: u16,
    ) {
        let descriptor = descriptor.into();
        self.step(Step::Helper { name, descriptor }, pops, pushes);
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

    /// The same value without `&&` and `||` in it; these have been worked out.
    fn hoist(&mut self, e: &Expr) -> Answer<Expr> {
        let shape = match &e.shape {
            Shape::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                let (n, end) = (self.variable(&Ty::Bool), self.label());
                self.condition(a)?;
                self.store_own(n);
                self.load_own(n);
                if *operator == Operator::Or {
                    self.helper("not", "(Z)Z", 1, 1);
                }
                self.step(Step::IfZero(end), 1, 0);
                self.condition(b)?;
                self.store_own(n);
                self.step(Step::Here(end), 0, 0);
                // No plan can write such a name.
                let name = format!(" {n}");
                self.named.push((name.clone(), Ty::Bool, n));
                Shape::Own(name)
            }
            Shape::Field(of, name) => Shape::Field(self.hoist(of)?.into(), name.clone()),
            Shape::Element(a, b) => Shape::Element(self.hoist(a)?.into(), self.hoist(b)?.into()),
            Shape::Unary(operator, a) => Shape::Unary(*operator, self.hoist(a)?.into()),
            Shape::Binary(operator, a, b) => {
                Shape::Binary(*operator, self.hoist(a)?.into(), self.hoist(b)?.into())
            }
            Shape::Call(name, values) => {
                let values = values.iter().map(|v| self.hoist(v));
                Shape::Call(name.clone(), values.collect::<Answer<_>>()?)
            }
            other => other.clone(),
        };
        let place = e.place;
        Ok(Expr { shape, place })
    }

    /// Puts a value on the stack.
    fn value(&mut self, e: &Expr) -> Answer<Ty> {
        if self.steps.len() > STEPS {
            let what = format!("more than {STEPS} steps");
            return refuse(e.place, Reason::TooLarge { what });
        }
        let ty = match &e.shape {
            Shape::Null => {
                self.step(Step::Null, 0, 1);
                Ty::Null
            }
            Shape::Bool(b) => {
                self.step(Step::Int(i32::from(*b)), 0, 1);
                Ty::Bool
            }
            Shape::Int(n) => {
                self.step(Step::Long(*n), 0, 2);
                Ty::Long
            }
            Shape::Float(x) => {
                self.step(Step::Double(x.get()), 0, 2);
                Ty::Double
            }
            Shape::Text(text) => {
                self.step(Step::Text(text.clone()), 0, 1);
                Ty::Object(crate::ty::STRING.into())
            }
            Shape::Own(name) => match self.find(name) {
                Some((_, ty, n)) => {
                    self.load_own(n);
                    ty
                }
                None => {
                    let name = name.clone();
                    return refuse(e.place, Reason::Unknown { name });
                }
            },
            Shape::Read(name) => self.read(name, e.place)?,
            Shape::Field(of, name) => {
                let of = self.value(of)?;
                self.field(of, name, e.place)?
            }
            Shape::Element(array, index) => {
                let of = match self.value(array)? {
                    Ty::Array(of) => of,
                    found => {
                        let wanted = "an array".into();
                        return refuse(array.place, Reason::Type { wanted, found });
                    }
                };
                let found = self.value(index)?;
                self.fit(&Ty::Long, found, index.place)?;
                self.element(&of)
            }
            Shape::Unary(operator, a) => self.unary(*operator, a)?,
            Shape::Binary(operator, a, b) => self.binary(*operator, a, b, e.place)?,
            Shape::Call(name, values) => self.call(name, values, e.place)?,
            Shape::Stacked { table, operation } => self.stacked(*table, operation, e.place)?,
        };
        Ok(ty)
    }

    fn read(&mut self, name: &str, place: Place) -> Answer<Ty> {
        let n = match self.reads.iter().position(|read| read.name == name) {
            Some(n) => n,
            None => {
                let descriptor = self.scope.variable(name).unwrap_or_default();
                let (Some(ty), Some(given)) = (Ty::of(&descriptor), Kind::of(&descriptor)) else {
                    let (name, live) = (name.to_string(), self.scope.live());
                    return refuse(place, Reason::NotLive { name, live });
                };
                let kept = (kind(&ty) != given).then(|| self.variable(&ty));
                self.reads.push(Read {
                    name: name.to_string(),
                    given,
                    ty: ty.clone(),
                    kept,
                });
                self.reads.len() - 1
            }
        };
        let ty = self.reads[n].ty.clone();
        match self.reads[n].kept {
            Some(own) => self.load_own(own),
            None => self.step(Step::Load(kind(&ty), n as u16), 0, ty.words()),
        }
        Ok(ty)
    }

    fn field(&mut self, of: Ty, name: &str, place: Place) -> Answer<Ty> {
        if name == "len" && (of.is_text() || matches!(of, Ty::Array(_))) {
            self.length(&of);
            return Ok(Ty::Long);
        }
        let found = match &of {
            Ty::Object(class) => self.scope.field(class, name),
            _ => None,
        };
        let ty = found.as_ref().and_then(|f| Ty::of(&f.descriptor));
        let (Some(field), Some(ty)) = (found, ty) else {
            if let Ty::Object(class) = &of
                && !self.scope.is_loaded(class)
            {
                let class = class.replace('/', ".");
                return refuse(place, Reason::NotLoaded { class });
            }
            let fields = match &of {
                Ty::Object(class) => self.scope.fields(class),
                _ => Vec::new(),
            };
            let name = name.to_string();
            return refuse(place, Reason::NoField { of, name, fields });
        };
        self.step(Step::Long(field.offset), 0, 2);
        let helper = getter(&field.descriptor);
        let given = format!("(Ljava/lang/Object;J){}", handed(&ty));
        self.helper(helper, given, 3, ty.words());
        Ok(ty)
    }

    /// The length of an array or a string on the stack; of null it is 0.
    fn length(&mut self, of: &Ty) {
        let name = match of {
            Ty::Array(_) => "elements",
            _ => "characters",
        };
        self.helper(name, "(Ljava/lang/Object;)J", 1, 2);
    }

    /// The element of an array and an index on the stack; one that is not there is zero or null.
    fn element(&mut self, of: &str) -> Ty {
        let ty = Ty::of(of).unwrap_or(Ty::Null);
        let name = match of.as_bytes().first() {
            Some(b'B' | b'Z') => "byteAt",
            Some(b'S') => "shortAt",
            Some(b'C') => "charAt",
            Some(b'I') => "intAt",
            Some(b'J') => "longAt",
            Some(b'F') => "floatAt",
            Some(b'D') => "doubleAt",
            _ => "objectAt",
        };
        let name = if of == "Z" { "booleanAt" } else { name };
        let given = format!("(Ljava/lang/Object;J){}", handed(&ty));
        self.helper(name, given, 3, ty.words());
        ty
    }

    fn unary(&mut self, operator: Operator, a: &Expr) -> Answer<Ty> {
        let ty = self.value(a)?;
        match (operator, &ty) {
            (Operator::Not, Ty::Bool) => self.helper("not", "(Z)Z", 1, 1),
            (Operator::Negate, Ty::Long) => self.step(Step::Plain(LNEG), 2, 2),
            (Operator::Negate, Ty::Double) => self.step(Step::Plain(DNEG), 2, 2),
            _ => {
                let wanted = match operator {
                    Operator::Not => "boolean".to_string(),
                    _ => "a number".to_string(),
                };
                return refuse(a.place, Reason::Type { wanted, found: ty });
            }
        }
        Ok(ty)
    }

    fn binary(&mut self, operator: Operator, a: &Expr, b: &Expr, place: Place) -> Answer<Ty> {
        use Operator::*;
        let left = self.value(a)?;
        let mut right = self.value(b)?;
        // A whole number beside one with a point becomes one too.
        let widened = left == Ty::Long && right == Ty::Double;
        if widened {
            let n = self.variable(&Ty::Double);
            self.store_own(n);
            self.step(Step::Plain(L2D), 2, 2);
            self.load_own(n);
        } else if left == Ty::Double && right == Ty::Long {
            self.step(Step::Plain(L2D), 2, 2);
            right = Ty::Double;
        }
        let both = if widened { Ty::Double } else { left.clone() };
        let opcode = match (operator, &both, &right) {
            (Add, Ty::Long, Ty::Long) => LADD,
            (Subtract, Ty::Long, Ty::Long) => LSUB,
            (Multiply, Ty::Long, Ty::Long) => LMUL,
            (Divide, Ty::Long, Ty::Long) => LDIV,
            (Remainder, Ty::Long, Ty::Long) => LREM,
            (BitAnd, Ty::Long, Ty::Long) => LAND,
            (BitOr, Ty::Long, Ty::Long) => LOR,
            (BitXor, Ty::Long, Ty::Long) => LXOR,
            (Add, Ty::Double, Ty::Double) => DADD,
            (Subtract, Ty::Double, Ty::Double) => DSUB,
            (Multiply, Ty::Double, Ty::Double) => DMUL,
            (Divide, Ty::Double, Ty::Double) => DDIV,
            (Remainder, Ty::Double, Ty::Double) => DREM,
            (BitAnd, Ty::Bool, Ty::Bool) => IAND,
            (BitOr, Ty::Bool, Ty::Bool) => IOR,
            (BitXor, Ty::Bool, Ty::Bool) => IXOR,
            _ => return self.other(operator, left, both, right, place),
        };
        let words = both.words();
        self.step(Step::Plain(opcode), 2 * words, words);
        Ok(both)
    }

    /// Shifts and comparisons.
    fn other(
        &mut self,
        operator: Operator,
        left: Ty,
        both: Ty,
        right: Ty,
        place: Place,
    ) -> Answer<Ty> {
        use Operator::*;
        let refused = |left: Ty, right: Ty| {
            let reason = Reason::Operands {
                operator,
                left,
                right,
            };
            refuse(place, reason)
        };
        if let (ShiftLeft | ShiftRight, Ty::Long, Ty::Long) = (operator, &both, &right) {
            self.step(Step::Plain(L2I), 2, 1);
            let opcode = if operator == ShiftLeft { LSHL } else { LSHR };
            self.step(Step::Plain(opcode), 3, 2);
            return Ok(Ty::Long);
        }
        let name = match operator {
            Equal => "equal",
            NotEqual => "differ",
            Less => "less",
            LessEqual => "lessEqual",
            Greater => "greater",
            GreaterEqual => "greaterEqual",
            _ => return refused(left, right),
        };
        let ordered = !matches!(operator, Equal | NotEqual);
        let word = match (&both, &right) {
            (Ty::Long, Ty::Long) => "J",
            (Ty::Double, Ty::Double) => "D",
            (Ty::Bool, Ty::Bool) if !ordered => "Z",
            (a, b) if a.is_reference() && b.is_reference() && !ordered => "Ljava/lang/Object;",
            _ => return refused(left, right),
        };
        let words = both.words();
        self.helper(name, format!("({word}{word})Z"), 2 * words, 1);
        Ok(Ty::Bool)
    }

    fn call(&mut self, name: &str, values: &[Expr], place: Place) -> Answer<Ty> {
        if (name, values.len()) == ("here", 0) {
            self.step(Step::Text(self.scope.here()), 0, 1);
            return Ok(Ty::Object(crate::ty::STRING.into()));
        }
        let Some(function) = FUNCTIONS
            .iter()
            .find(|f| f.name == name && f.takes.len() == values.len())
        else {
            return refuse(place, no_function(name));
        };
        let mut pops = 0;
        for (takes, value) in function.takes.iter().zip(values) {
            let found = self.value(value)?;
            pops += match takes {
                Takes::Integer => {
                    self.fit(&Ty::Long, found, value.place)?;
                    2
                }
                Takes::Number => {
                    self.fit(&Ty::Double, found, value.place)?;
                    2
                }
                Takes::Text if found.is_text() || found == Ty::Null => 1,
                Takes::Object if found.is_reference() => 1,
                Takes::Text | Takes::Object => {
                    let wanted = if *takes == Takes::Text {
                        "a string"
                    } else {
                        "an object"
                    };
                    let wanted = wanted.to_string();
                    return refuse(value.place, Reason::Type { wanted, found });
                }
            };
        }
        let mut words: String = function.takes.iter().map(|t| t.descriptor()).collect();
        if COUNTING.contains(&name) {
            // Each place has counts of its own.
            let place = PLACES.fetch_add(1, Ordering::Relaxed);
            self.step(Step::Long(place), 0, 2);
            words.push('J');
            pops += 2;
        }
        let gives = function.gives.ty();
        let given = format!("({words}){}", handed(&gives));
        self.helper(function.helper, given, pops, gives.words());
        Ok(gives)
    }

    fn finish(mut self) -> Answer<Method> {
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
        })
    }
}

/// The helper that reads a field of an object and an offset on the stack; of null it is zero or null.
fn getter(descriptor: &str) -> &'static str {
    match descriptor.as_bytes().first() {
        Some(b'Z') => "booleanIn",
        Some(b'B') => "byteIn",
        Some(b'S') => "shortIn",
        Some(b'C') => "charIn",
        Some(b'I') => "intIn",
        Some(b'J') => "longIn",
        Some(b'F') => "floatIn",
        Some(b'D') => "doubleIn",
        _ => "objectIn",
    }
}

/// What a function takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Takes {
    Integer,
    Number,
    Text,
    Object,
}

impl Takes {
    fn descriptor(self) -> &'static str {
        match self {
            Self::Integer => "J",
            Self::Number => "D",
            Self::Text | Self::Object => "Ljava/lang/Object;",
        }
    }
}

impl std::fmt::Display for Takes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Integer => "int",
            Self::Number => "number",
            Self::Text => "string",
            Self::Object => "object",
        })
    }
}

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Gives {
    Integer,
    Number,
    Bool,
    Text,
}

impl Gives {
    fn ty(self) -> Ty {
        match self {
            Self::Integer => Ty::Long,
            Self::Number => Ty::Double,
            Self::Bool => Ty::Bool,
            Self::Text => Ty::Object(crate::ty::STRING.into()),
        }
    }
}

impl std::fmt::Display for Gives {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Integer => "int",
            Self::Number => "float",
            Self::Bool => "bool",
            Self::Text => "string",
        })
    }
}

/// A function that a probe can call.
pub struct Function {
    /// In a plan.
    pub name: &'static str,
    /// In the runtime's class.
    pub helper: &'static str,
    /// Its arguments; for the form `a.name(b)` the first is `a`.
    pub takes: &'static [Takes],
    /// Its result.
    pub gives: Gives,
    /// What it does, for the reference.
    pub text: &'static str,
}

/// Those that count their passes, at each place where they are written by itself.
const COUNTING: [&str; 2] = ["one_in", "per_second"];

/// The number of the next such place.
static PLACES: AtomicI64 = AtomicI64::new(1);

/// All functions.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "starts_with",
        helper: "startsWith",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string begins with another; false of `()`",
    },
    Function {
        name: "ends_with",
        helper: "endsWith",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string ends with another; false of `()`",
    },
    Function {
        name: "contains",
        helper: "contains",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string has another in it; false of `()`",
    },
    Function {
        name: "identity",
        helper: "identity",
        takes: &[Takes::Object],
        gives: Gives::Integer,
        text: "the identity hash of an object; 0 of `()`",
    },
    Function {
        name: "class_of",
        helper: "classOf",
        takes: &[Takes::Object],
        gives: Gives::Text,
        text: "the name of an object's class; `()` of `()`",
    },
    Function {
        name: "is_a",
        helper: "isA",
        takes: &[Takes::Object, Takes::Text],
        gives: Gives::Bool,
        text: "whether an object's class, or one above it, has this name: `is_a(p.x, \"a.B\")`; no interfaces",
    },
    Function {
        name: "thread_id",
        helper: "threadId",
        takes: &[],
        gives: Gives::Integer,
        text: "`Thread.getId()` of the thread that runs",
    },
    Function {
        name: "thread_name",
        helper: "threadName",
        takes: &[],
        gives: Gives::Text,
        text: "its name",
    },
    Function {
        name: "one_in",
        helper: "oneIn",
        takes: &[Takes::Integer],
        gives: Gives::Bool,
        text: "whether this is one in so many passes of its thread, for `if one_in(100) { … }`",
    },
    Function {
        name: "per_second",
        helper: "perSecond",
        takes: &[Takes::Integer],
        gives: Gives::Bool,
        text: "whether these are at most so many passes of its thread in this second, for `if per_second(100) { … }`",
    },
    Function {
        name: "now_ns",
        helper: "now",
        takes: &[],
        gives: Gives::Integer,
        text: "`System.nanoTime()`",
    },
    Function {
        name: "to_int",
        helper: "toInt",
        takes: &[Takes::Number],
        gives: Gives::Integer,
        text: "a number without its fraction; 0 of NaN",
    },
    Function {
        name: "to_float",
        helper: "toFloat",
        takes: &[Takes::Number],
        gives: Gives::Number,
        text: "a whole number as one with a point",
    },
];

fn no_function(name: &str) -> Reason {
    let mut names: Vec<&str> = FUNCTIONS.iter().map(|f| f.name).collect();
    names.push("here");
    Reason::NoFunction {
        name: name.to_string(),
        functions: names.join(", "),
    }
}

// JVMS 6.5.
const LADD: u8 = 97;
const DADD: u8 = 99;
const LSUB: u8 = 101;
const DSUB: u8 = 103;
const LMUL: u8 = 105;
const DMUL: u8 = 107;
const LDIV: u8 = 109;
const DDIV: u8 = 111;
const LREM: u8 = 113;
const DREM: u8 = 115;
const LNEG: u8 = 117;
const DNEG: u8 = 119;
const LSHL: u8 = 121;
const LSHR: u8 = 123;
const IAND: u8 = 126;
const LAND: u8 = 127;
const IOR: u8 = 128;
const LOR: u8 = 129;
const IXOR: u8 = 130;
const LXOR: u8 = 131;
const I2L: u8 = 133;
const L2I: u8 = 136;
const L2D: u8 = 138;
const F2D: u8 = 141;
