//! Parses the text of a query.

use veneer_instruments::{MethodPattern, nearest_words};

use super::columns::{Column, Unit, kind_text};
use super::condition::{Comparison, Condition, Operand};
use super::query_text::{MAX_KEYS, Measure, Query, QueryError, QueryFault, Show, Sort, Source};
use super::tokens::{Token, tokens};

/// The most nested brackets and negations of a condition.
const MAX_NESTING: usize = 64;
const STEPS: [&str; 12] = [
    "under",
    "directly_under",
    "without",
    "longer",
    "shorter",
    "thread",
    "between",
    "when",
    "by",
    "show",
    "sort",
    "top",
];

/// Parses a query. Durations without a unit are in nanoseconds.
///
/// # Errors
/// The first fault of the text, with its column.
pub fn parse(text: &str) -> Result<Query, QueryError> {
    let tokens = tokens(text)?;
    let end = text.chars().count() + 1;
    let mut parser = Parser {
        tokens: &tokens,
        end,
    };
    let (source, at) = parser.source()?;
    let mut query = Query::new(source);
    let mut sort = None;
    while !parser.tokens.is_empty() {
        parser.sign(".", "`.` and a step")?;
        parser.step(&mut query, &mut sort)?;
    }
    complete(&mut query, sort).map_err(|fault| QueryError { fault, column: at })?;
    Ok(query)
}

/// Adds the columns that are shown by default, and checks that the columns fit together.
fn complete(query: &mut Query, sort: Option<(String, bool)>) -> Result<(), QueryFault> {
    let has_measure = query.show.iter().any(|s| matches!(s, Show::Measure(_)));
    if query.keys.is_empty() {
        if has_measure {
            return Err(QueryFault::NoGroups);
        }
        if query.show.is_empty() {
            query.show = [
                Column::Thread,
                Column::Depth,
                Column::Parent,
                Column::Method,
                Column::Site,
                Column::Start,
                Column::Wall,
                Column::Cpu,
                Column::SelfTime,
                Column::Allocated,
                Column::Values,
            ]
            .map(Show::Column)
            .to_vec();
        }
    } else {
        if query.show.is_empty() {
            query.show = [
                Measure::Count,
                Measure::Sum(Column::Wall),
                Measure::Avg(Column::Wall),
                Measure::Quantile(Column::Wall, 500),
                Measure::Quantile(Column::Wall, 990),
                Measure::Max(Column::Wall),
                Measure::Sum(Column::SelfTime),
            ]
            .map(Show::Measure)
            .to_vec();
        }
        for show in &query.show {
            if let Show::Column(column) = show
                && !query.keys.contains(column)
            {
                return Err(QueryFault::NotGrouped(column.name()));
            }
        }
        let shown = |key: &Column| query.show.contains(&Show::Column(*key));
        let missing: Vec<Show> = query
            .keys
            .iter()
            .filter(|k| !shown(k))
            .map(|k| Show::Column(*k))
            .collect();
        query.show.splice(0..0, missing);
    }
    if let Some((name, is_descending)) = sort {
        let column = query.show.iter().position(|show| show.name() == name);
        let column = column.ok_or(QueryFault::NotShown(name))?;
        query.sort = Some(Sort {
            column,
            is_descending,
        });
    }
    Ok(())
}

struct Parser<'t> {
    tokens: &'t [(Token, usize)],
    /// The column after the last word.
    end: usize,
}

