//! Suggestions for a pattern or word that matches no name.
//!
//! The distance is Levenshtein's, with three changes:
//!
//! * A wildcard matches characters at no cost, so only the literal part of a pattern counts.
//! * A wrong case, or `.` instead of `$`, costs half an edit.
//! * A pattern without a package is also compared with the simple class name, at a cost of half an
//!   edit. A missing package is the most likely mistake.

use crate::MethodPattern;
use crate::pattern::PackageElement;

/// The costs are in units of half an edit.
const EDIT_COST: usize = 2;
const HALF_EDIT_COST: usize = 1;

/// One element of a pattern.
#[derive(Clone, Copy)]
enum Token {
    Literal(char),
    /// `*`: any characters of one segment.
    Star,
    /// `..`: any characters.
    Gap,
}

/// Returns up to `n` dotted class names nearest to the class part of `pattern`, nearest first. If
/// two names are equally near, the shorter one is first. Names that differ too much are left out,
/// so the list may be empty.
pub fn nearest<'a>(
    pattern: &MethodPattern,
    names: impl Iterator<Item = &'a str>,
    n: usize,
) -> Vec<String> {
    let tokens = tokens(&pattern.class().elements);
    let simple = !pattern.class_text().contains('.');
    pick(names, n, limit(&tokens), |name| {
        let whole = distance(&tokens, name);
        match name.rsplit_once('.') {
            Some((_, last)) if simple => whole.min(distance(&tokens, last) + HALF_EDIT_COST),
            _ => whole,
        }
    })
}

/// A method that a pattern without a match may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeantMethod {
    /// The class, perhaps without its package.
    class: String,
    method: String,
}

impl MeantMethod {
    /// Reads a pattern that names a method: `shop.Desk::serve`, or `shop.Desk.serve` and
    /// `shop.Desk#serve`, in which another character stands for `::`. `None` if a name has a wildcard.
    pub fn from_pattern(pattern: &MethodPattern) -> Option<MeantMethod> {
        let text = pattern.class_text();
        let text = text.strip_prefix("*..").unwrap_or(&text);
        let (class, method) = match pattern.method_text() {
            Some(method) => (text, method),
            None => text.rsplit_once(['.', '#'])?,
        };
        let is_name = |name: &str| !name.is_empty() && !name.contains('*') && !name.contains("..");
        (is_name(class) && is_name(method)).then(|| MeantMethod {
            class: class.to_owned(),
            method: method.to_owned(),
        })
    }

    /// Whether the class can be the one of this dotted name, in any package.
    pub fn may_be_in(&self, name: &str) -> bool {
        let outer = name.strip_suffix(&self.class);
        outer.is_some_and(|outer| outer.is_empty() || outer.ends_with(['.', '$']))
    }

    /// The end of a sentence about these classes, each with the names of its methods: the pattern to
    /// write, or the methods that the class has. `None` if there is no class.
    pub fn hint(&self, classes: &[(String, Vec<String>)]) -> Option<String> {
        /// The most methods that a hint names.
        const MAX_METHODS: usize = 5;
        let has = |methods: &[String]| methods.contains(&self.method);
        let with: Vec<String> = classes
            .iter()
            .filter(|(_, methods)| has(methods))
            .map(|(class, _)| format!("`{class}::{}(..)`", self.method))
            .collect();
        if !with.is_empty() {
            return Some(format!("did you mean {}?", with.join(" or ")));
        }
        let (class, methods) = classes.first()?;
        let mut names = nearest_words(
            &self.method,
            methods.iter().map(String::as_str),
            MAX_METHODS,
        );
        if names.is_empty() {
            names.clone_from(methods);
            names.sort_unstable();
            names.dedup();
            names.truncate(MAX_METHODS);
        }
        Some(format!(
            "{class} has no method `{}`; it has {}",
            self.method,
            names.join(", ")
        ))
    }
}

/// Returns up to `n` words nearest to `word`, nearest first: suggestions for a misspelt function or
/// variable.
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

/// The maximum cost of a suggestion: two edits in five literal characters. Beyond that limit the
/// name would be unrelated to the pattern.
fn limit(tokens: &[Token]) -> usize {
    let literals = tokens
        .iter()
        .filter(|token| matches!(token, Token::Literal(_)))
        .count();
    literals * 2 / 5 * EDIT_COST
}

fn tokens(steps: &[PackageElement]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut after_segment = false;
    for step in steps {
        match step {
            PackageElement::Gap => tokens.push(Token::Gap),
            PackageElement::Segment(glob) => {
                if after_segment {
                    tokens.push(Token::Literal('.'));
                }
                tokens.extend(glob.text().chars().map(|c| match c {
                    '*' => Token::Star,
                    literal => Token::Literal(literal),
                }));
            }
        }
        after_segment = matches!(step, PackageElement::Segment(_));
    }
    tokens
}

