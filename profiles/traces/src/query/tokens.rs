//! The words of a query.

use super::query_text::{QueryError, QueryFault};

/// A word of a query.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name without quotation marks.
    Name(String),
    /// A text in quotation marks.
    Text(String),
    /// A number; a duration is in nanoseconds.
    Number(u64),
    /// A bracket, comma, dot or operator.
    Sign(&'static str),
}

const SIGNS: [&str; 14] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "(", ")", ",", ".", "!", "-",
];

/// Splits a query into words with their columns, from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, QueryError> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let column = text[..text.len() - rest.len()].chars().count() + 1;
        let error = |fault| QueryError { fault, column };
        let Some(first) = rest.chars().next() else {
            return Ok(found);
        };
        let token = if first.is_ascii_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            Token::Name(take(&mut rest, is_part).into())
        } else if first.is_ascii_digit() {
            number(&mut rest).map_err(error)?
        } else if first == '"' || first == '\'' {
            let body = &rest[1..];
            let end = body
                .find(first)
                .ok_or_else(|| error(QueryFault::OpenText))?;
            rest = &body[end + 1..];
            Token::Text(body[..end].into())
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| error(QueryFault::Character(first)))?;
            rest = &rest[sign.len()..];
            Token::Sign(sign)
        };
        found.push((token, column));
    }
}

fn take<'t>(rest: &mut &'t str, is_part: impl Fn(char) -> bool) -> &'t str {
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    word
}

/// A number, with a unit of time after it or not: `5`, `2.5 ms`, `10us`.
fn number(rest: &mut &str) -> Result<Token, QueryFault> {
    let mut digits = take(rest, |c| c.is_ascii_digit() || c == '_').replace('_', "");
    let mut has_point = false;
    if let Some(after) = rest.strip_prefix('.')
        && after.starts_with(|c: char| c.is_ascii_digit())
    {
        has_point = true;
        *rest = after;
        digits.push('.');
        digits.push_str(take(rest, |c| c.is_ascii_digit()));
    }
    let after = rest.trim_start();
    let units = [
        ("ns", 1u64),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
    ];
    let unit = units.iter().find_map(|(name, factor)| {
        let end = after.strip_prefix(name)?;
        let is_whole = !end.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        is_whole.then_some((*factor, end))
    });
    if let Some((factor, end)) = unit {
        *rest = end;
        let number: f64 = digits.parse().map_err(|_| QueryFault::Number)?;
        return Ok(Token::Number((number * factor as f64).round() as u64));
    }
    if has_point {
        return Err(QueryFault::Number);
    }
    digits
        .parse()
        .map(Token::Number)
        .map_err(|_| QueryFault::Number)
}
