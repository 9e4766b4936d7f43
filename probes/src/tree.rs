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
    /// Returns the numbers of all tables that the probe updates or reads, in the order of the text. A
    /// number can appear several times.
    pub fn tables(&self) -> Vec<u32> {
        let mut tables = Vec::new();
        tables_of_statements(&self.body, &mut tables);
        tables
    }
}

fn tables_of_statements(statements: &[Statement], into: &mut Vec<u32>) {
    for statement in statements {
        match statement {
            Statement::UpdateTable { table, values, .. } => {
                into.push(*table);
                tables_of_values(values, into);
            }
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                tables_of_value(condition, into);
                tables_of_statements(then, into);
                tables_of_statements(otherwise, into);
            }
            Statement::For { array, body, .. } => {
                tables_of_value(array, into);
                tables_of_statements(body, into);
            }
            Statement::Let { value, .. } | Statement::Assign { value, .. } => {
                tables_of_value(value, into);
            }
            Statement::Keep { stacks, value } => {
                into.extend([stacks.numbers, stacks.objects]);
                tables_of_value(value, into);
            }
            Statement::TraceEvent { value, .. } => {
                tables_of_values(value.as_slice(), into);
            }
            Statement::Return => {}
        }
    }
}

fn tables_of_values(values: &[Expr], into: &mut Vec<u32>) {
    for value in values {
        tables_of_value(value, into);
    }
}

fn tables_of_value(value: &Expr, into: &mut Vec<u32>) {
    match &value.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::Local(_)
        | ExprKind::MethodVariable(_) => {}
        ExprKind::Field(of, _) | ExprKind::Unary(_, of) => tables_of_value(of, into),
        ExprKind::Element(one, other) | ExprKind::Binary(_, one, other) => {
            tables_of_value(one, into);
            tables_of_value(other, into);
        }
        ExprKind::Call(_, arguments) => tables_of_values(arguments, into),
        ExprKind::Invoke(receiver, _, arguments) => {
            tables_of_value(receiver, into);
            tables_of_values(arguments, into);
        }
        ExprKind::PerObjectValue { table, object } => {
            into.push(*table);
            tables_of_value(object, into);
        }
        ExprKind::StackOperation { table, .. } => into.push(*table),
        // The expression in `like` is not evaluated.
        ExprKind::Kept { stacks, .. } => into.extend([stacks.numbers, stacks.objects]),
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
    /// `trace_event("label", value)`, `trace_begin("label", value)` and `trace_end("label")`: writes an
    /// event into the trace that is recorded.
    TraceEvent {
        /// Whether the event is an instant, or the beginning or the end of a span.
        part: EventPart,
        /// The name of the event.
        label: String,
        /// The value of the event, if it has one.
        value: Option<Expr>,
    },
    /// `return;`
    Return,
}

/// The part of a plan's event that a call writes into the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventPart {
    /// An event without a duration.
    Instant,
    /// The beginning of a span.
    Begin,
    /// The end of a span.
    End,
}

impl EventPart {
    /// All parts of an event.
    pub const ALL: [EventPart; 3] = [EventPart::Instant, EventPart::Begin, EventPart::End];

    /// The function of plans that writes this part.
    pub const fn function(self) -> &'static str {
        match self {
            EventPart::Instant => "trace_event",
            EventPart::Begin => "trace_begin",
            EventPart::End => "trace_end",
        }
    }

    /// The control character before the label of a beginning or an end: STX or ETX.
    const fn mark(self) -> Option<char> {
        match self {
            EventPart::Instant => None,
            EventPart::Begin => Some('\u{2}'),
            EventPart::End => Some('\u{3}'),
        }
    }

    /// The label with which compiled code calls the runtime class. It contains the part, so that one
    /// method of the runtime class serves all parts.
    pub fn marked_label(self, label: &str) -> String {
        let is_mark = |c: char| EventPart::ALL.iter().any(|part| part.mark() == Some(c));
        let label = label.trim_start_matches(is_mark);
        self.mark().into_iter().chain(label.chars()).collect()
    }

    /// The part and the label of a result of [`EventPart::marked_label`].
    pub fn of_marked_label(marked: &str) -> (EventPart, &str) {
        for part in EventPart::ALL {
            if let Some(label) = part.mark().and_then(|mark| marked.strip_prefix(mark)) {
                return (part, label);
            }
        }
        (EventPart::Instant, marked)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn expr(kind: ExprKind) -> Expr {
        Expr {
            kind,
            place: SourcePosition::default(),
        }
    }

    #[test]
    fn a_marked_label_has_its_part() {
        for part in EventPart::ALL {
            for label in ["", "park", "\u{3}é"] {
                let marked = part.marked_label(label);
                let expected = label.trim_start_matches('\u{3}');
                assert_eq!(EventPart::of_marked_label(&marked), (part, expected));
            }
        }
    }

    #[test]
    fn tables_of_statements_and_of_expressions_are_found() {
        let stack = |table| {
            expr(ExprKind::StackOperation {
                table,
                operation: "pop".to_owned(),
            })
        };
        let stacks = |numbers, objects| KeptStacks { numbers, objects };
        let kept = expr(ExprKind::Kept {
            stacks: stacks(4, 5),
            // Its table is not read: the expression only has the type.
            like: Box::new(stack(99)),
        });
        let of_object = expr(ExprKind::PerObjectValue {
            table: 6,
            object: Box::new(expr(ExprKind::Call("identity".to_owned(), vec![stack(7)]))),
        });
        let code = ProbeCode {
            body: vec![
                Statement::Let {
                    name: "start".to_owned(),
                    value: stack(1),
                },
                Statement::Keep {
                    stacks: stacks(2, 3),
                    value: expr(ExprKind::Null),
                },
                Statement::If {
                    condition: expr(ExprKind::Binary(
                        Operator::Less,
                        Box::new(kept),
                        Box::new(of_object),
                    )),
                    then: vec![Statement::UpdateTable {
                        table: 8,
                        operation: "add".to_owned(),
                        values: vec![expr(ExprKind::Unary(
                            Operator::Subtract,
                            Box::new(stack(9)),
                        ))],
                        place: SourcePosition::default(),
                    }],
                    otherwise: vec![Statement::Return],
                },
            ],
        };
        assert_eq!(code.tables(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
