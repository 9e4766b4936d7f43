//! Words of commands, as a user types them.

/// A word in single quotes, unless a shell takes it as it is.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-./_,:=@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_other_characters_is_quoted() {
        assert_eq!(shell_word("/tmp/a_b-1.calls"), "/tmp/a_b-1.calls");
        assert_eq!(shell_word("shop..*"), "'shop..*'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
