//! The driver of a search in a running JVM: samples by thread dumps, lists of compiled methods, and
//! the end of each window.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use veneer_client::Target;
use veneer_client::attach_command::AttachCommandError;
use veneer_client::compiled_methods::compiled_methods;
use veneer_client::thread_dump::thread_dump;
use veneer_search::Search;
use veneer_search::cause::Cause;
use veneer_search::observation::{Fact, Observation};
use veneer_search::replay::answer_without_probes;

use super::progress::Progress;
use super::recorder::Recorder;
use super::samples::Sampler;
use crate::dumps::pauses::Pauses;

/// The length of a window.
const WINDOW: Duration = Duration::from_millis(100);
/// The longest wait between two looks at signals.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The time of the first list of compiled methods, and the interval between two lists.
const FIRST_LIST: Duration = Duration::from_secs(1);
const LIST_INTERVAL: Duration = Duration::from_secs(1);
/// The share of the pauses above which the evidence mentions collections.
const MENTIONED_COLLECTIONS: f64 = 0.01;

/// The end that a driver waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchLength {
    /// The search takes this long. The result says if the JVM ended before.
    Time(Duration),
    /// The search takes until the JVM ends.
    UntilJvmEnds,
}

/// The search and its view of one JVM.
pub struct Driver {
    target: Target,
    search: Search,
    recorder: Option<Recorder>,
    sampler: Sampler,
    pauses: Pauses,
    begin: Instant,
    window_began: Instant,
    /// Whether a sample was taken in the current window.
    has_samples: bool,
    hertz: f64,
    /// The number of active threads in the last dump.
    active: u64,
    /// The time since the beginning at which the driver asks for compiled methods.
    next_list: Duration,
    /// Why the JVM does not list compiled methods.
    list_refused: Option<String>,
}

/// Takes one dump, which shows whether a JVM can be searched. The attach listener that this dump
/// starts is no cost of the samples.
///
/// # Errors
/// The JVM does not answer.
pub fn take_first_dump(target: &Target) -> Result<(), AttachCommandError> {
    thread_dump(target).map(drop)
}

impl Driver {
    /// Begins a search in a JVM that answers.
    pub fn begin(
        target: Target,
        search: Search,
        recorder: Option<Recorder>,
        threads: Option<String>,
    ) -> Driver {
        let now = Instant::now();
        Driver {
            pauses: Pauses::begin(&target),
            target,
            search,
            recorder,
            sampler: Sampler::new(threads),
            begin: now,
            window_began: now,
            has_samples: false,
            hertz: 0.0,
            active: 0,
            next_list: FIRST_LIST,
            list_refused: None,
        }
    }

    /// Drives the search until its length is over, `stopped` is set, or the JVM ends.
    pub fn drive(&mut self, length: SearchLength, stopped: &AtomicBool, progress: &mut Progress) {
        let mut last_dump: Option<Instant> = None;
        self.answer();
        while !self.is_over(length) && !stopped.load(Ordering::Relaxed) {
            let interval = Duration::try_from_secs_f64(1.0 / self.hertz).unwrap_or(Duration::MAX);
            if last_dump.is_none_or(|last| last.elapsed() >= interval) {
                last_dump = Some(Instant::now());
                if let Err(error) = self.sample() {
                    self.end(length, &error);
                    break;
                }
            }
            if self.window_began.elapsed() >= WINDOW {
                self.list_compiled();
                self.end_window();
                progress.show(self.begin.elapsed(), &self.search);
            }
            let window_end = WINDOW.saturating_sub(self.window_began.elapsed());
            thread::sleep(POLL_INTERVAL.min(window_end));
        }
        // The last window is shorter than the others. Its samples are as good as theirs.
        if self.has_samples && self.search.is_running() {
            self.end_window();
        }
        progress.clear();
    }

    fn is_over(&self, length: SearchLength) -> bool {
        match length {
            SearchLength::Time(time) => self.begin.elapsed() >= time,
            SearchLength::UntilJvmEnds => false,
        }
    }

    /// Notes that the JVM does not answer any more. If the search is to take until the JVM's end,
    /// that end is no event of the search.
    fn end(&mut self, length: SearchLength, error: &AttachCommandError) {
        if self.has_samples {
            self.end_window();
        }
        let has_ended = !self.target.is_alive();
        if has_ended && length == SearchLength::UntilJvmEnds {
            return;
        }
        let reason = if has_ended {
            "the JVM ended".to_owned()
        } else {
            error.to_string()
        };
        self.observe(Observation::Ended { reason });
    }

