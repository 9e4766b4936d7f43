//! `veneer top`: a full-screen view of the hottest methods of a running JVM and of their fragments.
//! Keys attach instruments.
//!
//! ```text
//!   terminal ─ keys ─▶ model ─ effects ─▶ feed ═ one connection for each plan ═▶ agent
//!                        ▲                  │
//!                        └──── events ──────┘        view: model ─▶ lines on the screen
//! ```
//!
//! The model depends neither on the terminal nor on the agent. Each instrument has its own
//! connection and is held on a lease. The agent therefore detaches it however this process ends.

mod cost;
mod events;
mod feed;
mod keys;
mod layout;
mod location;
mod measurements;
mod methods;
mod model;
mod open_method;
mod packages;
mod picker;
mod plain;
mod plan;
mod probe;
mod save;
mod screen;
mod text;
mod theme;
mod view;

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use veneer_client::Target;

use crate::cli::TopArguments;
use crate::exec;
use crate::output::complain;
use events::{Channel, FeedEvent};
use feed::{Feed, Job};
use model::{Effect, End, Event, Model};

/// Runs the view until `q`, the end of the JVM, or the end of the given time.
pub fn run(arguments: TopArguments) -> Result<u8> {
    // The process id is checked before the terminal is switched to the full screen. An error
    // message is then printed below the command that the user typed.
    Target::inspect(arguments.pid)?;
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let on_screen = terminal && !arguments.once && !arguments.json;
    let every = match on_screen {
        true => arguments.every,
        // The interval is at most the total time, so that there is a second sample. Rates are
        // calculated from two samples.
        false => arguments.every.min(plain::seconds(&arguments)),
    };
    let mut session = Session::begin(&arguments, every);
    if on_screen {
        screen::run(&mut session)?;
    } else {
        plain::run(&mut session, &arguments)?;
    }
    let pid = arguments.pid;
    match std::mem::take(&mut session.model.end) {
        None => Ok(0),
        Some(End::JvmEnded) => {
            let seconds = session.began.elapsed().as_secs();
            complain(&format!(
                "process {pid} has ended; it was watched for {seconds} s"
            ));
            Ok(0)
        }
        Some(End::Refused(message)) => {
            complain(&explain_refusal(&message, &arguments));
            Ok(exec::PROGRAM_FAILED)
        }
        Some(End::ConnectionLost(message)) => {
            complain(&message);
            Ok(crate::FAILED)
        }
    }
}

/// Explains why the agent refused the counters, without naming functions of a plan that the user
/// did not write.
fn explain_refusal(message: &str, arguments: &TopArguments) -> String {
    let TopArguments { pid, limit, .. } = arguments;
    match message.contains("methods(…).limit(") {
        true => format!(
            "process {pid} has more than {limit} such methods; name fewer (veneer top {pid} 'com.shop..*'), or allow more with --limit"
        ),
        false => message.to_owned(),
    }
}

/// The model, and the connections that it controls.
struct Session {
    model: Model,
    feed: Feed,
    feed_events: Receiver<FeedEvent>,
    began: Instant,
    /// Interval between two samples, in seconds.
    every: f64,
    last_cost_sample: Option<Instant>,
}

impl Session {
    fn begin(arguments: &TopArguments, every: f64) -> Session {
        let (sender, feed_events) = channel();
        let mut feed = Feed::new(arguments.pid, every, sender);
        let patterns = arguments.pattern.as_ref().map(|p| vec![p.clone()]);
        let scope = match &arguments.pattern {
            Some(pattern) => format!("of {pattern}"),
            None => "outside the JDK".to_owned(),
        };
        let limit = arguments.limit;
        feed.open(Channel::Calls, Job::Calls { patterns, limit });
        Session {
            model: Model::new(arguments.pid, &scope),
            feed,
            feed_events,
            began: Instant::now(),
            every,
            last_cost_sample: None,
        }
    }

    /// Passes all pending events to the model. If there are none, waits for the first one, but no
    /// longer than `wait`.
    fn process_events(&mut self, wait: Duration) {
        self.update(Event::Tick(self.began.elapsed()));
        let due = self
            .last_cost_sample
            .is_none_or(|at| at.elapsed().as_secs_f64() >= self.every);
        if due && let Some(ns) = cost::processor_time(self.model.pid) {
            self.last_cost_sample = Some(Instant::now());
            self.update(Event::Processor(ns));
        }
        let mut next = match wait.is_zero() {
            true => self.feed_events.try_recv().ok(),
            false => self.feed_events.recv_timeout(wait).ok(),
        };
        while let Some(event) = next {
            self.update(Event::Feed(event));
            next = self.feed_events.try_recv().ok();
        }
    }

    /// Passes an event to the model and carries out the effects. Returns whether the view must end.
    fn update(&mut self, event: Event) -> bool {
        let mut quit = false;
        for effect in self.model.update(event) {
            match effect {
                Effect::Quit => quit = true,
                Effect::CountInside(number, location) => {
                    self.feed
                        .open(Channel::Inside(number), Job::CountInside(location));
                }
                Effect::Attach(number, location, kind) => {
                    self.feed
                        .open(Channel::Probe(number), Job::Probe(location, kind));
                }
                Effect::QueryVariables(number, location) => {
                    self.feed
                        .open(Channel::Question(number), Job::Graph(location));
                }
                Effect::Close(channel) => self.feed.close(channel),
                Effect::Save { text } => match save::save(&self.model, text) {
                    Ok(path) => self
                        .model
                        .show_message(format!("written to {}", path.display()), false),
                    Err(error) => self.model.show_message(error.to_string(), true),
                },
            }
        }
        quit
    }
}
