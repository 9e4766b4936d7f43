//! Colours, or none: where `NO_COLOR` is set, bold, dim and reversed text must do.

use ratatui::style::{Color, Modifier, Style};

/// See the module documentation.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// With colours.
    pub colour: bool,
}

impl Theme {
    fn with(self, colour: Color, otherwise: Modifier) -> Style {
        match self.colour {
            true => Style::new().fg(colour),
            false => Style::new().add_modifier(otherwise),
        }
    }

    /// The line at the top.
    pub fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Titles of columns.
    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What matters less.
    pub fn faint(self) -> Style {
        self.with(Color::DarkGray, Modifier::DIM)
    }

    /// The selected row.
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What went wrong.
    pub fn bad(self) -> Style {
        self.with(Color::Red, Modifier::BOLD)
    }

    /// What is attached.
    pub fn attached(self) -> Style {
        self.with(Color::Green, Modifier::BOLD)
    }

    /// Figures, by their part of the greatest.
    pub fn heat(self, part: f64) -> Style {
        match part {
            p if p >= 0.5 => self.with(Color::Red, Modifier::BOLD),
            p if p >= 0.1 => self.with(Color::Yellow, Modifier::empty()),
            p if p > 0.0 => Style::new(),
            _ => self.faint(),
        }
    }
}
