//! `veneer check`: what would be refused in these classes, and does everything else come out right?
//!
//! ```text
//!   inputs ─▶ batches ─▶ class (read, write, arm, emit; proof) ─▶ tally ─▶ show: tables or JSON
//!                        on all processors
//! ```
//!
//! The same code arms and emits as in the agent, and nothing is loaded. A class that cannot be read, that comes out otherwise,
//! for which the checker finds no proof, or at which something panics is a *failure*; a *refusal* is not.

mod class;
mod explain;
mod proof;
mod show;
mod tally;

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::cli::CheckArguments;
use crate::fragments::policy;
use crate::inputs::{self, NamedClass};
use crate::output::complain;
use class::{Task, examine};
use tally::Tally;

/// Exit code where a class failed.
const FAULTY: u8 = 1;

/// Classes that are in memory at once.
const BATCH: usize = 512;

/// Checks what was asked for and gives the exit code.
pub fn run(arguments: CheckArguments) -> Result<u8> {
    let threads = arguments.jobs.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        // Deep expressions make deep recursions in analyses of huge methods.
        .stack_size(16 << 20)
        .build()
        .context("the threads for checking could not be started; try --jobs 1")?;
    class::note_panics();
    let mut chosen: Vec<_> = arguments.policy.iter().flat_map(|p| p.0.clone()).collect();
    let mut seen = Vec::new();
    chosen.retain(|p| {
        !seen.contains(p) && {
            seen.push(*p);
            true
        }
    });
    let policies: Vec<_> = chosen.iter().map(|p| (p.name(), policy(*p))).collect();
    let task = Task {
        policies: &policies,
        edits: arguments.edits,
    };
    let mut progress = Progress::new();
    let mut code = 0;
    let mut sums: Vec<(String, Tally)> = Vec::new();
    for path in &arguments.paths {
        let mut sum = Tally::default();
        let mut batch: Vec<NamedClass> = Vec::new();
        let mut classes = match inputs::class_bytes_of(path, None, arguments.jdk.as_deref()) {
            Ok(classes) => classes,
            // The other paths are still worth a look.
            Err(error) => {
                progress.clear();
                complain(&error);
                code = crate::FAILED;
                continue;
            }
        };
        loop {
            let next = classes.next();
            let end = next.is_none();
            match next {
                Some(Ok(class)) => batch.push(class),
                Some(Err(error)) => {
                    progress.clear();
                    complain(&error);
                    code = crate::FAILED;
                }
                None => {}
            }
            if end || batch.len() >= BATCH {
                let done: Vec<Tally> = pool.install(|| {
                    let each = batch.par_iter();
                    each.map(|(place, bytes)| examine(place, bytes, &task))
                        .collect()
                });
                done.into_iter().for_each(|tally| sum.add(tally));
                progress.more(batch.len());
                batch.clear();
            }
            if end {
                break;
            }
        }
        sums.push((path.display().to_string(), sum));
    }
    progress.clear();
    if code == 0 && sums.iter().any(|(_, sum)| !sum.failures.is_empty()) {
        code = FAULTY;
    }
    if sums.is_empty() {
        return Ok(code);
    }
    let names: Vec<&str> = policies.iter().map(|p| p.0).collect();
    show::write(&names, sums, arguments.json)?;
    Ok(code)
}

/// A line on the terminal that says how far it is, once it has taken a second.
struct Progress {
    began: Instant,
    classes: usize,
    terminal: bool,
    shown: bool,
}

impl Progress {
    fn new() -> Progress {
        Progress {
            began: Instant::now(),
            classes: 0,
            terminal: std::io::stderr().is_terminal(),
            shown: false,
        }
    }

    fn more(&mut self, classes: usize) {
        self.classes += classes;
        if self.terminal && self.began.elapsed() > Duration::from_secs(1) {
            let rate = self.classes as f64 / self.began.elapsed().as_secs_f64();
            // A terminal that is gone needs no progress.
            let _ = write!(
                std::io::stderr(),
                "\r\x1b[K{} classes, {rate:.0} a second",
                self.classes
            );
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
