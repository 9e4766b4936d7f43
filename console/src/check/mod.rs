//! `veneer check`: lists what would be refused in the given classes, and checks that the code for
//! everything else is correct.
//!
//! ```text
//!   inputs ─▶ batches ─▶ class (parse, write, arm, emit; prove) ─▶ totals ─▶ show: tables or JSON
//!                        on all processors
//! ```
//!
//! Arming and emitting use the same code as the agent; no class is loaded. A class is a *failure*
//! if it cannot be parsed, if its bytes change when it is written, if the checker finds no proof,
//! or if a panic occurs. A *refusal* is not a failure.

mod class;
mod explain;
mod proof;
mod show;
mod totals;

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::cli::CheckArguments;
use crate::fragments::policy;
use crate::inputs::{self, NamedClass};
use crate::output::print_error;
use class::{Task, check_class};
use totals::CheckTotals;

/// Exit code if a class failed.
const CLASS_FAILED: u8 = 1;

/// Number of classes that are in memory at the same time.
const BATCH_CLASSES: usize = 512;

/// Checks the classes and returns the exit code.
pub fn run(arguments: CheckArguments) -> Result<u8> {
    let threads = arguments.jobs.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        // Analyses of huge methods recurse deeply.
        .stack_size(16 << 20)
        .build()
        .context("the threads for checking could not be started; try --jobs 1")?;
    class::record_panics();
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
    let mut sums: Vec<(String, CheckTotals)> = Vec::new();
    for path in &arguments.paths {
        let mut sum = CheckTotals::default();
        let mut batch: Vec<NamedClass> = Vec::new();
        let mut classes = match inputs::class_bytes_with_jdk(path, None, arguments.jdk.as_deref()) {
            Ok(classes) => classes,
            // An error in one path does not prevent checking the others.
            Err(error) => {
                progress.clear();
                print_error(&error);
                code = crate::exit_code::EXIT_FAILED;
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
                    print_error(&error);
                    code = crate::exit_code::EXIT_FAILED;
                }
                None => {}
            }
            if end || batch.len() >= BATCH_CLASSES {
                let done: Vec<CheckTotals> = pool.install(|| {
                    let each = batch.par_iter();
                    each.map(|(place, bytes)| check_class(place, bytes, &task))
                        .collect()
                });
                done.into_iter().for_each(|totals| sum.add(totals));
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
        code = CLASS_FAILED;
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
