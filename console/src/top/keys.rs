//! What keys mean.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Letter(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// The first row.
    Home,
    /// The last row.
    End,
    /// Ctrl-C.
    Interrupt,
}

impl Key {
    /// What was pressed; none where it means nothing here, or was let go.
    pub fn of(event: &KeyEvent) -> Option<Key> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        if event.modifiers.contains(KeyModifiers::CONTROL) {
            return match event.code {
                KeyCode::Char('c') => Some(Key::Interrupt),
                KeyCode::Char('h') => Some(Key::Backspace),
                _ => None,
            };
        }
        Some(match event.code {
            KeyCode::Char(letter) => Key::Letter(letter),
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Escape,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::PageUp => Key::PageUp,
            KeyCode::PageDown => Key::PageDown,
            KeyCode::Home => Key::Home,
            KeyCode::End => Key::End,
            _ => return None,
        })
    }
}

/// What is asked for by a key in the view itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// End.
    Quit,
    /// Show all keys.
    Help,
    /// Select the row so many further down.
    Move(isize),
    /// Look into the selected method.
    Open,
    /// Back to the methods; there, drop the filter.
    Back,
    /// Select the hottest fragment.
    Hottest,
    /// Sort by the next column.
    Sort,
    /// Sort the other way round.
    Reverse,
    /// Type a filter.
    Filter,
    /// Let figures stand still, or go on.
    Pause,
    /// Write everything to a file.
    Save {
        /// As text.
        text: bool,
    },
    /// A counter on what is selected, on or off.
    Counter,
    /// A timer.
    Timer,
    /// A watch.
    Watch,
    /// Take off what is attached to what is selected.
    Detach,
    /// Take off everything that was attached by keys.
    DetachAll,
}

/// Rows of a page.
const PAGE: isize = 10;
/// More rows than there are.
const ALL: isize = 1 << 40;

impl Action {
    /// Of a key among the methods, or inside a method.
    pub fn of(key: Key, inside: bool) -> Action {
        match key {
            Key::Letter('q') => Action::Quit,
            Key::Letter('?') => Action::Help,
            Key::Up | Key::Letter('k') => Action::Move(-1),
            Key::Down | Key::Letter('j') => Action::Move(1),
            Key::PageUp => Action::Move(-PAGE),
            Key::PageDown => Action::Move(PAGE),
            Key::Home => Action::Move(-ALL),
            Key::End => Action::Move(ALL),
            Key::Enter | Key::Right => Action::Open,
            Key::Escape | Key::Left | Key::Backspace => Action::Back,
            Key::Letter('o') if inside => Action::Hottest,
            Key::Letter('o') => Action::Sort,
            Key::Letter('r') if !inside => Action::Reverse,
            Key::Letter('/') if !inside => Action::Filter,
            Key::Letter(' ') => Action::Pause,
            Key::Letter('s') => Action::Save { text: false },
            Key::Letter('S') => Action::Save { text: true },
            Key::Letter('c') => Action::Counter,
            Key::Letter('t') => Action::Timer,
            Key::Letter('w') => Action::Watch,
            Key::Letter('d') => Action::Detach,
            Key::Letter('D') => Action::DetachAll,
            _ => Action::None,
        }
    }
}

/// All keys and what they do, for the help.
pub const HELP: &[(&str, &str)] = &[
    ("↑ ↓ k j PgUp PgDn Home End", "select"),
    ("Enter →", "the fragments of the selected method"),
    ("Esc ←", "back to the methods; there: no filter"),
    ("c", "a counter here, from now on; again: off"),
    ("t", "a timer here, callees included; again: off"),
    ("w", "the values of variables here; again: off"),
    ("d", "take off what c, t and w attached here"),
    ("D", "take off all that they attached anywhere"),
    ("o", "sort by the next column; inside: to the hottest"),
    ("r", "the other way round"),
    ("/", "only methods with this in their names"),
    ("space", "figures stand still, and go on"),
    ("s S", "write everything to a file, JSON or text"),
    ("q Ctrl-C", "end; everything is taken off"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_counts_when_it_is_pressed() {
        let mut event = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        assert_eq!(Key::of(&event), Some(Key::Letter('c')));
        event.modifiers = KeyModifiers::CONTROL;
        assert_eq!(Key::of(&event), Some(Key::Interrupt));
        event.kind = KeyEventKind::Release;
        assert_eq!(Key::of(&event), None);
        assert_eq!(Key::of(&KeyCode::F(1).into()), None);
    }

    #[test]
    fn letters_of_the_table_mean_other_things_inside() {
        assert_eq!(Action::of(Key::Letter('o'), false), Action::Sort);
        assert_eq!(Action::of(Key::Letter('o'), true), Action::Hottest);
        assert_eq!(Action::of(Key::Letter('/'), true), Action::None);
    }
}
