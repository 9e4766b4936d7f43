//! The connections to the agent: a thread for each, which holds one plan and passes on its figures.
//!
//! ```text
//!   Feed::open ─▶ thread: connect ─▶ Exec with hold ─▶ ids ─▶ Subscribe ─▶ updates ─▶ News ─▶ the view
//!   Feed::close, or the end of this process ─▶ the socket closes ─▶ the agent takes off what the plan attached
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use veneer_client::{Closer, ControlError, Target, classes};
use veneer_protocol::{POINTS_AT_ONCE, Reply, Request, Subscription, Update};

use super::figures::{self, Look, Role, Told};
use super::news::{Channel, News, What};
use super::packages;
use super::place::{Kind, Place};
use super::plan;

/// The JVM takes off what it has not heard of for so many milliseconds.
const LEASE: u64 = 10_000;
/// How long a JVM that closes its connections may take to end.
const END: Duration = Duration::from_secs(2);

/// The name of the plans, in messages of the agent.
const NAME: &str = "top";

/// A message without its place in the plan, which nobody has typed: `top:1:44: `.
fn unplaced(message: &str) -> String {
    let behind = |text: &str| -> Option<String> {
        let (line, rest) = text
            .strip_prefix(NAME)?
            .strip_prefix(':')?
            .split_once(':')?;
        let (column, rest) = rest.split_once(": ")?;
        let numbers = line.parse::<u32>().is_ok() && column.parse::<u32>().is_ok();
        numbers.then(|| rest.to_owned())
    };
    behind(message).unwrap_or_else(|| message.to_owned())
}

/// In the agent's warning of activations that run the code of before.
const BEGAN_BEFORE: &str = "began before the class was armed";

/// What a connection is for.
#[derive(Debug, Clone)]
pub enum Job {
    /// Count the calls of methods: of these, or of all outside the JDK.
    Calls {
        /// Which.
        patterns: Option<Vec<String>>,
        /// So many at most.
        limit: u32,
    },
    /// Count inside a method.
    Inside(Place),
    /// One instrument.
    Probe(Place, Kind),
    /// Tell the flow graph of a method, and hold nothing.
    Graph(Place),
}

/// See the module documentation.
#[derive(Debug)]
pub struct Feed {
    pid: u32,
    /// Seconds between looks.
    every: f64,
    news: Sender<News>,
    open: HashMap<Channel, Arc<Line>>,
}

/// What a thread and its owner share.
#[derive(Debug, Default)]
struct Line {
    closed: AtomicBool,
    closer: Mutex<Option<Closer>>,
}

