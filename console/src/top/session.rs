//! The session of `veneer top`: passes events to the model and carries out its effects.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use veneer_client::process_stat::processor_time;

use super::events::{Channel, FeedEvent};
use super::feed::{CountedMethods, Feed, FeedJob};
use super::model::{Model, ModelEffect, ModelEvent};
use super::save;
use crate::cli::TopArguments;

/// The model, and the connections that it controls.
pub(super) struct TopSession {
    pub(super) model: Model,
    pub(super) feed: Feed,
    pub(super) feed_events: Receiver<FeedEvent>,
    pub(super) began: Instant,
    /// Interval between two samples, in seconds.
    pub(super) every: f64,
    pub(super) last_cost_sample: Option<Instant>,
    /// Whether stacks are sampled.
    samples_stacks: bool,
}

impl TopSession {
    pub(super) fn begin(arguments: &TopArguments, every: f64) -> TopSession {
        let (sender, feed_events) = channel();
        let mut feed = Feed::new(arguments.pid, every, sender);
        let methods = match &arguments.pattern {
            Some(pattern) => CountedMethods::Patterns(vec![pattern.clone()]),
            None if arguments.all => CountedMethods::OutsideJdk,
            None => CountedMethods::OnStacks,
        };
        let scope = match &arguments.pattern {
            Some(pattern) => format!("of {pattern}"),
            None => "outside the JDK".to_owned(),
        };
        let limit = arguments.limit;
        feed.open(Channel::Calls, FeedJob::Calls { methods, limit });
        TopSession {
            model: Model::new(arguments.pid, &scope),
            feed,
            feed_events,
            began: Instant::now(),
            every,
            last_cost_sample: None,
            samples_stacks: false,
        }
    }

    /// Passes all pending events to the model. If there are none, waits for the first one, but no
    /// longer than `wait`.
    pub(super) fn process_events(&mut self, wait: Duration) {
        self.update(ModelEvent::Tick(self.began.elapsed()));
        let due = self
            .last_cost_sample
            .is_none_or(|at| at.elapsed().as_secs_f64() >= self.every);
        if due && let Some(time) = processor_time(self.model.pid) {
            self.last_cost_sample = Some(Instant::now());
            self.update(ModelEvent::Processor(time.as_secs_f64() * 1e9));
        }
        let mut next = match wait.is_zero() {
            true => self.feed_events.try_recv().ok(),
            false => self.feed_events.recv_timeout(wait).ok(),
        };
        while let Some(event) = next {
            self.update(ModelEvent::Feed(event));
            next = self.feed_events.try_recv().ok();
        }
        // Before the counters are attached, their connection may be about to wake the JVM's attach
        // listener. Two clients that do so at the same time can make the JVM print a thread dump.
        if self.model.attached.is_some() && !self.samples_stacks {
            self.samples_stacks = true;
            self.feed.open(Channel::Stacks, FeedJob::Stacks);
        }
    }

    /// Passes an event to the model and carries out the effects. Returns whether the view must end.
    pub(super) fn update(&mut self, event: ModelEvent) -> bool {
        let mut quit = false;
        for effect in self.model.update(event) {
            match effect {
                ModelEffect::Quit => quit = true,
                ModelEffect::CountInside(number, location) => {
                    self.feed
                        .open(Channel::Inside(number), FeedJob::CountInside(location));
                }
                ModelEffect::Attach(number, location, kind) => {
                    self.feed
                        .open(Channel::Probe(number), FeedJob::Probe(location, kind));
                }
                ModelEffect::QueryVariables(number, location) => {
                    self.feed
                        .open(Channel::Question(number), FeedJob::Graph(location));
                }
                ModelEffect::Close(channel) => self.feed.close(channel),
                ModelEffect::Save { text } => match save::save(&self.model, text) {
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
