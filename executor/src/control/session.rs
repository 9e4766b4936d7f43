//! One client's session: its requests in their order, and the lifetime of its attachments.
//!
//! The client's own thread executes the session. Requests that run plans or change attachments
//! become jobs of the plan thread; the session waits for the result.
//!
//! The lifetime of the attachments depends on the request:
//!
//! * `exec`: the attachments stay. If the client disconnects before the reply, the agent detaches
//!   them.
//! * `exec` with `hold`: the agent detaches them when the client disconnects, or when the client
//!   sends no request (for instance `renew`) within its lease.
//! * `input`: the agent handles the attachments of all inputs of the session as with `hold`. After
//!   `keep`, the attachments stay.

use super::clients::{self, ConnectionPermit};
use super::reply_writer::ReplyWriter;
use super::stream::Stream;
use super::threads::spawn;
use super::update_thread::UpdateThread;
use crate::agent::Agent;
use crate::jvm::jvm_name::jvm_name;
use crate::plans::jobs::{PlanJob, ReplInput};
use crate::plans::outbox::{ClientId, Outbox};
use crate::plans::report::{self, ReportSize};
use crate::plans::status;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use thiserror::Error;
use veneer_protocol::{
    DetachTarget, MAX_REQUEST_BYTES, PROTOCOL_VERSION, PlanSource, Reply, Request, WireError,
    read_message_within,
};
use veneer_text::replace_control_characters;

/// The time after which a write to a client that does not read fails. The session then ends.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The permitted leases in milliseconds. Other values are replaced by the nearest permitted one.
const LEASE_MILLIS: RangeInclusive<u64> = 100..=3_600_000;
/// The largest number of characters of a program's name.
const MAX_NAME_CHARS: usize = 200;
/// The time after which the client is told that the plan thread is busy.
const JOB_TIMEOUT: Duration = Duration::from_secs(120);

/// Why the plan thread has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum NoAnswer {
    /// The plan thread has ended.
    #[error("the JVM is shutting down, or the agent leaves it")]
    ShuttingDown,
    /// The plan thread executes the job later.
    #[error(
        "a plan has kept the agent busy for {seconds} s; what you asked for is done as soon as it ends"
    )]
    Busy { seconds: u64 },
}

impl From<NoAnswer> for Reply {
    fn from(error: NoAnswer) -> Reply {
        Reply::Failed {
            message: error.to_string(),
        }
    }
}

/// The session of one client. See the module documentation.
pub struct ClientSession {
    agent: &'static Agent,
    client: ClientId,
    writer: ReplyWriter,
    /// Describes the client for the user, for instance `uid 1000 pid 4711`.
    owner: String,
    /// The active subscription.
    updates: Option<UpdateThread>,
}

/// Executes a client's requests until the connection ends.
pub fn serve(agent: &'static Agent, stream: Stream, permit: &ConnectionPermit) {
    let _ = stream.set_read_timeout(None);
    let _ = stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(reading);
    let mut session = ClientSession {
        agent,
        client: permit.id(),
        owner: stream.peer(),
        writer: ReplyWriter::new(stream),
        updates: None,
    };
    loop {
        permit.set_busy(session.updates.is_some());
        let request = match read_message_within::<Request>(&mut reader, MAX_REQUEST_BYTES) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(e) => {
                let _ = session.writer.write_failure(&e.to_string());
                return;
            }
        };
        permit.set_busy(true);
        if session.execute(request, &mut reader).is_break() {
            return;
        }
    }
}

impl ClientSession {
    /// Executes a request. `Break` means that the connection ends.
    fn execute(&mut self, request: Request, reader: &mut BufReader<Stream>) -> ControlFlow<()> {
        match request {
            Request::Exec {
                name,
                source,
                settings,
                modules,
                hold,
            } => {
                let plan = PlanSource {
                    name: presentable(&name),
                    source,
                    settings,
                    modules: with_presentable_names(modules),
                };
                self.run(plan, hold.map(lease), reader)
            }
            Request::Input {
                file,
                source,
                modules,
                look,
                hold,
            } => {
                let typed = self.typed(file, source, modules, look);
                self.prompt(typed, lease(hold), reader)
            }
            other => self.answer(other),
        }
    }