impl Parser<'_> {
    fn column(&self) -> usize {
        self.tokens.first().map_or(self.end, |token| token.1)
    }

    fn fail<T>(&self, fault: QueryFault) -> Result<T, QueryError> {
        let column = self.column();
        Err(QueryError { fault, column })
    }

    fn take(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.0.clone())
    }

    fn takes(&mut self, sign: &'static str) -> bool {
        let is_next = matches!(self.tokens.first(), Some((Token::Sign(s), _)) if *s == sign);
        if is_next {
            self.take();
        }
        is_next
    }

    fn sign(&mut self, sign: &'static str, expected: &'static str) -> Result<(), QueryError> {
        match self.takes(sign) {
            true => Ok(()),
            false => self.fail(QueryFault::Expected(expected)),
        }
    }

    fn name(&mut self, expected: &'static str) -> Result<String, QueryError> {
        match self.tokens.first() {
            Some((Token::Name(name), _)) => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => self.fail(QueryFault::Expected(expected)),
        }
    }

    fn text(&mut self) -> Result<String, QueryError> {
        match self.tokens.first() {
            Some((Token::Text(text), _)) => {
                let text = text.clone();
                self.take();
                Ok(text)
            }
            _ => self.fail(QueryFault::Expected("a text in quotation marks")),
        }
    }

    fn number(&mut self) -> Result<u64, QueryError> {
        match self.tokens.first() {
            Some((Token::Number(number), _)) => {
                let number = *number;
                self.take();
                Ok(number)
            }
            _ => self.fail(QueryFault::Expected("a number or a duration, as in 5 ms")),
        }
    }

    /// Texts or numbers between brackets. Numbers become texts.
    fn words(&mut self) -> Result<Vec<(String, usize)>, QueryError> {
        self.sign("(", "`(`")?;
        let mut words = Vec::new();
        while !self.takes(")") {
            if !words.is_empty() {
                self.sign(",", "`,` or `)`")?;
            }
            let column = self.column();
            let word = match self.tokens.first() {
                Some((Token::Number(number), _)) => {
                    let number = number.to_string();
                    self.take();
                    number
                }
                _ => self.text()?,
            };
            words.push((word, column));
        }
        Ok(words)
    }

    fn patterns(&mut self) -> Result<Vec<MethodPattern>, QueryError> {
        let parse = |(text, column): (String, usize)| {
            MethodPattern::parse(&text).map_err(|e| QueryError {
                fault: QueryFault::Pattern(e),
                column,
            })
        };
        self.words()?.into_iter().map(parse).collect()
    }

    fn source(&mut self) -> Result<(Source, usize), QueryError> {
        let at = self.column();
        let name = self.name("`calls(\"pattern\")` or `events(\"kind\")`")?;
        let source = match name.as_str() {
            "calls" => Source::Calls(self.patterns()?),
            "events" => {
                let words = self.words()?;
                for (word, column) in &words {
                    if !(0..=u8::MAX).any(|kind| kind_text(kind) == word) {
                        let fault = QueryFault::NoKind(word.clone());
                        return Err(QueryError {
                            fault,
                            column: *column,
                        });
                    }
                }
                Source::Events(words.into_iter().map(|word| word.0).collect())
            }
            _ => {
                let fault = QueryFault::Expected("`calls(\"pattern\")` or `events(\"kind\")`");
                return Err(QueryError { fault, column: at });
            }
        };
        Ok((source, at))
    }

    fn step(
        &mut self,
        query: &mut Query,
        sort: &mut Option<(String, bool)>,
    ) -> Result<(), QueryError> {
        let column = self.column();
        let name = self.name("the name of a step")?;
        match name.as_str() {
            "under" => query.under.extend(self.patterns()?),
            "directly_under" => query.directly_under.extend(self.patterns()?),
            "without" => query.without.extend(self.patterns()?),
            "thread" => query.threads.extend(self.words()?.into_iter().map(|w| w.0)),
            "longer" | "shorter" => {
                self.sign("(", "`(`")?;
                let limit = Operand::Number(self.number()?);
                self.sign(")", "`)`")?;
                let comparison = match name.as_str() {
                    "longer" => Comparison::Greater,
                    _ => Comparison::Less,
                };
                let condition = Condition::Compare(Column::Wall, comparison, limit);
                query.conditions.push(condition);
            }
            "between" => {
                self.sign("(", "`(`")?;
                let from = self.number()?;
                self.sign(",", "`,`")?;
                query.between = Some((from, self.number()?));
                self.sign(")", "`)`")?;
            }
            "when" => {
                self.sign("(", "`(`")?;
                let condition = self.any(0)?;
                self.sign(")", "`)` or an operator")?;
                query.conditions.push(condition);
            }
            "by" => self.keys(query)?,
            "show" => {
                for (word, column) in self.words()? {
                    let show = show(&word).map_err(|fault| QueryError { fault, column })?;
                    query.show.push(show);
                }
            }
            "sort" => {
                self.sign("(", "`(`")?;
                let word = self.text()?;
                self.sign(")", "`)`")?;
                *sort = Some(match word.strip_prefix('-') {
                    Some(word) => (word.into(), true),
                    None => (word, false),
                });
            }
            "top" => {
                self.sign("(", "`(`")?;
                query.top = Some(usize::try_from(self.number()?).unwrap_or(usize::MAX));
                self.sign(")", "`)`")?;
            }
            _ => {
                let similar = nearest_words(&name, STEPS.into_iter(), 1).pop();
                let fault = QueryFault::NoStep { name, similar };
                return Err(QueryError { fault, column });
            }
        }
        Ok(())
    }

    fn keys(&mut self, query: &mut Query) -> Result<(), QueryError> {
        for (word, at) in self.words()? {
            let error = |fault| QueryError { fault, column: at };
            let key = column(&word).map_err(error)?;
            if !key.is_key() {
                return Err(error(QueryFault::NotAKey(key.name())));
            }
            if query.keys.len() == MAX_KEYS {
                return Err(error(QueryFault::TooManyKeys));
            }
            query.keys.push(key);
        }
        Ok(())
    }

    fn any(&mut self, nesting: usize) -> Result<Condition, QueryError> {
        let mut parts = vec![self.all(nesting)?];
        while self.takes("||") {
            parts.push(self.all(nesting)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Condition::Any(parts),
        })
    }

    fn all(&mut self, nesting: usize) -> Result<Condition, QueryError> {
        let mut parts = vec![self.single(nesting)?];
        while self.takes("&&") {
            parts.push(self.single(nesting)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Condition::All(parts),
        })
    }

    fn single(&mut self, nesting: usize) -> Result<Condition, QueryError> {
        if nesting > MAX_NESTING {
            return self.fail(QueryFault::Expected("fewer nested brackets"));
        }
        if self.takes("!") {
            return Ok(Condition::Not(Box::new(self.single(nesting + 1)?)));
        }
        if self.takes("(") {
            let inner = self.any(nesting + 1)?;
            self.sign(")", "`)` or an operator")?;
            return Ok(inner);
        }
        let at = self.column();
        let name = self.name("the name of a column")?;
        let left = column(&name).map_err(|fault| QueryError { fault, column: at })?;
        let comparisons = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let found = comparisons.into_iter().find(|(sign, _)| self.takes(sign));
        let Some((_, comparison)) = found else {
            return self.fail(QueryFault::Expected("a comparison, as in `wall > 5 ms`"));
        };
        let at = self.column();
        let right = match self.take() {
            Some(Token::Number(number)) => Operand::Number(number),
            Some(Token::Text(text)) => Operand::Text(text),
            Some(Token::Name(name)) => {
                Operand::Column(column(&name).map_err(|fault| QueryError { fault, column: at })?)
            }
            _ => {
                let fault = QueryFault::Expected("a number, a text or a column");
                return Err(QueryError { fault, column: at });
            }
        };
        Ok(Condition::Compare(left, comparison, right))
    }
}