/// Returns the minimum cost of matching the pattern with the name, in half edits. The rows of the
/// matrix are the characters of the name.
fn distance(tokens: &[Token], name: &str) -> usize {
    let mut row: Vec<usize> = Vec::with_capacity(tokens.len() + 1);
    row.push(0);
    for token in tokens {
        let before = row.last().copied().unwrap_or(0);
        row.push(before + skip_token(*token));
    }
    for c in name.chars() {
        // `diagonal` is the cell above and to the left of the current cell.
        let mut diagonal = row.first().copied().unwrap_or(0);
        let mut left = diagonal + EDIT_COST;
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
        Token::Literal(_) => EDIT_COST,
        Token::Star | Token::Gap => 0,
    }
}

fn skip_character(token: Token, c: char) -> usize {
    match token {
        Token::Star if c != '.' => 0,
        Token::Gap => 0,
        _ => EDIT_COST,
    }
}

fn replace(token: Token, c: char) -> usize {
    match token {
        Token::Literal(literal) if literal == c => 0,
        Token::Literal(literal) if literal.eq_ignore_ascii_case(&c) => HALF_EDIT_COST,
        Token::Literal('.') if c == '$' => HALF_EDIT_COST,
        Token::Literal(_) => EDIT_COST,
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

    fn suggestions(pattern: &str) -> Vec<String> {
        let pattern = MethodPattern::parse(pattern).expect(pattern);
        nearest(&pattern, NAMES.into_iter(), 2)
    }

    #[test]
    fn the_literal_part_decides() {
        assert_eq!(
            suggestions("*..JavaCompilr::parse(..)"),
            ["com.sun.tools.javac.main.JavaCompiler"]
        );
        assert_eq!(suggestions("route.Egde"), ["route.Edge"]);
        assert_eq!(suggestions("rout.Network::*"), ["route.Network"]);
        assert_eq!(
            suggestions("com.sun.tool.javac.parser..*")
                .first()
                .map(String::as_str),
            Some("com.sun.tools.javac.parser.JavacParser")
        );
    }

    #[test]
    fn a_missing_package_and_a_dot_for_a_dollar_cost_half_an_edit() {
        assert_eq!(
            suggestions("JavacParser").first().map(String::as_str),
            Some(NAMES[1])
        );
        assert_eq!(
            suggestions("route.network.station")
                .first()
                .map(String::as_str),
            Some("route.Network$Station")
        );
    }

    #[test]
    fn unrelated_names_are_not_suggested() {
        assert_eq!(suggestions("org.h2.engine.Database"), Vec::<String>::new());
    }

    #[test]
    fn a_dot_or_a_hash_may_stand_before_a_method() {
        let classes = [(
            "route.Network".to_owned(),
            ["find", "add", "<init>"].map(String::from).to_vec(),
        )];
        for (pattern, hint) in [
            (
                "route.Network.find",
                "did you mean `route.Network::find(..)`?",
            ),
            ("Network.find", "did you mean `route.Network::find(..)`?"),
            (
                "Network::find(..)",
                "did you mean `route.Network::find(..)`?",
            ),
            (
                "*..Network::fnd",
                "route.Network has no method `fnd`; it has find",
            ),
            (
                "Network::close()",
                "route.Network has no method `close`; it has <init>, add, find",
            ),
        ] {
            let pattern = MethodPattern::parse(pattern).expect(pattern);
            let meant = MeantMethod::from_pattern(&pattern).expect("a method");
            assert!(meant.may_be_in("route.Network"), "{pattern}");
            assert!(!meant.may_be_in("route.MyNetwork"), "{pattern}");
            assert_eq!(meant.hint(&classes).as_deref(), Some(hint));
            assert_eq!(meant.hint(&[]), None);
        }
        for pattern in [
            "route..*",
            "Network",
            "route.*::find(..)",
            "route.Network::*",
        ] {
            let pattern = MethodPattern::parse(pattern).expect(pattern);
            assert_eq!(MeantMethod::from_pattern(&pattern), None);
        }
    }

    #[test]
    fn words() {
        let words = ["counter", "timer", "log", "methods"];
        assert_eq!(nearest_words("countr", words.into_iter(), 1), ["counter"]);
        assert_eq!(nearest_words("Timer", words.into_iter(), 1), ["timer"]);
        assert!(nearest_words("zzz", words.into_iter(), 1).is_empty());
    }
}
