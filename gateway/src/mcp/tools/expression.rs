//! Checks an expression of a question. The command puts it into a plan, between brackets of a call, so
//! a text that closes these brackets could call any function of plans, edits too.

/// Returns whether a text is one expression: outside strings its brackets are balanced, and it has no
/// statements, closures, comments or interpolated strings.
pub fn is_one_expression(text: &str) -> bool {
    let mut open = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' | '\'' if !ends_string(&mut characters, c) => return false,
            '(' => open.push(')'),
            '[' => open.push(']'),
            ')' | ']' if open.pop() != Some(c) => return false,
            ';' | '{' | '}' | '`' | '#' | '\n' | '\r' | '\\' => return false,
            // `||` is an operator, `|` begins a closure.
            '|' if characters.next_if_eq(&'|').is_none() => return false,
            '/' if matches!(characters.peek(), Some('/' | '*')) => return false,
            _ => {}
        }
    }
    open.is_empty() && !text.trim().is_empty()
}

/// Reads a string literal to its end. Returns whether it has one.
fn ends_string(characters: &mut impl Iterator<Item = char>, quote: char) -> bool {
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                characters.next();
            }
            '\n' | '\r' => return false,
            c if c == quote => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_questions_are_allowed() {
        for text in [
            "order.customer",
            "order.items.len > 30 && order.status == \"PAID\" || !done",
            "stack()",
            "class_of(exception)",
            "a[\"key)\"][3] / 2",
            "name == 'x' || name == \"a\\\"b\"",
            "thread_name()",
        ] {
            assert!(is_one_expression(text), "{text}");
        }
    }

    #[test]
    fn a_text_that_leaves_its_brackets_is_refused() {
        for text in [
            "",
            " ",
            "a)",
            "a); methods(\"B\").skip(1); (b",
            "a) + (b",
            "(a]",
            "(a",
            "a; b",
            "{ a }",
            "|p| p",
            "a | b",
            "a || |x| x",
            "a // b",
            "a /* b",
            "`${a}`",
            "#{a: 1}",
            "\"a",
            "'a\"",
            "a\nb",
        ] {
            assert!(!is_one_expression(text), "{text}");
        }
    }
}