    /// Runs a program. If the client asked for a lease, the session holds the attachments of the
    /// program until the lease ends.
    fn run(
        &self,
        plan: PlanSource,
        lease: Option<Duration>,
        reader: &mut BufReader<Stream>,
    ) -> ControlFlow<()> {
        let outbox = Arc::new(Outbox::new(self.client));
        let job = PlanJob::Exec {
            plan,
            hold: lease.is_some(),
            owner: self.owner.clone(),
            outbox: outbox.clone(),
        };
        self.submit(job, &outbox);
        let delivered = self.deliver(&outbox);
        if let (true, Some(lease)) = (delivered, lease) {
            self.without_updates().hold(reader, &outbox, lease);
            return ControlFlow::Break(());
        }
        outbox.close();
        match delivered {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    /// Makes the job of a text that the client typed at its prompt.
    fn typed(
        &self,
        file: Option<String>,
        source: String,
        modules: BTreeMap<String, String>,
        look: Option<u32>,
    ) -> ReplInput {
        ReplInput {
            file: file.as_deref().map(presentable),
            source,
            modules: with_presentable_names(modules),
            look,
            owner: self.owner.clone(),
        }
    }

    /// Executes the first input of a prompt. The connection is a prompt from then on to its end.
    fn prompt(
        &self,
        first: ReplInput,
        lease: Duration,
        reader: &mut BufReader<Stream>,
    ) -> ControlFlow<()> {
        let outbox = Arc::new(Outbox::new(self.client));
        self.submit(PlanJob::Input(first, outbox.clone()), &outbox);
        self.without_updates().hold(reader, &outbox, lease);
        ControlFlow::Break(())
    }

    /// Returns a session of the same client without the subscription. The subscription ends with
    /// the original session.
    fn without_updates(&self) -> ClientSession {
        ClientSession {
            agent: self.agent,
            client: self.client,
            writer: self.writer.clone(),
            owner: self.owner.clone(),
            updates: None,
        }
    }

    /// Answers a request that contains no program.
    fn answer(&mut self, request: Request) -> ControlFlow<()> {
        let agent = self.agent;
        let reply = match request {
            Request::Hello {} => Reply::Hello {
                version: env!("CARGO_PKG_VERSION").into(),
                pid: std::process::id(),
                protocol: PROTOCOL_VERSION,
            },
            Request::Refusals {} => Reply::Refusals(agent.refusals()),
            Request::Report {} => {
                let report = report::make_report(agent, jvm_name(), ReportSize::Message);
                Reply::Report(Box::new(report))
            }
            Request::Status {} => {
                Reply::Status(Box::new(status::make_status(agent, clients::count())))
            }
            Request::Detach(which) => return self.detach(which),
            Request::Analyse { component } => return self.analyse(component),
            Request::ClassCode { patterns } => return self.class_code(patterns),
            Request::Subscribe(subscription) => {
                self.updates = None;
                match UpdateThread::start(agent, &self.writer, subscription) {
                    Ok(updates) => self.updates = Some(updates),
                    Err(e) => {
                        let message = format!("no updates: {e}; close other programs of this user");
                        return self.send(&Reply::Failed { message });
                    }
                }
                return ControlFlow::Continue(());
            }
            Request::Unsubscribe {} => {
                self.updates = None;
                return ControlFlow::Continue(());
            }
            Request::End {} => Reply::Failed {
                message: "this connection holds no program".into(),
            },
            // Reading the request has renewed the lease. `keep` has no effect outside a prompt.
            Request::Renew {} | Request::Keep {} => return ControlFlow::Continue(()),
            Request::Exec { .. } | Request::Input { .. } => Reply::Failed {
                message: "this connection holds a program already; open another one".into(),
            },
        };
        self.send(&reply)
    }

    /// Sends a reply. If the reply is too long for a message, the client receives an error.
    fn send(&self, reply: &Reply) -> ControlFlow<()> {
        let sent = match self.writer.write(reply) {
            Err(e @ WireError::TooLong { .. }) => self.writer.write_failure(&e.to_string()),
            sent => sent,
        };
        match sent {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Asks a component's analyser for its analysis.
    fn analyse(&self, component: String) -> ControlFlow<()> {
        let (answer, answered) = channel();
        let accepted = self.agent.post_job(PlanJob::Analyse(component, answer));
        let reply = match wait_for_answer(accepted, &answered, JOB_TIMEOUT) {
            Ok(Ok(analysis)) => Reply::Analysis(Box::new(analysis)),
            Ok(Err(error)) => Reply::Failed {
                message: error.to_string(),
            },
            Err(error) => error.into(),
        };
        self.send(&reply)
    }

    /// Sends the class files of armed classes, one class a message, and `done`.
    fn class_code(&self, patterns: Vec<String>) -> ControlFlow<()> {
        let (answer, answered) = channel();
        let accepted = self.agent.post_job(PlanJob::ClassCode(patterns, answer));
        let classes = match wait_for_answer(accepted, &answered, JOB_TIMEOUT) {
            Ok(Ok(classes)) => classes,
            Ok(Err(error)) => {
                return self.send(&Reply::Failed {
                    message: error.to_string(),
                });
            }
            Err(error) => return self.send(&error.into()),
        };
        for class in classes {
            self.send(&Reply::ClassCode(Box::new(class)))?;
        }
        self.send(&Reply::Done {
            value: String::new(),
        })
    }

    /// Detaches attachments, or unloads the agent.
    fn detach(&self, which: DetachTarget) -> ControlFlow<()> {
        let (answer, answered) = channel();
        let unloads = which == DetachTarget::Unload;
        let accepted = self.agent.post_job(match unloads {
            true => PlanJob::Leave(answer),
            false => PlanJob::Detach(which, answer),
        });
        let reply = match wait_for_answer(accepted, &answered, JOB_TIMEOUT) {
            Ok(detached) => Reply::Detached(Box::new(detached)),
            Err(error) => error.into(),
        };
        let next = self.send(&reply);
        if unloads {
            clients::shutdown_all();
            return ControlFlow::Break(());
        }
        next
    }

    /// Sends a job to the plan thread. If the plan thread has ended, the client receives an error
    /// through the outbox.
    fn submit(&self, job: PlanJob, outbox: &Outbox) {
        if !self.agent.post_job(job) {
            outbox.send(NoAnswer::ShuttingDown.into());
        }
    }

    /// Writes the lines that a program prints, and its last reply. Returns false if the client has
    /// disconnected before the last reply; the attachments of the program are detached then.
    fn deliver(&self, outbox: &Arc<Outbox>) -> bool {
        while let Some(reply) = outbox.wait_for_reply() {
            let is_last = !matches!(reply, Reply::Print(_));
            let is_disconnected = is_last && self.writer.is_closed_by_peer();
            if is_disconnected || self.writer.write(&reply).is_err() {
                self.release(outbox);
                return false;
            }
            if is_last {
                return true;
            }
        }
        false
    }

    /// Detaches the attachments of the client's program or prompt.
    fn release(&self, outbox: &Arc<Outbox>) {
        outbox.close();
        // A failure says that the plan thread has ended, and that nothing is attached any more.
        self.agent.post_job(PlanJob::ClientGone(outbox.clone()));
    }

    /// Holds the attachments of a program or prompt until the client disconnects or sends no
    /// request within its lease, and detaches them then. During that time,
    /// further inputs of a prompt are executed.
    fn hold(mut self, reader: &mut BufReader<Stream>, outbox: &Arc<Outbox>, lease: Duration) {
        let Ok(connection) = self.writer.try_clone_stream() else {
            return self.release(outbox);
        };
        let _ = connection.set_read_timeout(Some(lease));
        let (replies, writer) = (outbox.clone(), self.writer.clone());
        let send_replies = move || {
            while let Some(reply) = replies.wait_for_reply() {
                if writer.write(&reply).is_err() {
                    // The thread that reads requests wakes and detaches.
                    if let Ok(connection) = writer.try_clone_stream() {
                        connection.shutdown();
                    }
                    return;
                }
            }
        };
        if spawn("veneer-client", send_replies).is_ok() {
            while let Ok(Some(request)) = read_message_within::<Request>(reader, MAX_REQUEST_BYTES)
            {
                if self.execute_held(request, outbox).is_break() {
                    break;
                }
            }
        }
        self.release(outbox);
        connection.shutdown();
    }

    /// Executes a request of a client whose attachments are held.
    fn execute_held(&mut self, request: Request, outbox: &Arc<Outbox>) -> ControlFlow<()> {
        match request {
            Request::Input {
                file,
                source,
                modules,
                look,
                ..
            } => {
                let typed = self.typed(file, source, modules, look);
                self.submit(PlanJob::Input(typed, outbox.clone()), outbox);
            }
            Request::Keep {} => self.submit(PlanJob::Keep(outbox.clone()), outbox),
            Request::End {} => self.submit(PlanJob::End(outbox.clone()), outbox),
            other => return self.answer(other),
        }
        ControlFlow::Continue(())
    }
}

/// Waits for the plan thread's answer to a job. `accepted` says whether the plan thread has
/// accepted the job.
fn wait_for_answer<T>(
    accepted: bool,
    answered: &Receiver<T>,
    timeout: Duration,
) -> Result<T, NoAnswer> {
    answered.recv_timeout(timeout).map_err(|_| match accepted {
        false => NoAnswer::ShuttingDown,
        true => NoAnswer::Busy {
            seconds: timeout.as_secs(),
        },
    })
}

/// Returns the lease that a client has asked for, within the permitted range.
fn lease(millis: u64) -> Duration {
    Duration::from_millis(millis.clamp(*LEASE_MILLIS.start(), *LEASE_MILLIS.end()))
}

/// Returns a program's name without control characters, which could change a terminal, and with
/// [`MAX_NAME_CHARS`] characters at most.
fn presentable(name: &str) -> String {
    let replaced = replace_control_characters(name);
    replaced.chars().take(MAX_NAME_CHARS).collect()
}

/// Makes the names of modules presentable. Their texts stay as they are, like that of the program.
fn with_presentable_names(modules: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let renamed = |(name, text): (String, String)| (presentable(&name), text);
    modules.into_iter().map(renamed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_no_control_characters_and_are_bounded() {
        assert_eq!(
            presentable("a\x1b[2Jb\n.rhai"),
            "a\u{fffd}[2Jb\u{fffd}.rhai"
        );
        assert_eq!(presentable(&"ä".repeat(500)), "ä".repeat(MAX_NAME_CHARS));
        let modules = BTreeMap::from([("m\n".to_string(), "text\n".to_string())]);
        let expected = BTreeMap::from([("m\u{fffd}".to_string(), "text\n".to_string())]);
        assert_eq!(with_presentable_names(modules), expected);
    }

    #[test]
    fn leases_are_clamped() {
        assert_eq!(lease(0), Duration::from_millis(100));
        assert_eq!(lease(5_000), Duration::from_secs(5));
        assert_eq!(lease(u64::MAX), Duration::from_secs(3600));
    }

    #[test]
    fn the_answer_is_returned_even_if_it_arrives_before_the_wait() {
        let (answer, answered) = channel();
        answer.send(7).unwrap();
        assert_eq!(wait_for_answer(true, &answered, Duration::ZERO), Ok(7));
    }

    #[test]
    fn a_missing_answer_is_explained_by_a_shutdown_or_by_a_busy_plan_thread() {
        let (_answer, answered) = channel::<()>();
        let busy = wait_for_answer(true, &answered, Duration::ZERO).unwrap_err();
        assert_eq!(busy, NoAnswer::Busy { seconds: 0 });
        let (answer, answered) = channel::<()>();
        drop(answer);
        let ended = wait_for_answer(false, &answered, JOB_TIMEOUT).unwrap_err();
        assert_eq!(ended, NoAnswer::ShuttingDown);
    }
}
