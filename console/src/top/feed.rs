//! The connections to the agent. Each has a thread, which holds one plan and forwards its
//! measurements.
//!
//! ```text
//!   Feed::open ─▶ thread: connect ─▶ Exec with hold ─▶ ids ─▶ Subscribe ─▶ updates
//!                                                                 └─▶ FeedEvent ─▶ the model
//!   Feed::close, or the end of this process
//!      └─▶ the socket closes ─▶ the agent detaches what the plan attached
//! ```

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use veneer_client::{ConnectionCloser, ControlError, Target, classes};
use veneer_protocol::{MAX_POINTS_PER_UPDATE, Reply, Request, Subscription, Update};

use super::events::{Channel, FeedEvent, FeedMessage};
use super::location::{MethodLocation, ProbeKind};
use super::measurements::{self, InstrumentRole, MeasurementSample, TopPlanLine};
use super::packages;
use super::plan;
use super::sampler::Sampler;
use crate::ask::plan_error::explain_without_expressions;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use veneer_client::plan_text::block_counter_plan;

/// When a connection closes, how long to wait for the end of the JVM before the connection is
/// reported as lost.
const JVM_END_TIMEOUT: Duration = Duration::from_secs(2);

/// If more classes are loaded outside the JDK, only the methods of those are counted that are on
/// sampled stacks. Counters on all methods of a large program take seconds to attach and slow it
/// down meanwhile.
const MAX_CLASSES_WITHOUT_SAMPLES: usize = 300;

/// How long stacks are sampled before the classes to count are chosen.
const SAMPLING_TIME: Duration = Duration::from_secs(2);

/// The name of the plans, as it occurs in messages of the agent.
const PLAN_NAME: &str = "top";

/// Part of the agent's warning about activations that run code from before arming.
const RUNNING_ACTIVATIONS_WARNING: &str = "began before the class was armed";

/// The purpose of a connection.
#[derive(Debug, Clone)]
pub enum FeedJob {
    /// Count the calls of methods.
    Calls {
        methods: CountedMethods,
        /// Maximum number of methods.
        limit: u32,
    },
    /// Sample stacks. Attaches nothing and needs no agent.
    Stacks,
    /// Count the blocks and edges of a method.
    CountInside(MethodLocation),
    /// Attach one instrument.
    Probe(MethodLocation, ProbeKind),
    /// Request the flow graph of a method. Attaches nothing.
    Graph(MethodLocation),
}

/// Which methods are counted.
#[derive(Debug, Clone)]
pub enum CountedMethods {
    /// The methods of these patterns.
    Patterns(Vec<String>),
    /// All methods outside the JDK.
    OutsideJdk,
    /// The same; of a large program only those whose classes are on sampled stacks.
    OnStacks,
}

/// All open connections.
#[derive(Debug)]
pub struct Feed {
    pid: u32,
    /// Interval between two samples, in seconds.
    every: f64,
    events: Sender<FeedEvent>,
    open: HashMap<Channel, Arc<ConnectionState>>,
}

/// State that a connection's thread shares with the feed.
#[derive(Debug, Default)]
struct ConnectionState {
    closed: AtomicBool,
    closer: Mutex<Option<ConnectionCloser>>,
}