impl Line {
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let closer = self.closer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(closer) = &*closer {
            closer.close();
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Feed {
    /// To this JVM, with a look every so many seconds.
    pub fn new(pid: u32, every: f64, news: Sender<News>) -> Feed {
        Feed {
            pid,
            every,
            news,
            open: HashMap::new(),
        }
    }

    /// Opens a connection.
    pub fn open(&mut self, channel: Channel, job: Job) {
        let line = Arc::new(Line::default());
        self.open.insert(channel, line.clone());
        let call = Call {
            pid: self.pid,
            every: self.every,
            channel,
            line,
            news: self.news.clone(),
        };
        let started = thread::Builder::new()
            .name("feed".into())
            .spawn(move || call.run(&job));
        if let Err(error) = started {
            let what = What::Lost(format!(
                "no thread can be started: {error}; close other programs"
            ));
            // Nobody listens any more where that fails.
            let _ = self.news.send(News { channel, what });
        }
    }

    /// Closes a connection; none is no error.
    pub fn close(&mut self, channel: Channel) {
        if let Some(line) = self.open.remove(&channel) {
            line.close();
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.open.values().for_each(|line| line.close());
    }
}

/// One connection, in its thread.
struct Call {
    pid: u32,
    every: f64,
    channel: Channel,
    line: Arc<Line>,
    news: Sender<News>,
}

impl Drop for Call {
    fn drop(&mut self) {
        if thread::panicking() {
            self.tell(What::Lost(
                "a fault in the command; please report it".into(),
            ));
        }
    }
}

impl Call {
    fn tell(&self, what: What) {
        let channel = self.channel;
        // Nobody listens any more where that fails.
        let _ = self.news.send(News { channel, what });
    }

    fn stage(&self, stage: &str) {
        self.tell(What::Stage(stage.into()));
    }

    fn run(&self, job: &Job) {
        let end = self.talk(job);
        if let Err(what) = end
            && !self.line.is_closed()
        {
            self.tell(what);
        }
    }

    /// To the end of the connection, and why it ended.
    fn talk(&self, job: &Job) -> Result<(), What> {
        let lost = |error: &dyn std::fmt::Display| What::Lost(error.to_string());
        if matches!(job, Job::Calls { .. }) {
            self.stage("connecting, loading the agent where it is not there yet");
        }
        let mut client = veneer_client::connect(self.pid).map_err(|e| lost(&e))?;
        let closer = client.closer().map_err(|e| lost(&e))?;
        *self
            .line
            .closer
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(closer);
        if self.line.is_closed() {
            return Ok(());
        }
        let source = self.source(job)?;
        let hold = (!matches!(job, Job::Graph(_))).then_some(LEASE);
        client
            .send(&Request::Exec {
                name: NAME.into(),
                source,
                settings: Default::default(),
                modules: Default::default(),
                hold,
            })
            .map_err(|e| lost(&e))?;
        if hold.is_some() {
            client
                .keep_renewing(Duration::from_millis(LEASE / 4))
                .map_err(|e| lost(&e))?;
        }
        let mut ids = BTreeMap::new();
        loop {
            match client.receive() {
                Ok(Reply::Print(text)) => match figures::read(&text) {
                    Some(Told::Ids(told)) => ids = told,
                    Some(told) => self.tell(What::Told(told)),
                    // Of all methods, `main` and its like began before; of a chosen one that is worth a line.
                    None if matches!(job, Job::Calls { .. }) && text.contains(BEGAN_BEFORE) => {}
                    None => self.tell(What::Said(unplaced(&text))),
                },
                Ok(Reply::Done { .. }) => {
                    self.tell(What::Holds);
                    if hold.is_none() {
                        return Ok(());
                    }
                    let wanted = Subscription {
                        every: (self.every * 1000.0) as u64,
                        instruments: ids.keys().cloned().collect(),
                        events: false,
                        points: POINTS_AT_ONCE,
                    };
                    let asked = client.send(&Request::Subscribe(wanted));
                    asked.map_err(|e| lost(&e))?;
                }
                Ok(Reply::Update(update)) => self.look(*update, &ids)?,
                Ok(Reply::Failed { message }) => return Err(What::Failed(unplaced(&message))),
                Ok(_) => return Err(lost(&ControlError::Unexpected(self.pid))),
                Err(error) => return Err(self.end(&error)),
            }
        }
    }

    /// Figures have come.
    fn look(&self, update: Update, ids: &BTreeMap<String, Role>) -> Result<(), What> {
        let mut look = Look {
            at: update.millis as f64 / 1000.0,
            rows: Vec::new(),
        };
        for instrument in update.instruments {
            let Some(role) = ids.get(&instrument.id) else {
                continue;
            };
            if !instrument.attached {
                return Err(What::TakenOff);
            }
            let rows = instrument.points.into_iter();
            look.rows.extend(rows.map(|point| (*role, point.into())));
        }
        self.tell(What::Look(look));
        Ok(())
    }

    fn source(&self, job: &Job) -> Result<String, What> {
        Ok(match job {
            Job::Calls { patterns, limit } => {
                let found;
                let patterns = match patterns {
                    Some(patterns) => patterns,
                    None => {
                        self.stage("looking which classes are loaded");
                        found = self.outside_jdk()?;
                        &found
                    }
                };
                self.stage("attaching a counter to each method");
                plan::calls(patterns, *limit)
            }
            Job::Inside(place) => plan::inside(&place.pattern()),
            Job::Probe(place, kind) => plan::probe(place, kind, self.every),
            Job::Graph(place) => plan::graph(&place.pattern()),
        })
    }

    fn outside_jdk(&self) -> Result<Vec<String>, What> {
        let pid = self.pid;
        let ask = "name the methods: veneer top";
        let loaded = Target::inspect(pid)
            .map_err(|e| What::Lost(e.to_string()))
            .and_then(|target| {
                let loaded = classes::loaded(&target);
                loaded.map_err(|e| What::Lost(format!("{e}; or {ask} {pid} 'com.shop..*'")))
            })?;
        let patterns = packages::patterns(&loaded);
        if patterns.is_empty() {
            let text = format!(
                "process {pid} has loaded no class outside the JDK; {ask} {pid} 'java.text..*'"
            );
            return Err(What::Failed(text));
        }
        Ok(patterns)
    }

    /// Why the connection broke: with the JVM, or alone.
    fn end(&self, error: &ControlError) -> What {
        let deadline = Instant::now() + END;
        while !self.line.is_closed() && Instant::now() < deadline {
            match Target::inspect(self.pid) {
                Ok(target) if target.is_alive() => thread::sleep(Duration::from_millis(20)),
                _ => return What::Ended,
            }
        }
        let pid = self.pid;
        What::Lost(format!(
            "{error}; process {pid} runs on: was the agent taken out (`veneer detach {pid} --unload`)?"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_plans_that_nobody_typed_are_not_told() {
        for (message, told) in [
            ("top:1:44: no such method", "no such method"),
            ("top: no", "top: no"),
            ("the JVM is shutting down", "the JVM is shutting down"),
        ] {
            assert_eq!(unplaced(message), told);
        }
    }
}
