//! The terminal: drawn on, and read for keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::crossterm::event::{self, Event as TerminalEvent};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::keys::PressedKey;
use super::model::ModelEvent;
use super::session::TopSession;
use super::theme::Theme;
use super::view;
use crate::full_screen::{FullScreen, end_with_terminal};
use crate::output::wants_colour;

/// How long to wait for a key before the screen is drawn again.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Shows the view until it ends.
pub fn run(session: &mut TopSession) -> Result<()> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, end.clone()).context("signals cannot be caught")?;
    }
    end_with_terminal()?;
    let theme = Theme {
        colour: wants_colour(),
    };
    let mut screen = FullScreen::enter("--once")?;
    loop {
        session.process_events(Duration::ZERO);
        if end.load(Ordering::Relaxed) || session.model.end.is_some() {
            return Ok(());
        }
        let draw = |frame: &mut ratatui::Frame| view::draw(frame, &session.model, theme);
        screen
            .draw(draw)
            .context("the terminal cannot be written to")?;
        let mut wait = REDRAW_INTERVAL;
        while event::poll(wait).context("the terminal cannot be read")? {
            wait = Duration::ZERO;
            if let TerminalEvent::Key(pressed) =
                event::read().context("the terminal cannot be read")?
                && let Some(key) = PressedKey::from_event(&pressed)
                && session.update(ModelEvent::Key(key))
            {
                return Ok(());
            }
        }
    }
}
