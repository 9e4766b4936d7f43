//! `veneer top`: the hottest methods of a running JVM, their fragments, and instruments by key, on a full screen.
//!
//! ```text
//!   terminal ─ keys ─▶ model ─ wishes ─▶ feed ═ a connection for each plan ═▶ agent
//!                        ▲                 │
//!                        └───── news ──────┘        view: model ─▶ lines on the screen
//! ```
//!
//! The model knows neither terminal nor agent. Each instrument has a connection of its own, held by a lease, so that whatever ends this
//! process also takes off what it has attached.

mod cost;
mod feed;
mod figures;
mod inside;
mod keys;
mod layout;
mod methods;
mod model;
mod news;
mod packages;
mod picker;
mod place;
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
use feed::{Feed, Job};
use model::{End, Event, Model, Wish};
use news::{Channel, News};

/// Shows what runs, until `q`, the end of the JVM, or the end of the time.
pub fn run(arguments: TopArguments) -> Result<u8> {
    // Before the screen is taken: a wrong process id is told where it was typed.
    Target::inspect(arguments.pid)?;
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let on_screen = terminal && !arguments.once && !arguments.json;
    let every = match on_screen {
        true => arguments.every,
        // So that there is a second look.
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
        Some(End::Jvm) => {
            let seconds = session.began.elapsed().as_secs();
            complain(&format!(
                "process {pid} has ended; it was watched for {seconds} s"
            ));
            Ok(0)
        }
        Some(End::Refused(message)) => {
            complain(&refused(&message, &arguments));
            Ok(exec::PROGRAM_FAILED)
        }
        Some(End::Lost(message)) => {
            complain(&message);
            Ok(crate::FAILED)
        }
    }
}

/// Why the agent refused the counters, for somebody who wrote no plan.
fn refused(message: &str, arguments: &TopArguments) -> String {
    let TopArguments { pid, limit, .. } = arguments;
    match message.contains("methods(…).limit(") {
        true => format!(
            "process {pid} has more than {limit} such methods; name fewer (veneer top {pid} 'com.shop..*'), or allow more with --limit"
        ),
        false => message.to_owned(),
    }
}

/// The model, and what it is connected to.
struct Session {
    model: Model,
    feed: Feed,
    news: Receiver<News>,
    began: Instant,
    /// Seconds between looks.
    every: f64,
    looked: Option<Instant>,
}

impl Session {
    fn begin(arguments: &TopArguments, every: f64) -> Session {
        let (sender, news) = channel();
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
            news,
            began: Instant::now(),
            every,
            looked: None,
        }
    }

    /// Takes in what has come meanwhile, waiting for it as long as this.
    fn listen(&mut self, wait: Duration) {
        self.update(Event::Tick(self.began.elapsed()));
        let due = self
            .looked
            .is_none_or(|at| at.elapsed().as_secs_f64() >= self.every);
        if due && let Some(ns) = cost::processor_time(self.model.pid) {
            self.looked = Some(Instant::now());
            self.update(Event::Processor(ns));
        }
        let mut next = match wait.is_zero() {
            true => self.news.try_recv().ok(),
            false => self.news.recv_timeout(wait).ok(),
        };
        while let Some(news) = next {
            self.update(Event::News(news));
            next = self.news.try_recv().ok();
        }
    }

    /// Lets the model take in an event and does what it wishes; tells whether to end.
    fn update(&mut self, event: Event) -> bool {
        let mut quit = false;
        for wish in self.model.update(event) {
            match wish {
                Wish::Quit => quit = true,
                Wish::Inside(number, place) => {
                    self.feed.open(Channel::Inside(number), Job::Inside(place));
                }
                Wish::Attach(number, place, kind) => {
                    self.feed
                        .open(Channel::Probe(number), Job::Probe(place, kind));
                }
                Wish::Ask(number, place) => {
                    self.feed.open(Channel::Question(number), Job::Graph(place));
                }
                Wish::Close(channel) => self.feed.close(channel),
                Wish::Save { text } => match save::save(&self.model, text) {
                    Ok(path) => self
                        .model
                        .say(format!("written to {}", path.display()), false),
                    Err(error) => self.model.say(error.to_string(), true),
                },
            }
        }
        quit
    }
}
