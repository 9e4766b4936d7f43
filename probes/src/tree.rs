//! The untyped syntax tree of a probe, as a plan writes it.

use serde::{Deserialize, Serialize};

/// A position in the source of a plan. Lines and columns begin at 1; 0 means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourcePosition {
    /// The line, from 1.
    pub line: u16,
    /// The column, in characters.
    pub column: u16,
}

impl std::fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The body of a closure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProbeCode {
    /// The statements of the closure, in order.
    pub body: Vec<Statement>,
}

impl ProbeCode {
    /// Returns the numbers of the tables that the probe updates, in the order of the statements. A
    /// number can appear several times.
    pub fn tables(&self) -> Vec<u32> {
        fn collect(statements: &[Statement], into: &mut Vec<u32>) {
            for statement in statements {
                match statement {
                    Statement::UpdateTable { table, .. } => into.push(*table),
                    Statement::If {
                        then, otherwise, ..
                    } => {
                        collect(then, into);
                        collect(otherwise, into);
                    }
                    Statement::For { body, .. } => collect(body, into),
                    Statement::Let { .. }
                    | Statement::Assign { .. }
                    | Statement::Keep { .. }
                    | Statement::Return => {}
                }
            }
        }
        let mut tables = Vec::new();
        collect(&self.body, &mut tables);
        tables
    }
}

/// A statement of a closure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Statement {
    /// `let name = value;`
    Let {
        /// The name of the new variable.
        name: String,
        /// The initial value, which determines the type of the variable.
        value: Expr,
    },
    /// `name = value;`
    Assign {
        /// A variable that the probe has declared.
        name: String,
        /// The new value of the variable.
        value: Expr,
    },
    /// `if condition { … } else { … }`
    If {
        /// The tested expression, of type `bool`.
        condition: Expr,
        /// The statements to run if the condition is true.
        then: Vec<Statement>,
        /// The statements to run if the condition is false.
        otherwise: Vec<Statement>,
    },
    /// `for name in array { … }`, for at most [`crate::compile::MAX_LOOP_ITERATIONS`] elements.
    For {
        /// The variable that holds the current element.
        name: String,
        /// The array whose elements are visited.
        array: Expr,
        /// The statements to run for each element.
        body: Vec<Statement>,
    },
    /// `table.add(…)`: updates one of the plan's tables.
    #[serde(rename = "Give")]
    UpdateTable {
        /// The number of the table.
        table: u32,
        /// The name of the update, for example `add` or `count`.
        operation: String,
        /// The arguments: the keys, then the value if the update has one.
        values: Vec<Expr>,
        /// The position of the call in the plan.
        place: SourcePosition,
    },
    /// `kept.push(value)`: pushes a value of any type on one of the plan's stacks.
    Keep {
        /// The two stacks of the value.
        stacks: KeptStacks,
        /// The pushed value.
        value: Expr,
    },
    /// `return;`
    Return,
}

/// The two stacks of a `per_call()`. A value is on the stack that suits its type, so the type
/// determines the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeptStacks {
    /// The number of the stack of integers. Truth values and the bits of floating-point numbers are
    /// integers.
    pub numbers: u32,
    /// The number of the stack of objects.
    pub objects: u32,
}

/// An expression with its position.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expr {
    /// The operation, with its operands.
    #[serde(rename = "shape")]
    pub kind: ExprKind,
    /// The position in the plan.
    pub place: SourcePosition,
}

/// The form of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprKind {
    /// `()`
    Null,
    /// `true`
    Bool(bool),
    /// `7`
    Int(i64),
    /// `7.5`
    Float(FloatLiteral),
    /// `"text"`
    Text(String),
    /// A variable that the probe has declared.
    #[serde(rename = "Own")]
    Local(String),
    /// A variable of the method, live at the point: `p.name`.
    #[serde(rename = "Read")]
    MethodVariable(String),
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
    /// `a.name(b, …)` in a plan that allows calls of the application's methods. If a function of
    /// this name accepts `a`, the expression calls the function, otherwise the method.
    Invoke(Box<Expr>, String, Vec<Expr>),
    /// `table.get(object)`: the value that one of the plan's tables stores for an object.
    #[serde(rename = "OfObject")]
    PerObjectValue {
        /// The number of the table.
        table: u32,
        /// The object, as an expression.
        object: Box<Expr>,
    },
    /// `stack.pop()`: the last value that the thread has pushed on one of the plan's stacks.
    #[serde(rename = "Stacked")]
    StackOperation {
        /// The number of the stack, which is a table.
        table: u32,
        /// The operation: `pop` or `top` for numbers, `take` or `peek` for objects.
        operation: String,
    },
    /// `kept.pop(like)`: the last value that the thread has pushed with [`Statement::Keep`].
    Kept {
        /// The two stacks of the value.
        stacks: KeptStacks,
        /// The expression that was pushed at the entry of the method. It is not evaluated: only its
        /// type is used.
        like: Box<Expr>,
    },
}

/// A floating-point number, stored as its bits so that trees can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloatLiteral(u64);

impl From<f64> for FloatLiteral {
    fn from(x: f64) -> Self {
        Self(x.to_bits())
    }
}

impl FloatLiteral {
    /// Returns the number that the bits represent.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]

/// An operator with one or two operands.
pub enum Operator {
    /// `+`, of numbers.
    Add,
    /// `-`, with two operands.
    Subtract,
    /// `*`, of numbers.
    Multiply,
    /// `/`, of numbers.
    Divide,
    /// `%`, the remainder of a division.
    Remainder,
    /// `&&`, which skips the right operand if the left one is false.
    And,
    /// `||`, which skips the right operand if the left one is true.
    Or,
    /// `&`, of integers or truth values.
    BitAnd,
    /// `|`, of integers or truth values.
    BitOr,
    /// `^`, of integers or truth values.
    BitXor,
    /// `<<`, of integers.
    ShiftLeft,
    /// `>>`, which keeps the sign.
    ShiftRight,
    /// `==`, of values or references.
    Equal,
    /// `!=`, of values or references.
    NotEqual,
    /// `<`, of numbers.
    Less,
    /// `<=`, of numbers.
    LessEqual,
    /// `>`, of numbers.
    Greater,
    /// `>=`, of numbers.
    GreaterEqual,
    /// `-`, with one operand.
    Negate,
    /// `!`, of a truth value.
    Not,
}

impl Operator {
    /// Returns the operator's symbol in plans.
    pub fn symbol(self) -> &'static str {
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

    /// Returns the binary operator with this symbol.
    pub fn from_symbol(text: &str) -> Option<Self> {
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
        BINARY.into_iter().find(|o| o.symbol() == text)
    }
}

impl std::fmt::Display for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.symbol())
    }
}
