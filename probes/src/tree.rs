//! A probe as it is written: a tree without types.

use serde::{Deserialize, Serialize};

/// Where in a plan something is written; both from 1, or 0 where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The line.
    pub line: u16,
    /// The character in it.
    pub column: u16,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The body of a closure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Code {
    /// What it does, in order.
    pub body: Vec<Statement>,
}

impl Code {
    /// The numbers of the tables that it gives values to, in order of the statements; one may come several times.
    pub fn tables(&self) -> Vec<u32> {
        fn collect(statements: &[Statement], into: &mut Vec<u32>) {
            for statement in statements {
                match statement {
                    Statement::Give { table, .. } => into.push(*table),
                    Statement::If {
                        then, otherwise, ..
                    } => {
                        collect(then, into);
                        collect(otherwise, into);
                    }
                    Statement::For { body, .. } => collect(body, into),
                    Statement::Let { .. } | Statement::Assign { .. } | Statement::Return => {}
                }
            }
        }
        let mut tables = Vec::new();
        collect(&self.body, &mut tables);
        tables
    }
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Statement {
    /// `let name = value;`
    Let {
        /// The variable.
        name: String,
        /// Its first value, which gives it its type.
        value: Expr,
    },
    /// `name = value;`
    Assign {
        /// The variable, one of the probe's own.
        name: String,
        /// Its new value.
        value: Expr,
    },
    /// `if condition { … } else { … }`
    If {
        /// A boolean.
        condition: Expr,
        /// Where it holds.
        then: Vec<Statement>,
        /// Where it does not.
        otherwise: Vec<Statement>,
    },
    /// `for name in array { … }`, over [`crate::compile::TURNS`] elements at most.
    For {
        /// The variable that has each element in turn.
        name: String,
        /// An array.
        array: Expr,
        /// What is done with it.
        body: Vec<Statement>,
    },
    /// `table.add(…)`: gives values to one of the plan's tables.
    Give {
        /// The table's number.
        table: u32,
        /// What is to be done with them: `add`, `count`.
        operation: String,
        /// The values.
        values: Vec<Expr>,
        /// Where it is written.
        place: Place,
    },
    /// `return;`
    Return,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expr {
    /// What it is.
    pub shape: Shape,
    /// Where it is written.
    pub place: Place,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// `()`
    Null,
    /// `true`
    Bool(bool),
    /// `7`
    Int(i64),
    /// `7.5`
    Float(Real),
    /// `"text"`
    Text(String),
    /// A variable of the probe.
    Own(String),
    /// A variable at the point: `p.name`.
    Read(String),
    /// `value.name`
    Field(Box<Expr>, String),
    /// `array[index]`
    Element(Box<Expr>, Box<Expr>),
    /// `-a`, `!a`
    Unary(Operator, Box<Expr>),
    /// `a + b`
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `name(a, …)`, `a.name(…)`
    Call(String, Vec<Expr>),
    /// `a.name(b, …)`, in a plan that allows calls of the application's methods: a function where one fits, else a method.
    Invoke(Box<Expr>, String, Vec<Expr>),
    /// `table.get(object)`: the value that an object has in one of the plan's tables.
    OfObject {
        /// The table's number.
        table: u32,
        /// The object.
        object: Box<Expr>,
    },
    /// `stack.pop()`: what the thread has put on one of the plan's stacks last.
    Stacked {
        /// The stack's number.
        table: u32,
        /// What is done: `pop`, `top` of numbers, `take`, `peek` of objects.
        operation: String,
    },
}

/// A number with a point, by its bits, so that trees can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Real(u64);

impl From<f64> for Real {
    fn from(x: f64) -> Self {
        Self(x.to_bits())
    }
}

impl Real {
    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Negate,
    Not,
}

impl Operator {
    /// As a plan writes it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract | Self::Negate => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::And => "&&",
            Self::Or => "||",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Not => "!",
        }
    }

    /// The operator of two operands that is written so.
    pub fn of(text: &str) -> Option<Self> {
        const BINARY: [Operator; 18] = [
            Operator::Add,
            Operator::Subtract,
            Operator::Multiply,
            Operator::Divide,
            Operator::Remainder,
            Operator::And,
            Operator::Or,
            Operator::BitAnd,
            Operator::BitOr,
            Operator::BitXor,
            Operator::ShiftLeft,
            Operator::ShiftRight,
            Operator::Equal,
            Operator::NotEqual,
            Operator::Less,
            Operator::LessEqual,
            Operator::Greater,
            Operator::GreaterEqual,
        ];
        BINARY.into_iter().find(|o| o.text() == text)
    }
}

impl std::fmt::Display for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}
