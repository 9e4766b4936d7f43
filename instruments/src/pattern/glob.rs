//! Words in which `*` matches any characters.

use veneer_text::matches_wildcard;

/// A word in which `*` matches any characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Glob(String);

impl Glob {
    pub(crate) fn new(text: &str) -> Self {
        Glob(text.to_owned())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn matches(&self, word: &str) -> bool {
        matches_wildcard(&self.0, word)
    }
}
