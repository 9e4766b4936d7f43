//! Random texts and random valid descriptors, compared with a recogniser that follows the grammar
//! of JVMS §4.3 letter by letter.

use proptest::prelude::*;
use veneer_names::{
    ClassName, FieldDescriptor, MethodDescriptor, MethodRef, internal_form, java_form, raw,
    type_descriptor,
};

/// A part of a class name: any characters but the forbidden ones.
fn part() -> impl Strategy<Value = String> {
    "[^./;\\[]{1,5}"
}

fn class_name() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 1..4).prop_map(|parts| parts.join("/"))
}

fn field() -> impl Strategy<Value = String> {
    let element = prop_oneof![
        "[ZBCSIJFD]",
        class_name().prop_map(|name| format!("L{name};"))
    ];
    (0..4usize, element).prop_map(|(dimensions, element)| "[".repeat(dimensions) + &element)
}

fn result() -> impl Strategy<Value = String> {
    prop_oneof![Just("V".to_owned()), field()]
}

/// Texts of the characters that have a meaning in descriptors, so that many are almost valid.
fn noise() -> impl Strategy<Value = String> {
    "[()\\[;/.LIJVaä]{0,12}"
}

/// The rest of a text after one field descriptor, by the grammar.
fn after_field(text: &[char]) -> Option<&[char]> {
    match text {
        ['[', rest @ ..] => after_field(rest),
        ['Z' | 'B' | 'C' | 'S' | 'I' | 'J' | 'F' | 'D', rest @ ..] => Some(rest),
        ['L', rest @ ..] => {
            let end = rest.iter().position(|c| *c == ';')?;
            let name: String = rest[..end].iter().collect();
            let sound = |part: &str| !part.is_empty() && !part.contains(['.', '[']);
            name.split('/').all(sound).then_some(&rest[end + 1..])
        }
        _ => None,
    }
}

fn is_method_descriptor(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let ['(', rest @ ..] = &characters[..] else {
        return false;
    };
    let mut rest = rest;
    while !rest.starts_with(&[')']) {
        match after_field(rest) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest[1..] == ['V'] || after_field(&rest[1..]).is_some_and(<[char]>::is_empty)
}

proptest! {
    #[test]
    fn valid_descriptors_are_split_into_their_types(
        parameters in prop::collection::vec(field(), 0..6),
        result in result(),
    ) {
        let text = format!("({}){result}", parameters.concat());
        let descriptor = MethodDescriptor::parse(&text).expect(&text);
        let found: Vec<&str> = descriptor.parameters().map(|p| p.as_str()).collect();
        prop_assert_eq!(&found, &parameters);
        prop_assert_eq!(descriptor.result_text(), &result);
        let wide = parameters.iter().filter(|p| ["J", "D"].contains(&p.as_str())).count();
        prop_assert_eq!(usize::from(descriptor.slots()), parameters.len() + wide);
        let bytes: Vec<&[u8]> = raw::parameters(text.as_bytes()).collect();
        prop_assert_eq!(bytes, parameters.iter().map(|p| p.as_bytes()).collect::<Vec<_>>());
        prop_assert_eq!(raw::result(text.as_bytes()), result.as_bytes());
        let erased = descriptor.erased();
        let again = MethodDescriptor::parse(&erased).expect(&erased);
        prop_assert_eq!(again.slots(), descriptor.slots());
        prop_assert_eq!(again.erased(), erased.as_str());
    }

    #[test]
    fn the_parsers_accept_what_the_grammar_accepts(text in noise()) {
        let characters: Vec<char> = text.chars().collect();
        let is_field = after_field(&characters).is_some_and(<[char]>::is_empty);
        prop_assert_eq!(FieldDescriptor::parse(&text).is_ok(), is_field);
        prop_assert_eq!(MethodDescriptor::parse(&text).is_ok(), is_method_descriptor(&text));
    }

    #[test]
    fn arbitrary_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let length: usize = raw::parameters(&bytes).map(<[u8]>::len).sum();
        prop_assert!(length <= bytes.len());
        raw::result(&bytes);
        raw::parameter_slots(&bytes);
    }

    #[test]
    fn a_method_reference_reads_back_its_parts(
        name in "[^.;/<>\\[]{1,6}",
        parameters in prop::collection::vec(field(), 0..3),
    ) {
        let descriptor = format!("({})V", parameters.concat());
        let text = format!("{name}{descriptor}");
        let method = MethodRef::parse(&text).expect(&text);
        prop_assert_eq!(method.to_string(), text.as_str());
        // A name may itself end like the beginning of a descriptor.
        if !name.contains('(') {
            prop_assert_eq!((method.name, method.descriptor.as_str()), (&*name, &*descriptor));
        }
    }

    #[test]
    fn class_names_change_their_form_and_back(name in class_name()) {
        let class = ClassName::parse(&name).expect(&name);
        prop_assert_eq!(internal_form(class.java_form().as_str()), name.as_str());
        prop_assert_eq!(java_form(class.as_str()), class.java_form().to_string());
        let descriptor = type_descriptor(class.as_str());
        prop_assert_eq!(FieldDescriptor::parse(&descriptor).unwrap().class(), Some(&*name));
    }
}
