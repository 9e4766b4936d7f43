//! `:watch`: draws the table of an expression every second until a key is pressed.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crossterm::cursor::{Hide, MoveToColumn, MoveUp, Show};
use crossterm::event::{self, Event, KeyEventKind};
use crossterm::terminal::{self, Clear, ClearType};
use crossterm::{execute, queue};
use veneer_text::{longest_prefix, replace_control_characters};

use super::conversation::{InputOutcome, ShellConnection};

/// Interval between two drawings.
const REDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// Draws the value until a key is pressed, the expression fails, or the JVM ends. The last drawing
/// stays on the screen.
pub fn run(conversation: &ShellConnection, expression: &str) -> Result<InputOutcome> {
    let _raw = RawMode::enter().context("the terminal cannot be set up for :watch")?;
    let mut stdout = io::stdout().lock();
    let mut drawn = 0;
    loop {
        let begun = Instant::now();
        let rows = terminal::size().map_or(24, |(_, rows)| rows);
        // Four rows are needed for the head and the last line of the table and for the line below.
        let table_rows = u32::from(rows.saturating_sub(4).max(1));
        let text =
            match conversation.input(None, expression, Default::default(), Some(table_rows))? {
                InputOutcome::Done(text) => text,
                other => return Ok(other),
            };
        drawn = draw(&mut stdout, &text, drawn)?;
        loop {
            let left = REDRAW_INTERVAL.saturating_sub(begun.elapsed());
            if !event::poll(left)? {
                break;
            }
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    return Ok(InputOutcome::Done(String::new()));
                }
                // After a change of the terminal's size, the old drawing is at an unknown position,
                // so the next one does not replace it.
                Event::Resize(..) => drawn = 0,
                _ => {}
            }
        }
    }
}

/// Draws over the previous drawing and returns the number of lines drawn.
fn draw(to: &mut impl Write, text: &str, before: u16) -> io::Result<u16> {
    let (columns, rows) = terminal::size().unwrap_or((80, 24));
    if before > 0 {
        queue!(to, MoveUp(before), MoveToColumn(0))?;
    }
    queue!(to, Clear(ClearType::FromCursorDown))?;
    let mut lines = 0;
    for line in text.lines().take(usize::from(rows.saturating_sub(1))) {
        let line = replace_control_characters(line);
        let shown = longest_prefix(&line, usize::from(columns));
        write!(to, "{shown}\r\n")?;
        lines += 1;
    }
    to.flush()?;
    Ok(lines)
}

/// Sets the terminal to raw mode, in which each key is available immediately. Dropping it restores
/// the terminal.
struct RawMode;

impl RawMode {
    fn enter() -> io::Result<RawMode> {
        terminal::enable_raw_mode()?;
        let raw = RawMode;
        execute!(io::stdout(), Hide)?;
        Ok(raw)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // If the terminal cannot be restored, the failure cannot be reported either.
        let _ = execute!(io::stdout(), Show);
        let _ = terminal::disable_raw_mode();
    }
}
