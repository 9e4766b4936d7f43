//! Pattern tests as data: `patterns.txt` lists matches, `pattern_errors.txt` lists errors and
//! columns.

use veneer_instruments::MethodPattern;

/// Returns the lines of a data file with their numbers and `|`-separated fields.
fn records(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines().enumerate().filter_map(|(i, line)| {
        let data = !line.starts_with('#') && !line.is_empty();
        data.then(|| (i + 1, line.split('|').map(str::trim).collect()))
    })
}

#[test]
fn patterns_match_as_listed() {
    let mut seen = 0;
    for (line, fields) in records(include_str!("patterns.txt")) {
        let [text, class, method, descriptor, expected] = fields[..] else {
            panic!("patterns.txt:{line}: five fields");
        };
        let pattern = MethodPattern::parse(text).unwrap_or_else(|e| panic!("{line}: {e}"));
        let found = if pattern.matches(class, method, descriptor) {
            "yes"
        } else {
            "no"
        };
        assert_eq!(
            found, expected,
            "patterns.txt:{line}: {text} on {class}::{method}{descriptor}"
        );

        // The text form and the serialised form parse to the same pattern.
        let again = MethodPattern::parse(&pattern.to_string()).expect("its own text");
        assert_eq!(again, pattern, "patterns.txt:{line}");
        let json = serde_json::to_string(&pattern).expect("json");
        assert_eq!(json, format!("\"{pattern}\""));
        assert_eq!(
            serde_json::from_str::<MethodPattern>(&json).expect("json"),
            pattern
        );
        seen += 1;
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn the_text_form_is_what_was_written() {
    for text in [
        "com.sun.tools.javac.parser..*::*(..)",
        "*..JavaCompiler::parse(int, .., *..String[][])",
        "a.*..Outer$Inner::<init>()",
        "*..*",
        "a.X::m",
        "a.X",
        "*..* except org.h2..*, *..Proxy*",
        "a.X::m(..) -> int except b.*",
    ] {
        assert_eq!(MethodPattern::parse(text).expect(text).to_string(), text);
    }
}

#[test]
fn errors_name_the_column() {
    for (line, fields) in records(include_str!("pattern_errors.txt")) {
        let [text, column, message] = fields[..] else {
            panic!("pattern_errors.txt:{line}: three fields");
        };
        let error = MethodPattern::parse(text).expect_err(text);
        assert_eq!(
            error.column.to_string(),
            column,
            "pattern_errors.txt:{line}: {error}"
        );
        let shown = error.to_string();
        assert!(
            shown.contains(message),
            "pattern_errors.txt:{line}: {shown}"
        );
        assert!(
            shown.starts_with(&format!("pattern `{text}`, column {column}: ")),
            "{shown}"
        );
    }
}

#[test]
fn an_exception_can_be_added_to_a_pattern() {
    let mut pattern = MethodPattern::parse("@a.T *..*::m").expect("a pattern");
    pattern.add_exception("a.b..*").expect("a class");
    pattern.add_exception("c.D, e.F").expect("two classes");
    assert_eq!(pattern.to_string(), "@a.T *..*::m except a.b..*, c.D, e.F");
    assert!(pattern.matches("c.G", "m", "()V") && !pattern.matches("e.F", "m", "()V"));
    let error = pattern.add_exception("a.b::m").expect_err("no class");
    assert_eq!(error.column, 4, "{error}");
}
