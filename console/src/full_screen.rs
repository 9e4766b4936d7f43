//! A terminal that is switched to full screen, and restored however the command ends.

use std::io;
use std::ops::{Deref, DerefMut};
use std::thread;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use rustix::event::{PollFd, PollFlags, poll};

/// Owns the full-screen terminal and restores it when dropped. `ratatui::try_init` installs a hook
/// that also restores the terminal after a panic.
pub struct FullScreen {
    terminal: DefaultTerminal,
}

impl FullScreen {
    /// Takes over the terminal. `otherwise` is the option that needs none.
    ///
    /// # Errors
    /// There is no terminal, or it cannot be changed.
    pub fn enter(otherwise: &str) -> Result<FullScreen> {
        // If initialisation failed halfway, `restore` undoes the part that was done.
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore());
        let terminal = terminal
            .with_context(|| format!("the terminal cannot be taken over; use {otherwise}"))?;
        Ok(FullScreen { terminal })
    }
}

impl Deref for FullScreen {
    type Target = DefaultTerminal;

    fn deref(&self) -> &DefaultTerminal {
        &self.terminal
    }
}

impl DerefMut for FullScreen {
    fn deref_mut(&mut self) -> &mut DefaultTerminal {
        &mut self.terminal
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Starts a thread that ends the process when its terminal is closed. Reading keys would not notice
/// that if SIGHUP is ignored (`nohup`). When the process ends, the kernel closes the connections,
/// so the agent detaches everything. There is no terminal left to restore.
///
/// # Errors
/// No thread can be started.
pub fn end_with_terminal() -> Result<()> {
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
