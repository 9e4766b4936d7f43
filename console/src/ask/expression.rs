//! Translates expressions of the command line into Rhai: `order.user.name` becomes the plan code
//! `p["order"]["user"]["name"]`.
//!
//! Names denote variables of the measured method. They are translated to strings in brackets, so
//! that a variable may have the name of a Rhai keyword.

/// Translates an expression for a plan whose point has the name `p`.
pub fn to_plan_expression(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' | '`' => quoted(rest, first),
            c if c.is_ascii_digit() => length_of(rest, |c| c.is_alphanumeric() || c == '_'),
            c if starts_name(c) => length_of(rest, |c| c.is_alphanumeric() || c == '_' || c == '$'),
            c => c.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        if starts_name(first) {
            name(&mut out, word, behind);
        } else {
            out.push_str(word);
        }
        rest = behind;
    }
    out
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

fn name(out: &mut String, word: &str, behind: &str) {
    let before = out.trim_end().len();
    let is_field = out[..before].ends_with('.') && !out[..before].ends_with("..");
    let is_call = behind.trim_start().starts_with('(');
    match word {
        _ if is_call => out.push_str(word),
        _ if is_field => {
            out.truncate(before - 1);
            *out += &format!("[\"{word}\"]");
        }
        "true" | "false" => out.push_str(word),
        "null" => out.push_str("()"),
        "this" => out.push_str("p.self"),
        _ => *out += &format!("p[\"{word}\"]"),
    }
}

#[cfg(test)]
mod tests {
    use super::to_plan_expression;

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
}
