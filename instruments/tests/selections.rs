//! Selection by class properties: `selections.txt` lists patterns, classes, methods and results.

use veneer_instruments::{ClassMatch, ClassMetadata, MethodMetadata, MethodPattern, flag_words};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns the flags with these names. The function finds each flag by the name of its bit.
fn flags(words: &[String]) -> u16 {
    let bits = (0..16).map(|bit| 1 << bit);
    let named = bits.filter(|bit| flag_words(*bit).any(|word| words.iter().any(|w| w == word)));
    named.sum()
}

/// Parses the properties in a line: class, its annotations, its supertypes, method, its flags and
/// annotations.
fn facts(class: &str, of_class: &str, above: &str, method: &str, of_method: &str) -> ClassMetadata {
    let at = method.find('(').expect("a descriptor");
    let (annotations, flagged): (Vec<String>, Vec<String>) = words(of_method)
        .into_iter()
        .partition(|w| w.starts_with('@'));
    let mut supertypes = words(above);
    let complete = supertypes.last().is_none_or(|last| last != "?");
    supertypes.retain(|name| name != "?");
    let set = flags(&flagged);
    assert_eq!(set.count_ones() as usize, flagged.len(), "{of_method}");
    ClassMetadata {
        name: class.into(),
        flags: 0,
        annotations: words(of_class),
        supertypes,
        complete,
        methods: vec![MethodMetadata {
            name: method[..at].into(),
            descriptor: method[at..].into(),
            flags: set,
            annotations: annotations.iter().map(|a| a[1..].to_owned()).collect(),
            size: Some(1),
        }],
    }
}

#[test]
fn selections_are_as_listed() {
    let mut seen = 0;
    for (number, line) in include_str!("selections.txt").lines().enumerate() {
        if line.starts_with('#') {
            continue;
        }
        let number = number + 1;
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [text, class, of_class, above, method, of_method, expected] = fields[..] else {
            panic!("selections.txt:{number}: seven fields");
        };
        let pattern = MethodPattern::parse(text).unwrap_or_else(|e| panic!("{number}: {e}"));
        let facts = facts(class, of_class, above, method, of_method);
        let one = &facts.methods[0];
        let found = match pattern.match_class_metadata(&facts) {
            _ if !pattern.matches_method_metadata(one) => "no",
            ClassMatch::No => "no",
            ClassMatch::Maybe => "maybe",
            ClassMatch::Yes => "yes",
        };
        assert_eq!(found, expected, "selections.txt:{number}: {line}");
        let selected = pattern.selects(class, Some(&facts), &one.name, &one.descriptor);
        assert_eq!(selected, expected == "yes", "selections.txt:{number}");
        // If the full match selects a method, the match by names must accept it.
        if expected != "no" {
            assert!(pattern.matches(class, &one.name, &one.descriptor), "{line}");
        }
        // Without properties, a pattern that depends on more than names selects nothing.
        let blind = pattern.selects(class, None, &one.name, &one.descriptor);
        assert_eq!(
            blind,
            expected == "yes" && !pattern.needs_metadata(),
            "{line}"
        );
        let again = MethodPattern::parse(&pattern.to_string()).expect("its own text");
        assert_eq!(again, pattern, "selections.txt:{number}: {pattern}");
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn the_text_form_is_what_was_written() {
    for text in [
        "java.sql.Statement+::execute*(..)",
        "@org.junit.Test shop..*::*(..)",
        "@@*..RestController !@*..Get* static !public shop..*+::m(int, ..) -> *..List[]",
        "a.X::m -> void",
        "a.X::m-1() -> *",
        "!synchronized a.X+",
        // The marks are also valid class names.
        "static",
        "public::static",
    ] {
        assert_eq!(MethodPattern::parse(text).expect(text).to_string(), text);
    }
}

#[test]
fn patterns_beyond_names_need_class_metadata() {
    let asks = |text: &str| MethodPattern::parse(text).expect(text).needs_metadata();
    for text in [
        "a.I+",
        "@a.B *..*",
        "@@a.B *..*",
        "static a.X",
        "!public a.X",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in ["a.X::m(int) -> long", "a.I+J", "*..*", "static"] {
        assert!(!asks(text), "{text}");
    }
}

#[test]
fn annotations_require_a_mention_of_the_type() {
    let mentioned = ["a.Test".to_owned(), "b.Rest".to_owned()];
    let may = |text: &str| {
        let pattern = MethodPattern::parse(text).expect(text);
        (
            pattern.has_annotations(),
            pattern.may_be_annotated(&mentioned),
        )
    };
    assert_eq!(may("@*..Test *..*"), (true, true));
    assert_eq!(may("@@b.* @a.Test *..*"), (true, true));
    assert_eq!(may("@a.Get *..*"), (true, false));
    assert_eq!(may("@a.Test @a.Get *..*"), (true, false));
    // A negated annotation does not restrict the classes to read.
    assert_eq!(may("!@a.Get *..*"), (false, true));
    assert_eq!(may("a.I+"), (false, true));
}