    /// Gives an observation to the search and to the record.
    fn observe(&mut self, observation: Observation) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&observation);
        }
        self.search.observe(observation);
    }

    fn end_window(&mut self) {
        let now = Instant::now();
        let nanos = nanos(now - self.window_began);
        self.window_began = now;
        self.has_samples = false;
        self.observe(Observation::WindowEnd {
            nanos,
            active_nanos: nanos.saturating_mul(self.active),
        });
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
        self.answer();
    }

    fn answer(&mut self) {
        if let Some(hertz) = answer_without_probes(&mut self.search) {
            self.hertz = hertz;
        }
    }

    /// Takes one dump.
    fn sample(&mut self) -> Result<(), AttachCommandError> {
        let asked = Instant::now();
        let threads = thread_dump(&self.target)?;
        let pause = self.pauses.next(&self.target, asked);
        let at = self.begin.elapsed();
        let found = self.sampler.convert(&threads, at, pause.collections);
        self.active = found.active;
        self.has_samples = true;
        for name in found.names {
            self.observe(name);
        }
        self.observe(Observation::Stacks {
            samples: found.samples,
            cost_nanos: pause.cost_nanos(found.active),
        });
        Ok(())
    }

    /// Asks which methods have compiled code, if that can change a cause.
    fn list_compiled(&mut self) {
        let at = self.begin.elapsed();
        if at < self.next_list || self.list_refused.is_some() || !self.sampler.needs_compiled() {
            return;
        }
        let asked = Instant::now();
        match compiled_methods(&self.target) {
            Ok(methods) => self.sampler.set_compiled(methods),
            // A JVM that has ended has not refused the list.
            Err(_) if !self.target.is_alive() => return,
            Err(error) => self.list_refused = Some(error.to_string()),
        }
        let pause = self.pauses.next(&self.target, asked);
        // The lists may use the part of the ceiling on cost that samples leave.
        let settings = self.search.settings();
        let share = settings.max_cost * (1.0 - settings.samples_part);
        let interval = Duration::try_from_secs_f64(pause.stopped.as_secs_f64() / share);
        let interval = LIST_INTERVAL.max(interval.unwrap_or(Duration::MAX));
        self.next_list = self.begin.elapsed().saturating_add(interval);
        let nanos = pause.cost_nanos(self.active);
        self.observe(Observation::Overhead { nanos });
    }

    /// The search as it is now.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Gives a fact to the search and to the record.
    pub fn add_fact(&mut self, fact: Fact) {
        self.observe(Observation::Fact(fact));
    }

    /// Ends the record, and returns the search with all facts.
    ///
    /// # Errors
    /// The record could not be written. The search is complete all the same.
    pub fn finish(mut self) -> (Search, anyhow::Result<()>) {
        for fact in self.sampler.facts() {
            self.observe(Observation::Fact(fact));
        }
        for fact in self.program_facts() {
            self.observe(Observation::Fact(fact));
        }
        if !self.pauses.are_known() {
            let reason = "collections: the JVM keeps no performance counters (-XX:-UsePerfData)";
            self.observe(Observation::NotSeen {
                cause: Cause::Collections,
                reason: reason.to_owned(),
            });
        }
        if let Some(reason) = self.list_refused.take() {
            self.observe(Observation::NotSeen {
                cause: Cause::Interpreted,
                reason: format!("interpreted code: {reason}"),
            });
        }
        let recorded = self.recorder.map_or(Ok(()), Recorder::finish);
        (self.search, recorded)
    }

    /// Returns the facts about the whole program.
    fn program_facts(&self) -> Vec<Fact> {
        let fact = |causes: &[Cause], source: &str, text: String| Fact {
            method: None,
            line: None,
            causes: causes.to_vec(),
            source: source.to_owned(),
            text,
            locality: None,
        };
        let mut all = Vec::new();
        let collections = self.pauses.collections();
        if collections > MENTIONED_COLLECTIONS {
            let share = collections * 100.0;
            let text = format!("collections stopped the program for {share:.0} % of the time");
            let causes = [Cause::Allocation, Cause::Collections];
            all.push(fact(&causes, "collections", text));
        }
        let text = "the JVM has no compiled code of the method; it compiles no method of more than 8,000 bytes";
        all.push(fact(&[Cause::Interpreted], "compiler", text.to_owned()));
        all
    }
}

/// Returns a duration in nanoseconds, at most the largest number.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
