//! Translates expressions of the command line into Rhai: `order.user.name` becomes the plan code
//! `p["order"]["user"]["name"]`.
//!
//! Names denote variables of the measured method. They are translated to strings in brackets, so
//! that a variable may have the name of a Rhai keyword.

/// The name in an expression that means the duration of the call, in milliseconds.
pub const ELAPSED: &str = "elapsed";
/// The name in an expression that means the value that the call returns.
pub const RESULT: &str = "result";
/// The name in an expression that means the exception that ends the call: whether there is one, its class,
/// or its fields.
pub const EXCEPTION: &str = "exception";

/// An expression as a plan has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The plan code.
    pub code: String,
    /// For each word, its column in the plan code and its column in the expression that the user
    /// typed. Columns count characters from 0 and ascend.
    pub marks: Vec<(usize, usize)>,
}

impl Translation {
    /// Appends a word to the plan code. `typed` is the column of the word in the expression.
    fn push(&mut self, word: &str, typed: usize) {
        self.marks.push((self.code.chars().count(), typed));
        self.code.push_str(word);
    }

    /// The column in the expression that belongs to a column of the plan code.
    pub fn typed_column(&self, column: usize) -> usize {
        let before = self.marks.partition_point(|(at, _)| *at <= column);
        let mark = before.checked_sub(1).and_then(|n| self.marks.get(n));
        mark.map_or(0, |(_, typed)| *typed)
    }
}

impl Translation {
    /// The translation as an argument of `describe`, which shows objects as text.
    pub fn described(self) -> Translation {
        const BEGIN: &str = "describe(";
        let marks = self.marks.into_iter();
        Translation {
            code: format!("{BEGIN}{})", self.code),
            marks: marks.map(|(at, typed)| (at + BEGIN.len(), typed)).collect(),
        }
    }
}

/// Translates an expression for a plan whose point has the name `p`.
pub fn to_plan_expression(text: &str) -> String {
    translate(text).code
}

/// Translates an expression for a plan whose point has the name `p`.
pub fn translate(text: &str) -> Translation {
    let mut out = Translation::default();
    for word in words(text) {
        if word.is_name {
            name(&mut out, &word);
        } else {
            out.push(word.text, word.column);
        }
    }
    out
}

/// Translates an expression for code at the exits of a method, which reads no variable of the
/// method. `kept` returns the name of the variable of the code that holds the value of a path such as
/// `order.user`. The names [`ELAPSED`] and [`EXCEPTION`] stay, and [`RESULT`] and the fields of an
/// exception are read at the point.
pub fn translate_at_exit(text: &str, kept: &mut dyn FnMut(&str) -> String) -> Translation {
    let mut out = Translation::default();
    let all: Vec<Word> = words(text).collect();
    let mut next = 0;
    while let Some(word) = all.get(next) {
        next += 1;
        let is_variable = word.is_name && !word.is_call() && !is_constant(word.text);
        let has_steps = all.get(next..).and_then(step_length).is_some();
        if !is_variable || word.text == ELAPSED || word.text == EXCEPTION && !has_steps {
            let code = if word.text == "null" && word.is_name {
                "()"
            } else {
                word.text
            };
            out.push(code, word.column);
            continue;
        }
        // The path ends before the first word that is neither a field nor an element.
        let mut end = word.end();
        while let Some(length) = all.get(next..).and_then(step_length) {
            next += length;
            end = all.get(next - 1).map_or(end, Word::end);
        }
        let path = text.get(word.begin..end).unwrap_or(word.text);
        let code = match word.text {
            RESULT | EXCEPTION => to_plan_expression(path),
            _ => kept(path),
        };
        out.push(&code, word.column);
    }
    out
}

/// Whether an expression has a variable of this name.
pub fn reads(text: &str, name: &str) -> bool {
    words(text)
        .any(|word| word.is_name && word.text == name && !word.follows_dot && !word.is_call())
}

/// Whether an expression depends on the end of the call.
pub fn reads_exit(text: &str) -> bool {
    [ELAPSED, RESULT, EXCEPTION]
        .iter()
        .any(|name| reads(text, name))
}

/// The parts of a condition that are joined by `&&` outside of parentheses.
pub fn conjuncts(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0usize);
    let all: Vec<Word> = words(text).collect();
    let has_or = all
        .windows(2)
        .any(|two| two[0].text == "|" && two[1].text == "|");
    if has_or {
        // `a || b && c` means `a || (b && c)`, so the condition is one part.
        return vec![text.trim()];
    }
    for two in all.windows(2) {
        match two[0].text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "&" if depth == 0 && two[1].text == "&" && two[0].begin >= begin => {
                parts.push(text.get(begin..two[0].begin).unwrap_or_default().trim());
                begin = two[1].end();
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..).unwrap_or_default().trim());
    parts
}

/// A word of an expression: a name, a number, a quoted string, or one other character.
#[derive(Clone, Copy, Debug)]
struct Word<'t> {
    text: &'t str,
    /// The first byte of the word in the expression.
    begin: usize,
    /// The column of the word, in characters from 0.
    column: usize,
    is_name: bool,
    /// Whether the word is the name of a field: it follows one dot.
    follows_dot: bool,
    /// The text after the word.
    behind: &'t str,
}

impl Word<'_> {
    fn end(&self) -> usize {
        self.begin + self.text.len()
    }

    fn is_call(&self) -> bool {
        self.behind.trim_start().starts_with('(')
    }
}

