//! The terminal: switched to full screen, drawn on, read for keys, and restored however the view
//! ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event as TerminalEvent};
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::keys::PressedKey;
use super::model::ModelEvent;
use super::session::TopSession;
use super::theme::Theme;
use super::view;
use crate::output::wants_colour;

/// How long to wait for a key before the screen is drawn again.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Owns the full-screen terminal and restores it when dropped. `ratatui::try_init` installs a hook
/// that also restores the terminal after a panic.
struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    fn enter() -> Result<Screen> {
        // If initialisation failed halfway, `restore` undoes the part that was done.
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore());
        let terminal = terminal.context("the terminal cannot be taken over; use --once")?;
        Ok(Screen { terminal })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Starts a thread that ends the process when its terminal is closed. Reading keys would not notice
/// that if SIGHUP is ignored (`nohup`). When the process ends, the kernel closes the connections,
/// so the agent detaches everything. There is no terminal left to restore.
fn end_with_terminal() -> Result<()> {
    let watch = || {
        let stdout = io::stdout();
        loop {
            let mut terminal = [PollFd::new(&stdout, PollFlags::empty())];
            if poll(&mut terminal, None).is_ok_and(|ready| ready > 0) {
                std::process::exit(0);
            }
        }
    };
    let thread = thread::Builder::new().name("terminal".into());
    thread.spawn(watch).context("no thread can be started")?;
    Ok(())
}

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
    let mut screen = Screen::enter()?;
    loop {
        session.process_events(Duration::ZERO);
        if end.load(Ordering::Relaxed) || session.model.end.is_some() {
            return Ok(());
        }
        let draw = |frame: &mut ratatui::Frame| view::draw(frame, &session.model, theme);
        screen
            .terminal
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
