//! The terminal: taken over, drawn on, listened to, and given back whatever happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event as Happened};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::Session;
use super::keys::Key;
use super::model::Event;
use super::theme::Theme;
use super::view;
use crate::output::wants_colour;

/// How long a key is waited for before the screen is looked after again.
const WAIT: Duration = Duration::from_millis(100);

/// The terminal as long as it is ours. A panic gives it back too: `ratatui::try_init` sees to that.
struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    fn take() -> Result<Screen> {
        // Part of it may have been done.
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

/// Ends the process when its terminal is closed, also where SIGHUP is ignored (`nohup`): reading keys would not notice. The kernel
/// closes the connections, so the agent takes everything off; there is no terminal to be given back.
fn end_with_terminal() -> Result<()> {
    let watch = || {
        let mut terminal = libc::pollfd {
            fd: libc::STDOUT_FILENO,
            events: 0,
            revents: 0,
        };
        loop {
            // SAFETY: one entry, which lives as long as the call.
            let ready = unsafe { libc::poll(&mut terminal, 1, -1) };
            if ready > 0 {
                std::process::exit(0);
            }
        }
    };
    let thread = thread::Builder::new().name("terminal".into());
    thread.spawn(watch).context("no thread can be started")?;
    Ok(())
}

/// Shows the view until it is to end.
pub fn run(session: &mut Session) -> Result<()> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, end.clone()).context("signals cannot be caught")?;
    }
    end_with_terminal()?;
    let theme = Theme {
        colour: wants_colour(),
    };
    let mut screen = Screen::take()?;
    loop {
        session.listen(Duration::ZERO);
        if end.load(Ordering::Relaxed) || session.model.end.is_some() {
            return Ok(());
        }
        let draw = |frame: &mut ratatui::Frame| view::draw(frame, &session.model, theme);
        screen
            .terminal
            .draw(draw)
            .context("the terminal cannot be written to")?;
        let mut wait = WAIT;
        while event::poll(wait).context("the terminal cannot be read")? {
            wait = Duration::ZERO;
            if let Happened::Key(pressed) = event::read().context("the terminal cannot be read")?
                && let Some(key) = Key::of(&pressed)
                && session.update(Event::Key(key))
            {
                return Ok(());
            }
        }
    }
}
