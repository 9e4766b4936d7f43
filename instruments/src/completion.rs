//! Completion of class names in a pattern that a user types.

/// Completes `text` to the name `class`, up to the next dot of the name. If `text` is the beginning
/// of the simple class name, returns the whole name. Returns `None` if `text` is the beginning of
/// neither.
pub fn complete_class_name(class: &str, text: &str) -> Option<String> {
    if let Some(rest) = class.strip_prefix(text) {
        let end = rest
            .find('.')
            .map_or(class.len(), |dot| text.len() + dot + 1);
        return class.get(..end).map(str::to_owned);
    }
    let simple = class.rsplit('.').next().unwrap_or(class);
    let by_simple = !text.is_empty() && !text.contains('.') && simple.starts_with(text);
    by_simple.then(|| class.to_owned())
}

#[cfg(test)]
mod tests {
    use super::complete_class_name;

    #[test]
    fn a_name_is_completed_up_to_its_next_dot() {
        for (text, expected) in [
            ("", Some("shop.")),
            ("sh", Some("shop.")),
            ("shop.", Some("shop.Desk$Drawer")),
            ("shop.Desk$", Some("shop.Desk$Drawer")),
            ("Des", Some("shop.Desk$Drawer")),
            ("esk", None),
            ("shop.x", None),
        ] {
            let found = complete_class_name("shop.Desk$Drawer", text);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
