//! What the lines are that the script engine speaks of: those of a plan, or of all inputs at a prompt.
//!
//! ```text
//!   engine's line   1   let c = methods("…").before(counter());    shell:1
//!                   2   fn half(x) {                               shell:2
//!                   3       x / 2 }                                shell:3
//!                   4   let top = 5;                               hot.rhai:1     a file that was loaded at the prompt
//! ```
//!
//! Inputs at a prompt share one sequence of lines. So an error in a function or a callback that came an hour earlier is shown
//! where it stands, and not in the input that happens to run.

use rhai::Position;
use std::sync::Arc;

/// A text that was read at once.
#[derive(Debug)]
struct Piece {
    /// What messages call it.
    name: String,
    text: String,
    /// The engine's number of its first line.
    first: usize,
    /// The same for people.
    shown: usize,
    /// Of a module: how the names begin that the engine has for what is in it.
    id: Option<String>,
}

/// See the module documentation. Cloning copies no text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    pieces: Vec<Arc<Piece>>,
}

impl Transcript {
    /// Of a plan.
    #[cfg(test)]
    pub(crate) fn of(name: &str, text: &str) -> Self {
        Transcript::default().with(name, text, Some(1))
    }

    /// The same with one more text, whose first line has this number for people; as in the sequence where there is none.
    pub(crate) fn with(&self, name: &str, text: &str, shown: Option<usize>) -> Self {
        let mut longer = self.clone();
        let shown = shown.unwrap_or_else(|| longer.next_shown());
        longer.push(name, text, shown, None);
        longer
    }

    /// The same with the text of a module, for whose names the engine has some that begin so.
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

    /// The engine's number of the first line that comes next.
    pub(crate) fn next_line(&self) -> usize {
        self.pieces
            .last()
            .map_or(1, |last| last.first + last.text.lines().count().max(1))
    }

    /// The number for people of the first line that comes next. They do not count the lines of modules.
    fn next_shown(&self) -> usize {
        let typed = self.pieces.iter().filter(|piece| piece.id.is_none());
        1 + typed
            .map(|piece| piece.text.lines().count().max(1))
            .sum::<usize>()
    }

    /// Bytes of all texts.
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

    /// The newest text, moved down to where the engine is to find it.
    pub(crate) fn in_place(&self) -> String {
        let above = self.pieces.last().map_or(0, |last| last.first - 1);
        let mut moved = "\n".repeat(above);
        moved.push_str(self.text());
        moved
    }

    /// A message with the names that people gave in place of those that the engine has.
    pub(crate) fn plain(&self, message: &str) -> String {
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

    /// What holds this position: the text's name, the line for people (0: none), and the line itself.
    pub(crate) fn find(&self, position: Position) -> (&str, usize, Option<&str>) {
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
    fn positions_lead_back_to_the_text_that_has_them() {
        let all = Transcript::of("shell", "let a = 1;")
            .with("shell", "fn half(x) {\n  x / 2 }\n", None)
            .with("hot.rhai", "let top = 5;\nlet low = 1;", Some(1))
            .with("shell", "a", None);
        let at = |line| all.find(Position::new(line, 1));
        assert_eq!(at(1), ("shell", 1, Some("let a = 1;")));
        assert_eq!(at(3), ("shell", 3, Some("  x / 2 }")));
        assert_eq!(at(5), ("hot.rhai", 2, Some("let low = 1;")));
        assert_eq!(at(6), ("shell", 6, Some("a")));
        assert_eq!(all.find(Position::NONE), ("shell", 0, None));
        assert_eq!(all.in_place(), "\n\n\n\n\na");
        assert_eq!((all.next_line(), all.bytes()), (7, 10 + 23 + 25 + 1));
    }

    #[test]
    fn messages_have_the_names_that_people_gave() {
        let all = Transcript::default()
            .with_module("plans/lib/desks.rhai", "", "veneer_m1")
            .with("plans/hot.rhai", "", Some(1));
        assert_eq!(
            all.plain(
                "no `veneer_m1_show` (veneer_m1::watch, veneer_m1_global::TOP, veneer_m12_a)"
            ),
            "no `show` (desks::watch, global::TOP, veneer_m12_a)"
        );
        assert_eq!(all.name(), "plans/hot.rhai");
    }
}
