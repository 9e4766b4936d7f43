//! Keys and the actions that they trigger.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that has a meaning in this view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PressedKey {
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

impl PressedKey {
    /// Converts a terminal event. Returns `None` for keys without a meaning and for key releases.
    pub fn from_event(event: &KeyEvent) -> Option<PressedKey> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        if event.modifiers.contains(KeyModifiers::CONTROL) {
            return match event.code {
                KeyCode::Char('c') => Some(PressedKey::Interrupt),
                KeyCode::Char('h') => Some(PressedKey::Backspace),
                _ => None,
            };
        }
        Some(match event.code {
            KeyCode::Char(letter) => PressedKey::Letter(letter),
            KeyCode::Enter => PressedKey::Enter,
            KeyCode::Esc => PressedKey::Escape,
            KeyCode::Backspace => PressedKey::Backspace,
            KeyCode::Up => PressedKey::Up,
            KeyCode::Down => PressedKey::Down,
            KeyCode::Left => PressedKey::Left,
            KeyCode::Right => PressedKey::Right,
            KeyCode::PageUp => PressedKey::PageUp,
            KeyCode::PageDown => PressedKey::PageDown,
            KeyCode::Home => PressedKey::Home,
            KeyCode::End => PressedKey::End,
            _ => return None,
        })
    }
}

/// An action in the table of methods or among the fragments of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserAction {
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

impl UserAction {
    /// Returns the action of a key. `inside` is true if the fragments of a method are shown.
    pub fn for_key(key: PressedKey, inside: bool) -> UserAction {
        match key {
            PressedKey::Letter('q') => UserAction::Quit,
            PressedKey::Letter('?') => UserAction::Help,
            PressedKey::Up | PressedKey::Letter('k') => UserAction::Move(-1),
            PressedKey::Down | PressedKey::Letter('j') => UserAction::Move(1),
            PressedKey::PageUp => UserAction::Move(-PAGE_ROWS),
            PressedKey::PageDown => UserAction::Move(PAGE_ROWS),
            PressedKey::Home => UserAction::Move(-ALL_ROWS),
            PressedKey::End => UserAction::Move(ALL_ROWS),
            PressedKey::Enter | PressedKey::Right => UserAction::Open,
            PressedKey::Escape | PressedKey::Left | PressedKey::Backspace => UserAction::Back,
            PressedKey::Letter('o') if inside => UserAction::Hottest,
            PressedKey::Letter('o') => UserAction::Sort,
            PressedKey::Letter('r') if !inside => UserAction::Reverse,
            PressedKey::Letter('/') if !inside => UserAction::Filter,
            PressedKey::Letter(' ') => UserAction::Pause,
            PressedKey::Letter('s') => UserAction::Save { text: false },
            PressedKey::Letter('S') => UserAction::Save { text: true },
            PressedKey::Letter('c') => UserAction::Counter,
            PressedKey::Letter('t') => UserAction::Timer,
            PressedKey::Letter('w') => UserAction::Watch,
            PressedKey::Letter('d') => UserAction::Detach,
            PressedKey::Letter('D') => UserAction::DetachAll,
            _ => UserAction::None,
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
        assert_eq!(
            PressedKey::from_event(&event),
            Some(PressedKey::Letter('c'))
        );
        event.modifiers = KeyModifiers::CONTROL;
        assert_eq!(PressedKey::from_event(&event), Some(PressedKey::Interrupt));
        event.kind = KeyEventKind::Release;
        assert_eq!(PressedKey::from_event(&event), None);
        assert_eq!(PressedKey::from_event(&KeyCode::F(1).into()), None);
    }

    #[test]
    fn keys_have_other_actions_in_an_open_method() {
        assert_eq!(
            UserAction::for_key(PressedKey::Letter('o'), false),
            UserAction::Sort
        );
        assert_eq!(
            UserAction::for_key(PressedKey::Letter('o'), true),
            UserAction::Hottest
        );
        assert_eq!(
            UserAction::for_key(PressedKey::Letter('/'), true),
            UserAction::None
        );
    }
}
