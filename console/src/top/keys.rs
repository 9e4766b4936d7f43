//! Keys and the actions that they trigger.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that has a meaning in this view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Letter(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    /// The Home key: first row.
    Home,
    /// The End key: last row.
    End,
    /// Ctrl-C, which ends the view in every mode.
    Interrupt,
}

impl Key {
    /// Converts a terminal event. Returns `None` for keys without a meaning and for key releases.
    pub fn from_event(event: &KeyEvent) -> Option<Key> {
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

/// An action in the table of methods or among the fragments of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    None,
    Quit,
    /// Show all keys.
    Help,
    /// Move the selection down by this number of rows, or up if negative.
    Move(isize),
    /// Show the fragments of the selected method.
    Open,
    /// Return to the table of methods. In the table of methods: remove the filter.
    Back,
    /// Select the block with the most passes.
    Hottest,
    /// Sort by the next column.
    Sort,
    /// Reverse the order.
    Reverse,
    /// Begin typing a filter.
    Filter,
    /// Freeze the displayed measurements, or continue.
    Pause,
    /// Write the whole state to a file.
    Save {
        /// As text instead of JSON.
        text: bool,
    },
    /// Attach a counter to the selected row, or detach it.
    Counter,
    /// Attach a timer to the selected row, or detach it.
    Timer,
    /// Attach a watch to the selected row, or detach it.
    Watch,
    /// Detach the instruments at the selected row.
    Detach,
    /// Detach all instruments that keys have attached.
    DetachAll,
}

/// Number of rows of a page.
const PAGE_ROWS: isize = 10;
/// More rows than any table has.
const ALL_ROWS: isize = 1 << 40;

impl Action {
    /// Returns the action of a key. `inside` is true if the fragments of a method are shown.
    pub fn for_key(key: Key, inside: bool) -> Action {
        match key {
            Key::Letter('q') => Action::Quit,
            Key::Letter('?') => Action::Help,
            Key::Up | Key::Letter('k') => Action::Move(-1),
            Key::Down | Key::Letter('j') => Action::Move(1),
            Key::PageUp => Action::Move(-PAGE_ROWS),
            Key::PageDown => Action::Move(PAGE_ROWS),
            Key::Home => Action::Move(-ALL_ROWS),
            Key::End => Action::Move(ALL_ROWS),
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

/// All keys with their descriptions, for the help.
pub const HELP: &[(&str, &str)] = &[
    ("↑ ↓ k j PgUp PgDn Home End", "select"),
    ("Enter →", "show the fragments of the selected method"),
    ("Esc ←", "return to the methods; there: remove the filter"),
    ("c", "attach a counter; again: detach"),
    ("t", "attach a timer, callees included; again: detach"),
    ("w", "attach a watch of variables; again: detach"),
    ("d", "detach what c, t and w attached here"),
    ("D", "detach all that c, t and w attached"),
    ("o", "sort by the next column; inside: to the hottest"),
    ("r", "reverse the order"),
    ("/", "show only methods with this in their names"),
    ("space", "freeze the measurements, or continue"),
    ("s S", "write everything to a file, JSON or text"),
    ("q Ctrl-C", "end and detach everything"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_releases_are_ignored() {
        let mut event = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        assert_eq!(Key::from_event(&event), Some(Key::Letter('c')));
        event.modifiers = KeyModifiers::CONTROL;
        assert_eq!(Key::from_event(&event), Some(Key::Interrupt));
        event.kind = KeyEventKind::Release;
        assert_eq!(Key::from_event(&event), None);
        assert_eq!(Key::from_event(&KeyCode::F(1).into()), None);
    }

    #[test]
    fn keys_have_other_actions_in_an_open_method() {
        assert_eq!(Action::for_key(Key::Letter('o'), false), Action::Sort);
        assert_eq!(Action::for_key(Key::Letter('o'), true), Action::Hottest);
        assert_eq!(Action::for_key(Key::Letter('/'), true), Action::None);
    }
}