fn column(name: &str) -> Result<Column, QueryFault> {
    Column::named(name).ok_or_else(|| {
        let names = Column::ALL.iter().map(|c| c.name());
        QueryFault::NoColumn {
            name: name.into(),
            similar: nearest_words(name, names, 1).pop(),
        }
    })
}

/// A column of the result: `wall`, `count`, `sum(wall)`, `p99(wall)`.
fn show(text: &str) -> Result<Show, QueryFault> {
    if text == "count" {
        return Ok(Show::Measure(Measure::Count));
    }
    let call = text.strip_suffix(')').and_then(|t| t.split_once('('));
    let Some((word, argument)) = call else {
        return Ok(Show::Column(column(text)?));
    };
    let of = column(argument)?;
    if of.unit() == Unit::Text {
        return Err(QueryFault::NotANumber(of.name()));
    }
    let quantile = || {
        let digits = word.strip_prefix('p')?;
        let number: u16 = digits.parse().ok()?;
        // p50 and p99 are percentiles, p999 is in thousandths.
        match digits.len() {
            1 | 2 => Some(number * 10),
            3 => Some(number),
            _ => None,
        }
    };
    Ok(Show::Measure(match word {
        "sum" => Measure::Sum(of),
        "avg" => Measure::Avg(of),
        "min" => Measure::Min(of),
        "max" => Measure::Max(of),
        _ => match quantile() {
            Some(part) => Measure::Quantile(of, part),
            None => return Err(QueryFault::Expected("sum, avg, min, max, p50, p99 or p999")),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_of_all_steps() {
        let text = r#"calls("shop..*Dao::*(..)").under("shop.Desk").longer(2.5 ms)
            .thread("worker-*").between(0, 10 s).when(self > 1us && (depth <= 3 || !(cpu == wall)))
            .by("method", "thread").show("count", "p99(wall)").sort("-p99(wall)").top(20)"#;
        let query = parse(text).expect("a query");
        assert_eq!(query.conditions.len(), 2);
        assert_eq!(query.between, Some((0, 10_000_000_000)));
        let names: Vec<String> = query.show.iter().map(Show::name).collect();
        assert_eq!(names, ["method", "thread", "count", "p99(wall)"]);
        let sort = query.sort.expect("an order");
        assert_eq!(
            (sort.column, sort.is_descending, query.top),
            (3, true, Some(20))
        );
    }

    #[test]
    fn faults_have_a_column_and_a_hint() {
        for (text, column, message) in [
            ("", 1, "expected `calls"),
            ("calls()x", 8, "expected `.` and a step"),
            ("calls().longr(5)", 9, "did you mean `longer`?"),
            ("calls().when(wal > 5)", 14, "did you mean `wall`?"),
            ("calls().longer(5.5)", 16, "not a whole number"),
            ("calls(\"a.B)", 7, "no closing quotation mark"),
            ("calls().by(\"wall\")", 12, "cannot be grouped"),
            ("calls().show(\"count\")", 1, "need groups"),
            ("calls().by(\"method\").show(\"wall\")", 1, "not a key"),
            ("calls().sort(\"cost\")", 1, "no column `cost` to sort by"),
            ("events(\"tea\")", 8, "no kind of event"),
            ("calls(\"a..\")", 7, "pattern"),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
        let deep = format!("calls().when({}", "(".repeat(100_000));
        assert!(parse(&deep).is_err());
    }
}
