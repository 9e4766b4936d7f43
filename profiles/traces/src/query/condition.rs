//! Conditions on the columns of a row: `when(self > 1 ms && depth <= 3)`.

use super::columns::{Cell, Column, RowView, Unit};

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A number in the unit of the column on the left side.
    Number(u64),
    /// A text to compare with.
    Text(String),
    /// Another column of the row.
    Column(Column),
}

/// A condition on a row. A comparison with an unknown value is false.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A comparison of a column.
    Compare(Column, Comparison, Operand),
    /// All conditions hold.
    All(Vec<Condition>),
    /// At least one condition holds.
    Any(Vec<Condition>),
    /// The condition does not hold.
    Not(Box<Condition>),
}

impl Condition {
    /// Whether the row fulfils the condition.
    pub fn holds(&self, row: &RowView<'_>) -> bool {
        match self {
            Condition::Compare(column, comparison, operand) => {
                compare(row, *column, *comparison, operand)
            }
            Condition::All(all) => all.iter().all(|c| c.holds(row)),
            Condition::Any(any) => any.iter().any(|c| c.holds(row)),
            Condition::Not(inner) => !inner.holds(row),
        }
    }
}

fn compare(row: &RowView<'_>, column: Column, comparison: Comparison, operand: &Operand) -> bool {
    let order = if column.unit() == Unit::Text {
        let Cell::Text(left) = row.cell(column) else {
            return false;
        };
        match operand {
            Operand::Text(right) => left.as_str().cmp(right),
            Operand::Column(right) => match row.cell(*right) {
                Cell::Text(right) => left.cmp(&right),
                _ => return false,
            },
            Operand::Number(_) => return false,
        }
    } else {
        let right = match operand {
            Operand::Number(right) => Some(*right),
            Operand::Column(right) => row.number(*right),
            Operand::Text(_) => None,
        };
        match row.number(column).zip(right) {
            Some((left, right)) => left.cmp(&right),
            None => return false,
        }
    };
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}