fn is_constant(word: &str) -> bool {
    ["true", "false", "null"].contains(&word)
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let (mut begin, mut column) = (0, 0);
    std::iter::from_fn(move || {
        let rest = text.get(begin..)?;
        let first = rest.chars().next()?;
        let length = match first {
            '"' | '\'' | '`' => quoted(rest, first),
            c if c.is_ascii_digit() => length_of(rest, |c| c.is_alphanumeric() || c == '_'),
            c if starts_name(c) => length_of(rest, |c| c.is_alphanumeric() || c == '_' || c == '$'),
            c => c.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        let before = text.get(..begin).unwrap_or_default().trim_end();
        let found = Word {
            text: word,
            begin,
            column,
            is_name: starts_name(first),
            follows_dot: before.ends_with('.') && !before.ends_with(".."),
            behind,
        };
        begin += length;
        column += word.chars().count();
        Some(found)
    })
}

/// The number of words of a field access or an element access at the beginning of `words`; `None` if
/// they begin with something else.
fn step_length(words: &[Word]) -> Option<usize> {
    let is_space = |word: &&Word| word.text.chars().all(char::is_whitespace);
    let spaces = words.iter().take_while(is_space).count();
    let rest = words.get(spaces..)?;
    match rest.first()?.text {
        "." => {
            let inner = rest.get(1..)?.iter().take_while(is_space).count();
            let name = rest.get(1 + inner)?;
            (name.is_name && !name.is_call()).then_some(spaces + 2 + inner)
        }
        "[" => {
            let mut depth = 0usize;
            let end = rest.iter().position(|word| {
                match word.text {
                    "[" => depth += 1,
                    "]" => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            Some(spaces + end? + 1)
        }
        _ => None,
    }
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// The length of a quoted string in bytes, quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn name(out: &mut Translation, word: &Word) {
    let text = word.text;
    let code = match text {
        _ if word.is_call() => text.to_owned(),
        _ if word.follows_dot => {
            let dot = out.code.trim_end().len() - 1;
            out.code.truncate(dot);
            let length = out.code.chars().count();
            out.marks.retain(|(at, _)| *at < length);
            format!("[\"{text}\"]")
        }
        "true" | "false" => text.to_owned(),
        "null" => "()".to_owned(),
        "this" => "p.self".to_owned(),
        _ => format!("p[\"{text}\"]"),
    };
    out.push(&code, word.column);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_variables_of_the_point() {
        for (typed, plan) in [
            ("total", "p[\"total\"]"),
            ("order.user.name", "p[\"order\"][\"user\"][\"name\"]"),
            ("this.match > 1.5e3", "p.self[\"match\"] > 1.5e3"),
            ("parts[i].len", "p[\"parts\"][p[\"i\"]][\"len\"]"),
            (
                "name == \"a.b \\\" c\" || done",
                "p[\"name\"] == \"a.b \\\" c\" || p[\"done\"]",
            ),
            ("name.starts_with(\"x\")", "p[\"name\"].starts_with(\"x\")"),
            ("class_of(this) != null", "class_of(p.self) != ()"),
            ("!true & x0", "!true & p[\"x0\"]"),
            ("thread_name()", "thread_name()"),
            ("\"open", "\"open"),
        ] {
            assert_eq!(to_plan_expression(typed), plan, "{typed}");
        }
    }

    #[test]
    fn a_column_of_the_plan_leads_to_the_word_that_was_typed() {
        let translated = translate("order.user > limit");
        let column = |part: &str| translated.code.find(part).unwrap();
        for (part, typed) in [("order", 0), ("user", 6), ("> ", 11), ("limit", 13)] {
            assert_eq!(translated.typed_column(column(part)), typed, "{part}");
        }
    }

    #[test]
    fn a_described_expression_keeps_its_columns() {
        let described = translate("order.user").described();
        assert_eq!(described.code, "describe(p[\"order\"][\"user\"])");
        let column = described.code.find("[\"user").unwrap();
        assert_eq!(described.typed_column(column), 6);
    }

    #[test]
    fn at_an_exit_paths_are_kept_values() {
        for (typed, code, paths) in [
            ("elapsed > 10", "elapsed > 10", &[][..]),
            (
                "elapsed > order.limit[i + 1].ms && paid",
                "elapsed > v0 && v1",
                &["order.limit[i + 1].ms", "paid"],
            ),
            (
                "this . name == null || \"elapsed\" == x",
                "v0 == () || \"elapsed\" == v1",
                &["this . name", "x"],
            ),
            (
                "result.total > limit || exception",
                "p[\"result\"][\"total\"] > v0 || exception",
                &["limit"],
            ),
            (
                "exception.detailMessage == name",
                "p[\"exception\"][\"detailMessage\"] == v0",
                &["name"],
            ),
            ("one_in(3) && a.b.len", "one_in(3) && v0", &["a.b.len"]),
        ] {
            let mut seen = Vec::new();
            let translated = translate_at_exit(typed, &mut |path| {
                seen.push(path.to_owned());
                format!("v{}", seen.len() - 1)
            });
            assert_eq!(translated.code, code, "{typed}");
            assert_eq!(seen, paths, "{typed}");
        }
    }

    #[test]
    fn a_condition_is_split_at_and() {
        assert_eq!(
            conjuncts("elapsed > 3 && c == \"a && b\""),
            ["elapsed > 3", "c == \"a && b\""]
        );
        assert_eq!(conjuncts("(a && b)"), ["(a && b)"]);
        assert_eq!(conjuncts("a || b && c"), ["a || b && c"]);
        assert_eq!(conjuncts("a & b && c"), ["a & b", "c"]);
    }

    #[test]
    fn only_three_variables_depend_on_the_exit() {
        for text in ["n + elapsed > 3", "!exception", "result == null"] {
            assert!(reads_exit(text), "{text}");
        }
        for other in ["order.elapsed", "\"elapsed\"", "elapsed2"] {
            assert!(!reads_exit(other), "{other}");
        }
    }
}
