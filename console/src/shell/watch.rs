//! `:watch`: the table of an expression, drawn again each second until a key is pressed.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crossterm::cursor::{Hide, MoveToColumn, MoveUp, Show};
use crossterm::event::{self, Event, KeyEventKind};
use crossterm::terminal::{self, Clear, ClearType};
use crossterm::{execute, queue};

use super::conversation::{Conversation, Outcome};

/// Between two drawings.
const PERIOD: Duration = Duration::from_secs(1);

/// Draws it until a key is pressed, the expression fails, or the JVM ends; the last state stays on the screen.
pub fn run(conversation: &Conversation, expression: &str) -> Result<Outcome> {
    let _raw = Raw::enter().context("the terminal cannot be set up for :watch")?;
    let mut stdout = io::stdout().lock();
    let mut drawn = 0;
    loop {
        let begun = Instant::now();
        let rows = terminal::size().map_or(24, |(_, rows)| rows);
        // Its head, its last line, and the line below.
        let look = u32::from(rows.saturating_sub(4).max(1));
        let text = match conversation.input(None, expression, Default::default(), Some(look))? {
            Outcome::Done(text) => text,
            other => return Ok(other),
        };
        drawn = draw(&mut stdout, &text, drawn)?;
        loop {
            let left = PERIOD.saturating_sub(begun.elapsed());
            if !event::poll(left)? {
                break;
            }
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    return Ok(Outcome::Done(String::new()));
                }
                // Another size: what was drawn stands elsewhere now.
                Event::Resize(..) => drawn = 0,
                _ => {}
            }
        }
    }
}

/// Draws over what was drawn before, and gives how many lines there are now.
fn draw(to: &mut impl Write, text: &str, before: u16) -> io::Result<u16> {
    let (columns, rows) = terminal::size().unwrap_or((80, 24));
    if before > 0 {
        queue!(to, MoveUp(before), MoveToColumn(0))?;
    }
    queue!(to, Clear(ClearType::FromCursorDown))?;
    let mut lines = 0;
    for line in text.lines().take(usize::from(rows.saturating_sub(1))) {
        let shown: String = line.chars().take(usize::from(columns)).collect();
        write!(to, "{shown}\r\n")?;
        lines += 1;
    }
    to.flush()?;
    Ok(lines)
}

/// A terminal that gives each key at once; as it was when dropped.
struct Raw;

impl Raw {
    fn enter() -> io::Result<Raw> {
        terminal::enable_raw_mode()?;
        let raw = Raw;
        execute!(io::stdout(), Hide)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // What cannot be undone here cannot be told either.
        let _ = execute!(io::stdout(), Show);
        let _ = terminal::disable_raw_mode();
    }
}
