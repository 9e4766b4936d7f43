//! A query as it was parsed, and the errors of its text.

use thiserror::Error;
use veneer_instruments::{MethodPattern, PatternError};

use super::columns::{Column, Unit};
use super::condition::Condition;

/// The most columns by which rows are grouped.
pub const MAX_KEYS: usize = 4;

/// The nodes that a query begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Calls of methods that match one of the patterns; all calls if there are none.
    Calls(Vec<MethodPattern>),
    /// Nodes and instants of these kinds, by the names in the column `kind`.
    Events(Vec<String>),
}

/// An aggregate of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// The number of rows.
    Count,
    /// The sum of a column.
    Sum(Column),
    /// The average of a column.
    Avg(Column),
    /// The smallest value of a column.
    Min(Column),
    /// The largest value of a column.
    Max(Column),
    /// The quantile of a column; the part is in thousandths.
    Quantile(Column, u16),
}

/// A column of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Show {
    /// A column of a row, or a key of a group.
    Column(Column),
    /// An aggregate of a group.
    Measure(Measure),
}

impl Show {
    /// The name of the result column.
    pub fn name(&self) -> String {
        let measured = |word: &str, column: &Column| format!("{word}({})", column.name());
        match self {
            Show::Column(column) => column.name().into(),
            Show::Measure(Measure::Count) => "count".into(),
            Show::Measure(Measure::Sum(c)) => measured("sum", c),
            Show::Measure(Measure::Avg(c)) => measured("avg", c),
            Show::Measure(Measure::Min(c)) => measured("min", c),
            Show::Measure(Measure::Max(c)) => measured("max", c),
            Show::Measure(Measure::Quantile(c, part)) => {
                let text = match part % 10 {
                    0 => (part / 10).to_string(),
                    _ => part.to_string(),
                };
                measured(&format!("p{text}"), c)
            }
        }
    }

    /// The unit of the result column.
    pub fn unit(&self) -> Unit {
        match self {
            Show::Measure(Measure::Count) => Unit::Number,
            Show::Column(c)
            | Show::Measure(
                Measure::Sum(c)
                | Measure::Avg(c)
                | Measure::Min(c)
                | Measure::Max(c)
                | Measure::Quantile(c, _),
            ) => c.unit(),
        }
    }
}

/// The order of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sort {
    /// The position of a result column.
    pub column: usize,
    /// Whether the largest value is first.
    pub is_descending: bool,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// The name, as in `show`.
    pub name: String,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Whether the numbers have a point.
    pub is_real: bool,
}

/// A query after parsing.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The nodes that are selected first.
    pub source: Source,
    /// Calls of methods that match one of these patterns are left out.
    pub without: Vec<MethodPattern>,
    /// For each pattern, a node around the call must match.
    pub under: Vec<MethodPattern>,
    /// For each pattern, the node directly around the call must match.
    pub directly_under: Vec<MethodPattern>,
    /// Threads by name (`*` matches any text) or by number; all if there are none.
    pub threads: Vec<String>,
    /// The call begins in this interval, in nanoseconds since the origin of the trace.
    pub between: Option<(u64, u64)>,
    /// Conditions on the columns.
    pub conditions: Vec<Condition>,
    /// The columns by which rows are grouped.
    pub keys: Vec<Column>,
    /// The columns of the result.
    pub show: Vec<Show>,
    /// The order of the result; rows without one are in the order of their ends.
    pub sort: Option<Sort>,
    /// The largest number of rows of the result.
    pub top: Option<usize>,
}

impl Query {
    /// A query of all nodes of a source, without columns.
    pub fn new(source: Source) -> Query {
        Query {
            source,
            without: Vec::new(),
            under: Vec::new(),
            directly_under: Vec::new(),
            threads: Vec::new(),
            between: None,
            conditions: Vec::new(),
            keys: Vec::new(),
            show: Vec::new(),
            sort: None,
            top: None,
        }
    }

    /// The columns of the result.
    pub fn columns(&self) -> Vec<ResultColumn> {
        let column = |show: &Show| ResultColumn {
            name: show.name(),
            unit: show.unit(),
            is_real: matches!(show, Show::Measure(Measure::Avg(_))),
        };
        self.show.iter().map(column).collect()
    }
}

/// The reason why a query could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryFault {
    /// A character that no word begins with.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// A text without its closing quotation mark.
    #[error("the text has no closing quotation mark")]
    OpenText,
    /// A malformed number.
    #[error("not a whole number or a duration (ns, us, ms, s)")]
    Number,
    /// Another word was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A step that does not exist.
    #[error("there is no step `{name}`{}", nearest(.similar))]
    NoStep {
        /// The name in the query.
        name: String,
        /// A similar name.
        similar: Option<String>,
    },
    /// A column that does not exist.
    #[error("there is no column `{name}`{}", nearest(.similar))]
    NoColumn {
        /// The name in the query.
        name: String,
        /// A similar name.
        similar: Option<String>,
    },
    /// A kind of event that does not exist.
    #[error("there is no kind of event `{0}`")]
    NoKind(String),
    /// Rows cannot be grouped by this column.
    #[error("rows cannot be grouped by `{0}`")]
    NotAKey(&'static str),
    /// Too many columns to group by.
    #[error("rows are grouped by at most {MAX_KEYS} columns")]
    TooManyKeys,
    /// A sum or quantile of texts.
    #[error("the column `{0}` has no numbers")]
    NotANumber(&'static str),
    /// An aggregate without groups.
    #[error("aggregates need groups: add .by(…)")]
    NoGroups,
    /// A column of rows in a result of groups.
    #[error("the column `{0}` is not a key of the groups; use sum, avg, min, max or p99 of it")]
    NotGrouped(&'static str),
    /// The result is sorted by a column that it does not show.
    #[error("the result has no column `{0}` to sort by; name it in .show(…)")]
    NotShown(String),
    /// A malformed method pattern.
    #[error("{0}")]
    Pattern(PatternError),
}

fn nearest(similar: &Option<String>) -> String {
    match similar {
        Some(similar) => format!("; did you mean `{similar}`?"),
        None => String::new(),
    }
}

/// A query that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {fault}")]
pub struct QueryError {
    /// The reason of the error.
    pub fault: QueryFault,
    /// The column in the text, from 1.
    pub column: usize,
}
