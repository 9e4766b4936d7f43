//! The colours of the view. Without colours (`NO_COLOR`), bold, dim and reversed text is used
//! instead.

use ratatui::style::{Color, Modifier, Style};

/// The style of all parts of the view.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
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

    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Text of secondary importance.
    pub fn faint(self) -> Style {
        self.with(Color::DarkGray, Modifier::DIM)
    }

    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub fn bad(self) -> Style {
        self.with(Color::Red, Modifier::BOLD)
    }

    /// Marks of attached instruments.
    pub fn attached(self) -> Style {
        self.with(Color::Green, Modifier::BOLD)
    }

    /// A measurement, by its share of the largest one.
    pub fn heat(self, part: f64) -> Style {
        match part {
            p if p >= 0.5 => self.with(Color::Red, Modifier::BOLD),
            p if p >= 0.1 => self.with(Color::Yellow, Modifier::empty()),
            p if p > 0.0 => Style::new(),
            _ => self.faint(),
        }
    }
}
