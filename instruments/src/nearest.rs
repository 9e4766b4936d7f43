//! The names nearest to a pattern or word that names nothing: what a warning suggests.
//!
//! The distance is Levenshtein's, with three changes. Wildcards cost nothing for what they stand for, so only
//! the literal part of a pattern counts. A wrong case, or `.` for `$`, costs half an edit. And a pattern
//! without a package is held against the simple name as well: leaving the package out is the likeliest
//! mistake, so it costs half an edit only.

use crate::MethodPattern;
use crate::pattern::Step;

/// Costs are in half edits.
const EDIT: usize = 2;
const HALF: usize = 1;

/// One position of a pattern.
#[derive(Clone, Copy)]
enum Token {
    Literal(char),
    /// `*`: any characters of a segment.
    Star,
    /// `..`: any characters.
    Gap,
}

/// The `n` class names (dotted) nearest to the class part of `pattern`, nearest first, of equals the shorter.
/// Names that share too little with it are left out, so the list may be shorter, or empty.
pub fn nearest<'a>(
    pattern: &MethodPattern,
    names: impl Iterator<Item = &'a str>,
    n: usize,
) -> Vec<String> {
    let tokens = tokens(&pattern.class().steps);
    let simple = !pattern.class_text().contains('.');
    pick(names, n, limit(&tokens), |name| {
        let whole = distance(&tokens, name);
        match name.rsplit_once('.') {
            Some((_, last)) if simple => whole.min(distance(&tokens, last) + HALF),
            _ => whole,
        }
    })
}

/// The `n` words nearest to `word`, likewise: for a misspelt function or variable.
pub fn nearest_words<'a>(
    word: &str,
    words: impl Iterator<Item = &'a str>,
    n: usize,
) -> Vec<String> {
    let tokens: Vec<Token> = word.chars().map(Token::Literal).collect();
    pick(words, n, limit(&tokens), |other| distance(&tokens, other))
}

fn pick<'a>(
    names: impl Iterator<Item = &'a str>,
    n: usize,
    limit: usize,
    distance: impl Fn(&str) -> usize,
) -> Vec<String> {
    let mut found: Vec<(usize, usize, &str)> = names
        .map(|name| (distance(name), name.len(), name))
        .filter(|(distance, ..)| *distance <= limit)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(n);
    found
        .into_iter()
        .map(|(.., name)| name.to_owned())
        .collect()
}

/// Beyond two edits in five literal characters a suggestion would only puzzle.
fn limit(tokens: &[Token]) -> usize {
    let literals = tokens
        .iter()
        .filter(|token| matches!(token, Token::Literal(_)))
        .count();
    literals * 2 / 5 * EDIT
}

fn tokens(steps: &[Step]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut after_segment = false;
    for step in steps {
        match step {
            Step::Gap => tokens.push(Token::Gap),
            Step::Segment(glob) => {
                if after_segment {
                    tokens.push(Token::Literal('.'));
                }
                tokens.extend(glob.text().chars().map(|c| match c {
                    '*' => Token::Star,
                    literal => Token::Literal(literal),
                }));
            }
        }
        after_segment = matches!(step, Step::Segment(_));
    }
    tokens
}

/// The cheapest way from the pattern to the name, in half edits; rows are characters of the name.
fn distance(tokens: &[Token], name: &str) -> usize {
    let mut row: Vec<usize> = Vec::with_capacity(tokens.len() + 1);
    row.push(0);
    for token in tokens {
        let before = row.last().copied().unwrap_or(0);
        row.push(before + skip_token(*token));
    }
    for c in name.chars() {
        // `diagonal` is the cell up and to the left of the one being computed.
        let mut diagonal = row.first().copied().unwrap_or(0);
        let mut left = diagonal + EDIT;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, token) in row.iter_mut().skip(1).zip(tokens) {
            let up = *cell;
            *cell = (diagonal + replace(*token, c))
                .min(up + skip_character(*token, c))
                .min(left + skip_token(*token));
            diagonal = up;
            left = *cell;
        }
    }
    row.last().copied().unwrap_or(0)
}

fn skip_token(token: Token) -> usize {
    match token {
        Token::Literal(_) => EDIT,
        Token::Star | Token::Gap => 0,
    }
}

fn skip_character(token: Token, c: char) -> usize {
    match token {
        Token::Star if c != '.' => 0,
        Token::Gap => 0,
        _ => EDIT,
    }
}

fn replace(token: Token, c: char) -> usize {
    match token {
        Token::Literal(literal) if literal == c => 0,
        Token::Literal(literal) if literal.eq_ignore_ascii_case(&c) => HALF,
        Token::Literal('.') if c == '$' => HALF,
        Token::Literal(_) => EDIT,
        Token::Star | Token::Gap => skip_character(token, c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 7] = [
        "com.sun.tools.javac.main.JavaCompiler",
        "com.sun.tools.javac.parser.JavacParser",
        "com.sun.tools.javac.parser.JavaTokenizer",
        "java.lang.Object",
        "route.Edge",
        "route.Network",
        "route.Network$Station",
    ];

    fn of(pattern: &str) -> Vec<String> {
        let pattern = MethodPattern::parse(pattern).expect(pattern);
        nearest(&pattern, NAMES.into_iter(), 2)
    }

    #[test]
    fn the_literal_part_decides() {
        assert_eq!(
            of("*..JavaCompilr::parse(..)"),
            ["com.sun.tools.javac.main.JavaCompiler"]
        );
        assert_eq!(of("route.Egde"), ["route.Edge"]);
        assert_eq!(of("rout.Network::*"), ["route.Network"]);
        assert_eq!(
            of("com.sun.tool.javac.parser..*")
                .first()
                .map(String::as_str),
            Some("com.sun.tools.javac.parser.JavacParser")
        );
    }

    #[test]
    fn a_package_left_out_and_a_dot_for_a_dollar() {
        assert_eq!(
            of("JavacParser").first().map(String::as_str),
            Some(NAMES[1])
        );
        assert_eq!(
            of("route.network.station").first().map(String::as_str),
            Some("route.Network$Station")
        );
    }

    #[test]
    fn what_is_far_is_not_suggested() {
        assert_eq!(of("org.h2.engine.Database"), Vec::<String>::new());
    }

    #[test]
    fn words() {
        let words = ["counter", "timer", "log", "methods"];
        assert_eq!(nearest_words("countr", words.into_iter(), 1), ["counter"]);
        assert_eq!(nearest_words("Timer", words.into_iter(), 1), ["timer"]);
        assert!(nearest_words("zzz", words.into_iter(), 1).is_empty());
    }
}
