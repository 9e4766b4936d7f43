//! The source map: translates the engine's line numbers to files and lines, for a plan with its
//! modules or for all inputs of a prompt.
//!
//! ```text
//!   engine's line   1   let c = methods("…").before(counter());    shell:1
//!                   2   fn half(x) {                               shell:2
//!                   3       x / 2 }                                shell:3
//!                   4   let top = 5;                               hot.rhai:1  (a loaded file)
//! ```
//!
//! All texts share one sequence of line numbers. An error in a function or callback from an earlier
//! input is therefore shown in the text that defines the function, and not in the input that is
//! running.

use rhai::Position;
use std::sync::Arc;

/// One source text.
#[derive(Debug)]
struct Piece {
    /// The name in messages.
    name: String,
    text: String,
    /// The engine's number of the first line.
    first: usize,
    /// The number of the first line in messages.
    shown: usize,
    /// For a module: the prefix of the names that the linker has generated for its contents.
    id: Option<String>,
}

/// The source texts, in the order of their engine lines. Cloning copies no text.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceMap {
    pieces: Vec<Arc<Piece>>,
}

impl SourceMap {
    /// Creates a source map with one text.
    #[cfg(test)]
    pub(crate) fn from_text(name: &str, text: &str) -> Self {
        SourceMap::default().with_text(name, text, Some(1))
    }

    /// Returns a source map with one more text. `shown` is the number of its first line in
    /// messages; `None` continues the numbers of the previous texts.
    pub(crate) fn with_text(&self, name: &str, text: &str, shown: Option<usize>) -> Self {
        let mut longer = self.clone();
        let shown = shown.unwrap_or_else(|| longer.next_shown());
        longer.push(name, text, shown, None);
        longer
    }

    /// Returns a source map with the text of a module. `id` is the prefix of the module's names in
    /// the engine.
    pub(crate) fn with_module(&self, name: &str, text: &str, id: &str) -> Self {
        let mut longer = self.clone();
        longer.push(name, text, 1, Some(id.to_owned()));
        longer
    }

    fn push(&mut self, name: &str, text: &str, shown: usize, id: Option<String>) {
        self.pieces.push(Arc::new(Piece {
            name: name.to_owned(),
            text: text.to_owned(),
            first: self.next_line(),
            shown,
            id,
        }));
    }

    /// The engine's number of the line after the last text.
    pub(crate) fn next_line(&self) -> usize {
        self.pieces
            .last()
            .map_or(1, |last| last.first + last.text.lines().count().max(1))
    }

    /// The number in messages of the line after the last text. Lines of modules do not count.
    fn next_shown(&self) -> usize {
        let typed = self.pieces.iter().filter(|piece| piece.id.is_none());
        1 + typed
            .map(|piece| piece.text.lines().count().max(1))
            .sum::<usize>()
    }

    /// The total size of all texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.len()).sum()
    }

    /// The name of the newest text.
    pub(crate) fn name(&self) -> &str {
        self.pieces.last().map_or("", |last| last.name.as_str())
    }

    /// The newest text.
    pub(crate) fn text(&self) -> &str {
        self.pieces.last().map_or("", |last| last.text.as_str())
    }

    /// The newest text after empty lines, so that the engine counts its lines from `first`.
    pub(crate) fn padded_text(&self) -> String {
        let above = self.pieces.last().map_or(0, |last| last.first - 1);
        let mut moved = "\n".repeat(above);
        moved.push_str(self.text());
        moved
    }

    /// Replaces the engine's names in a message by the names that the user has written.
    pub(crate) fn restore_names(&self, message: &str) -> String {
        let mut plain = message.to_owned();
        for piece in &self.pieces {
            let Some(id) = piece.id.as_ref().filter(|id| plain.contains(*id)) else {
                continue;
            };
            let file = piece.name.rsplit('/').next().unwrap_or_default();
            let module = file.strip_suffix(".rhai").unwrap_or(file);
            plain = plain
                .replace(&format!("{id}_global::"), "global::")
                .replace(&format!("{id}::"), &format!("{module}::"))
                .replace(&format!("{id}_"), "");
        }
        plain
    }

    /// Returns the text's name, the line number in messages (0 if unknown), and the source line of
    /// a position.
    pub(crate) fn locate(&self, position: Position) -> (&str, usize, Option<&str>) {
        let Some(line) = position.line() else {
            return (self.name(), 0, None);
        };
        let above = self.pieces.partition_point(|piece| piece.first <= line);
        let Some(piece) = above.checked_sub(1).and_then(|n| self.pieces.get(n)) else {
            return (self.name(), line, None);
        };
        let within = line - piece.first;
        (
            &piece.name,
            piece.shown + within,
            piece.text.lines().nth(within),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_mapped_to_their_texts() {
        let all = SourceMap::from_text("shell", "let a = 1;")
            .with_text("shell", "fn half(x) {\n  x / 2 }\n", None)
            .with_text("hot.rhai", "let top = 5;\nlet low = 1;", Some(1))
            .with_text("shell", "a", None);
        let at = |line| all.locate(Position::new(line, 1));
        assert_eq!(at(1), ("shell", 1, Some("let a = 1;")));
        assert_eq!(at(3), ("shell", 3, Some("  x / 2 }")));
        assert_eq!(at(5), ("hot.rhai", 2, Some("let low = 1;")));
        assert_eq!(at(6), ("shell", 6, Some("a")));
        assert_eq!(all.locate(Position::NONE), ("shell", 0, None));
        assert_eq!(all.padded_text(), "\n\n\n\n\na");
        assert_eq!((all.next_line(), all.bytes()), (7, 10 + 23 + 25 + 1));
    }

    #[test]
    fn messages_have_the_names_that_users_wrote() {
        let all = SourceMap::default()
            .with_module("plans/lib/desks.rhai", "", "veneer_m1")
            .with_text("plans/hot.rhai", "", Some(1));
        assert_eq!(
            all.restore_names(
                "no `veneer_m1_show` (veneer_m1::watch, veneer_m1_global::TOP, veneer_m12_a)"
            ),
            "no `show` (desks::watch, global::TOP, veneer_m12_a)"
        );
        assert_eq!(all.name(), "plans/hot.rhai");
    }
}