impl ConnectionState {
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let closer = self.closer.lock();
        if let Some(closer) = &*closer {
            closer.close();
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Feed {
    /// Creates a feed without connections. `every` is the interval between two samples, in seconds.
    pub fn new(pid: u32, every: f64, events: Sender<FeedEvent>) -> Feed {
        Feed {
            pid,
            every,
            events,
            open: HashMap::new(),
        }
    }

    /// Opens a connection in a new thread.
    pub fn open(&mut self, channel: Channel, job: FeedJob) {
        let state = Arc::new(ConnectionState::default());
        self.open.insert(channel, state.clone());
        let call = ConnectionThread {
            pid: self.pid,
            every: self.every,
            channel,
            state,
            events: self.events.clone(),
        };
        let started = thread::Builder::new()
            .name("feed".into())
            .spawn(move || call.run(&job));
        if let Err(error) = started {
            let message = FeedMessage::ConnectionLost(format!(
                "no thread can be started: {error}; close other programs"
            ));
            // Sending fails only if the receiver is gone, that is, when the view ends.
            let _ = self.events.send(FeedEvent { channel, message });
        }
    }

    /// Closes a connection. Does nothing if it is not open.
    pub fn close(&mut self, channel: Channel) {
        if let Some(state) = self.open.remove(&channel) {
            state.close();
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.open.values().for_each(|state| state.close());
    }
}

/// One connection, owned by its thread.
struct ConnectionThread {
    pid: u32,
    every: f64,
    channel: Channel,
    state: Arc<ConnectionState>,
    events: Sender<FeedEvent>,
}

impl Drop for ConnectionThread {
    fn drop(&mut self) {
        if thread::panicking() {
            self.send(FeedMessage::ConnectionLost(
                "a fault in the command; please report it".into(),
            ));
        }
    }
}

impl ConnectionThread {
    fn send(&self, message: FeedMessage) {
        let channel = self.channel;
        // Sending fails only if the receiver is gone, that is, when the view ends.
        let _ = self.events.send(FeedEvent { channel, message });
    }

    fn report_progress(&self, step: &str) {
        self.send(FeedMessage::Progress(step.into()));
    }

    fn run(&self, job: &FeedJob) {
        let end = match job {
            FeedJob::Stacks => self.sample_stacks(),
            _ => self.run_plan(job),
        };
        if let Err(message) = end
            && !self.state.is_closed()
        {
            self.send(message);
        }
    }

    /// Samples stacks until the connection is closed or the JVM does not answer. The connection of
    /// the counters reports why.
    fn sample_stacks(&self) -> Result<(), FeedMessage> {
        let Ok(target) = Target::inspect(self.pid) else {
            return Ok(());
        };
        let mut sampler = Sampler::begin(target);
        while !self.state.is_closed() {
            let Ok(dump) = sampler.dump() else {
                return Ok(());
            };
            self.send(FeedMessage::Stacks(dump));
            thread::sleep(sampler.wait());
        }
        Ok(())
    }

    /// Runs the connection until it ends. The error is the message that explains the end.
    fn run_plan(&self, job: &FeedJob) -> Result<(), FeedMessage> {
        let lost = |error: &dyn std::fmt::Display| FeedMessage::ConnectionLost(error.to_string());
        if matches!(job, FeedJob::Calls { .. }) {
            self.report_progress("connecting; loading the agent if necessary");
        }
        let mut client = veneer_client::connect(self.pid).map_err(|e| lost(&e))?;
        let closer = client.closer().map_err(|e| lost(&e))?;
        *self.state.closer.lock() = Some(closer);
        if self.state.is_closed() {
            return Ok(());
        }
        let source = self.source(job)?;
        let hold = (!matches!(job, FeedJob::Graph(_))).then_some(LEASE_MILLIS);
        client
            .send(&Request::Exec {
                name: PLAN_NAME.into(),
                source,
                settings: Default::default(),
                modules: Default::default(),
                hold,
            })
            .map_err(|e| lost(&e))?;
        if hold.is_some() {
            client
                .keep_renewing(RENEWAL_INTERVAL)
                .map_err(|e| lost(&e))?;
        }
        let mut ids = BTreeMap::new();
        loop {
            match client.receive() {
                Ok(Reply::Print(text)) => match measurements::parse_line(&text) {
                    Some(TopPlanLine::Ids(printed)) => ids = printed,
                    Some(output) => self.send(FeedMessage::PlanOutput(output)),
                    // Among all methods there are always some with running activations, such as
                    // `main`, so the warning says nothing. For a single method the user must know.
                    None if matches!(job, FeedJob::Calls { .. })
                        && text.contains(RUNNING_ACTIVATIONS_WARNING) => {}
                    None => self.send(FeedMessage::Warning(explain_without_expressions(
                        &text, PLAN_NAME,
                    ))),
                },
                Ok(Reply::Done { .. }) => {
                    self.send(FeedMessage::Attached);
                    if hold.is_none() {
                        return Ok(());
                    }
                    let wanted = Subscription {
                        every: (self.every * 1000.0) as u64,
                        instruments: ids.keys().cloned().collect(),
                        events: false,
                        points: MAX_POINTS_PER_UPDATE,
                    };
                    let asked = client.send(&Request::Subscribe(wanted));
                    asked.map_err(|e| lost(&e))?;
                }
                Ok(Reply::Update(update)) => self.forward_sample(*update, &ids)?,
                Ok(Reply::Failed { message }) => {
                    return Err(FeedMessage::Refused(explain_without_expressions(
                        &message, PLAN_NAME,
                    )));
                }
                Ok(_) => return Err(lost(&ControlError::Unexpected(self.pid))),
                Err(error) => return Err(self.connection_end(&error)),
            }
        }
    }

    /// Forwards an update as a sample. Fails if another client has detached an instrument.
    fn forward_sample(
        &self,
        update: Update,
        ids: &BTreeMap<String, InstrumentRole>,
    ) -> Result<(), FeedMessage> {
        let mut sample = MeasurementSample {
            at: update.millis as f64 / 1000.0,
            rows: Vec::new(),
        };
        for instrument in update.instruments {
            let Some(role) = ids.get(&instrument.id) else {
                continue;
            };
            if !instrument.attached {
                return Err(FeedMessage::DetachedByOther);
            }
            let rows = instrument.points.into_iter();
            sample.rows.extend(rows.map(|point| (*role, point.into())));
        }
        self.send(FeedMessage::Sample(sample));
        Ok(())
    }

    fn source(&self, job: &FeedJob) -> Result<String, FeedMessage> {
        Ok(match job {
            FeedJob::Calls { methods, limit } => {
                let patterns = match methods {
                    CountedMethods::Patterns(patterns) => {
                        self.report_progress("attaching a counter to each method");
                        patterns.clone()
                    }
                    CountedMethods::OutsideJdk => self.outside_jdk(false)?,
                    CountedMethods::OnStacks => self.outside_jdk(true)?,
                };
                plan::call_counter_plan(&patterns, *limit)
            }
            FeedJob::Stacks => String::new(),
            FeedJob::CountInside(location) => block_counter_plan(&location.pattern()),
            FeedJob::Probe(location, kind) => plan::probe_plan(location, kind, self.every),
            FeedJob::Graph(location) => plan::graph_query_plan(&location.pattern()),
        })
    }

    /// Returns the patterns of the methods outside the JDK. If `on_stacks` is true and the program
    /// is large, these are the patterns of the classes on sampled stacks.
    fn outside_jdk(&self, on_stacks: bool) -> Result<Vec<String>, FeedMessage> {
        self.report_progress("listing the loaded classes");
        let pid = self.pid;
        let ask = "name the methods: veneer top";
        let loaded = Target::inspect(pid)
            .map_err(|e| FeedMessage::ConnectionLost(e.to_string()))
            .and_then(|target| {
                let loaded = classes::loaded_classes(&target);
                loaded.map_err(|e| {
                    FeedMessage::ConnectionLost(format!("{e}; or {ask} {pid} 'com.shop..*'"))
                })
            })?;
        let patterns = packages::patterns(&loaded);
        if patterns.is_empty() {
            let text = format!(
                "process {pid} has loaded no class outside the JDK; {ask} {pid} 'java.text..*'"
            );
            return Err(FeedMessage::Refused(text));
        }
        let all = loaded.application.len();
        if on_stacks && all > MAX_CLASSES_WITHOUT_SAMPLES {
            let classes = self.classes_on_stacks();
            if !classes.is_empty() {
                let count = classes.len();
                self.report_progress(&format!(
                    "attaching counters to the methods of {count} of {all} classes; a counted call takes about 1 ns"
                ));
                let scope = format!("of {count} classes on sampled stacks (--all: of {all})");
                self.send(FeedMessage::Scope(scope));
                return Ok(classes.into_iter().collect());
            }
        }
        self.report_progress(&format!(
            "attaching counters to the methods of {all} classes; a counted call takes about 1 ns"
        ));
        Ok(patterns)
    }

    /// Samples stacks for [`SAMPLING_TIME`], and returns the classes of the application on them.
    /// Empty if no thread was active, or if the JVM gives no stacks.
    fn classes_on_stacks(&self) -> BTreeSet<String> {
        let mut classes = BTreeSet::new();
        let Ok(target) = Target::inspect(self.pid) else {
            return classes;
        };
        let mut sampler = Sampler::begin(target);
        let begun = Instant::now();
        let mut samples = 0_u64;
        while begun.elapsed() < SAMPLING_TIME && !self.state.is_closed() {
            let Ok(dump) = sampler.dump() else {
                return classes;
            };
            samples += dump.stacks.len() as u64;
            let frames = dump.stacks.into_iter().flatten();
            let names = frames.map(|frame| frame.class);
            // The class of a lambda has no name that a pattern can select.
            classes.extend(names.filter(|class| !class.contains('/') && !class.contains("$$")));
            self.report_progress(&format!(
                "looking which methods take time: {samples} stacks of {} classes",
                classes.len()
            ));
            thread::sleep(sampler.wait());
        }
        classes
    }

    /// Finds out why the connection broke: because the JVM has ended, or for another reason.
    fn connection_end(&self, error: &ControlError) -> FeedMessage {
        let deadline = Instant::now() + JVM_END_TIMEOUT;
        while !self.state.is_closed() && Instant::now() < deadline {
            match Target::inspect(self.pid) {
                Ok(target) if target.is_alive() => thread::sleep(Duration::from_millis(20)),
                _ => return FeedMessage::JvmEnded,
            }
        }
        let pid = self.pid;
        FeedMessage::ConnectionLost(format!(
            "{error}; process {pid} runs on: was the agent taken out (`veneer detach {pid} --unload`)?"
        ))
    }
}
