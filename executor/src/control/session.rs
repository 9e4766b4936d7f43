//! One client: its requests in turn, and the lease on what it attached.
//!
//! ```text
//!   exec            top level runs ─▶ done is sent ─▶ what it attached stays
//!                        └ the client is gone before that ─▶ it is taken off
//!   exec with hold  top level runs ─▶ done is sent ─▶ renew … renew … ─▶ end, or silence for longer than the lease ─▶ it is taken off
//!   input  input …  the same, for what all of them attached; with keep before the end it stays
//! ```

use super::clients::Place;
use super::line::Line;
use super::outbox::Outbox;
use super::stream::Stream;
use super::updates::Updates;
use crate::agent::Agent;
use crate::control::clients;
use crate::control::threads::spawn;
use crate::jvm::jvm_name::jvm_name;
use crate::plans::jobs::{Job, ReplInput};
use crate::plans::{report, status};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use veneer_protocol::{
    PROTOCOL, PlanSource, REQUEST_LIMIT, Reply, Request, Which, WireError, read_message_within,
};

/// How long a client may not read before it is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// The shortest and the longest lease, in milliseconds.
const LEASE: std::ops::RangeInclusive<u64> = 100..=3_600_000;
/// Said where the plan thread takes nothing any more.
const GOING: &str = "the JVM is shutting down, or the agent leaves it";
/// Characters of a program's name that are kept.
const NAME: usize = 200;

/// How long taking things off may take before the client is told to ask again.
const TAKING: Duration = Duration::from_secs(120);

/// A client.
pub struct Session {
    agent: &'static Agent,
    line: Line,
    /// Who it is, in words.
    owner: String,
    updates: Option<Updates>,
}

/// What becomes of a connection.
enum Next {
    /// It waits for the next request.
    Stays,
    /// It ends.
    Ends,
}

/// Serves a client to its end.
pub fn serve(agent: &'static Agent, stream: Stream, place: &Place) {
    let _ = stream.set_read_timeout(None);
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(reading);
    let mut session = Session {
        agent,
        owner: stream.peer(),
        line: Line::new(stream),
        updates: None,
    };
    loop {
        place.set_busy(session.updates.is_some());
        let request = match read_message_within::<Request>(&mut reader, REQUEST_LIMIT) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(e) => {
                let _ = session.line.failed(&e.to_string());
                return;
            }
        };
        place.set_busy(true);
        let next = match request {
            Request::Exec {
                name,
                source,
                settings,
                modules,
                hold,
            } => {
                let plan = PlanSource {
                    name,
                    source,
                    settings,
                    modules,
                };
                let hold = hold.map(|lease| lease.clamp(*LEASE.start(), *LEASE.end()));
                session.run(plan, hold, &mut reader)
            }
            Request::Input {
                file,
                source,
                modules,
                look,
                hold,
            } => {
                let typed = session.typed(file, source, modules, look);
                session.prompt(typed, hold, &mut reader)
            }
            other => session.answer(other),
        };
        if matches!(next, Next::Ends) {
            return;
        }
    }
}

impl Session {
    /// Runs a program, and holds what it attached where that was asked for.
    fn run(&self, plan: PlanSource, hold: Option<u64>, reader: &mut BufReader<Stream>) -> Next {
        let outbox = exec(self.agent, plan, &self.owner, hold.is_some());
        let done = deliver(self.agent, &self.line, &outbox);
        if let (true, Some(lease)) = (done, hold) {
            // It has an end of its own.
            holding(
                self.another(),
                reader,
                &outbox,
                Duration::from_millis(lease),
            );
            return Next::Ends;
        }
        outbox.close();
        if done { Next::Stays } else { Next::Ends }
    }

    /// What this client typed at its prompt.
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

    /// From here on the connection is a prompt, to its end.
    fn prompt(&self, first: ReplInput, hold: u64, reader: &mut BufReader<Stream>) -> Next {
        let outbox = Arc::new(Outbox::default());
        ask(self.agent, Job::Input(first, outbox.clone()), &outbox);
        let lease = hold.clamp(*LEASE.start(), *LEASE.end());
        holding(
            self.another(),
            reader,
            &outbox,
            Duration::from_millis(lease),
        );
        Next::Ends
    }

    /// For the same client.
    fn another(&self) -> Session {
        Session {
            agent: self.agent,
            line: self.line.clone(),
            owner: self.owner.clone(),
            updates: None,
        }
    }

    /// Answers what is no program.
    fn answer(&mut self, request: Request) -> Next {
        let agent = self.agent;
        let reply = match request {
            Request::Hello {} => Reply::Hello {
                version: env!("CARGO_PKG_VERSION").into(),
                pid: std::process::id(),
                protocol: PROTOCOL,
            },
            Request::Refusals {} => Reply::Refusals(report::refusals(agent)),
            Request::Report {} => Reply::Report(Box::new(report::make(agent, jvm_name()))),
            Request::Status {} => Reply::Status(Box::new(status::make(agent))),
            Request::Detach(which) => return self.detach(which),
            Request::Analyse { component } => return self.analyse(component),
            Request::Subscribe(wanted) => {
                self.updates = None;
                match Updates::start(agent, &self.line, wanted) {
                    Ok(updates) => self.updates = Some(updates),
                    Err(e) => {
                        let message = format!("no updates: {e}; close other programs of this user");
                        return self.send(&Reply::Failed { message });
                    }
                }
                return Next::Stays;
            }
            Request::Unsubscribe {} => {
                self.updates = None;
                return Next::Stays;
            }
            // Without something that is held there is nothing to renew or to keep.
            Request::Renew {} | Request::Keep {} => return Next::Stays,
            Request::Exec { .. } | Request::Input { .. } => Reply::Failed {
                message: "this connection holds a program already; open another one".into(),
            },
        };
        self.send(&reply)
    }

    fn send(&self, reply: &Reply) -> Next {
        let sent = match self.line.write(reply) {
            Err(e @ WireError::TooLong { .. }) => self.line.failed(&e.to_string()),
            sent => sent,
        };
        if sent.is_ok() {
            Next::Stays
        } else {
            Next::Ends
        }
    }

    /// What the plan thread answers to a job, or why it does not.
    fn wait<T>(&self, asked: bool, answered: &Receiver<T>) -> Result<T, Reply> {
        let message = match answered.recv_timeout(TAKING) {
            Ok(answer) => return Ok(answer),
            Err(_) if !asked => GOING.into(),
            Err(_) => format!(
                "a plan has kept the agent busy for {} s; what you asked for is done as soon as it ends",
                TAKING.as_secs()
            ),
        };
        Err(Reply::Failed { message })
    }

    fn analyse(&self, component: String) -> Next {
        let (answer, answered) = channel();
        let asked = self.agent.ask(Job::Analyse(component, answer));
        let reply = match self.wait(asked, &answered) {
            Ok(Ok(analysis)) => Reply::Analysis(Box::new(analysis)),
            Ok(Err(error)) => Reply::Failed {
                message: error.to_string(),
            },
            Err(failed) => failed,
        };
        self.send(&reply)
    }

    fn detach(&self, which: Which) -> Next {
        let (answer, answered) = channel();
        let leaves = which == Which::Unload;
        let asked = self.agent.ask(match leaves {
            true => Job::Leave(answer),
            false => Job::Detach(which, answer),
        });
        let reply = match self.wait(asked, &answered) {
            Ok(detached) => Reply::Detached(Box::new(detached)),
            Err(failed) => failed,
        };
        let next = self.send(&reply);
        if leaves {
            clients::shut_all();
            return Next::Ends;
        }
        next
    }
}

/// A program's name as messages may show it, on terminals too.
fn presentable(name: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().map(clean).take(NAME).collect()
}

/// Modules whose names messages may show; their texts are shown as they are, like that of the program.
fn with_presentable_names(modules: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let named = |(name, text): (String, String)| (presentable(&name), text);
    modules.into_iter().map(named).collect()
}

/// Asks for a program to be run.
fn exec(agent: &Agent, plan: PlanSource, owner: &str, hold: bool) -> Arc<Outbox> {
    let outbox = Arc::new(Outbox::default());
    let job = Job::Exec {
        plan: PlanSource {
            name: presentable(&plan.name),
            modules: with_presentable_names(plan.modules),
            ..plan
        },
        hold,
        owner: owner.into(),
        outbox: outbox.clone(),
    };
    if !agent.ask(job) {
        let message = GOING.into();
        outbox.send(Reply::Failed { message });
    }
    outbox
}

/// Sends a job to the plan thread, and says so where it takes none any more.
fn ask(agent: &Agent, job: Job, outbox: &Outbox) -> Next {
    if !agent.ask(job) {
        let message = GOING.into();
        outbox.send(Reply::Failed { message });
    }
    Next::Stays
}

/// Sends what the program prints, and its end. Where the client is gone before that, what the program attached is taken off.
fn deliver(agent: &Agent, line: &Line, outbox: &Arc<Outbox>) -> bool {
    while let Some(reply) = outbox.next() {
        let last = !matches!(reply, Reply::Print(_));
        if (last && line.is_deserted()) || line.write(&reply).is_err() {
            take_off(agent, outbox);
            return false;
        }
        if last {
            return true;
        }
    }
    false
}

fn take_off(agent: &Agent, outbox: &Arc<Outbox>) {
    outbox.close();
    // Where that fails the JVM is shutting down, and nothing is left anyway.
    agent.ask(Job::ClientGone(outbox.clone()));
}

/// Keeps what the program attached until the client goes, or has not been heard of for longer than its lease.
fn holding(
    mut session: Session,
    reader: &mut BufReader<Stream>,
    outbox: &Arc<Outbox>,
    lease: Duration,
) {
    let (agent, line) = (session.agent, session.line.clone());
    let Ok(end) = line.try_clone() else {
        return take_off(agent, outbox);
    };
    let _ = end.set_read_timeout(Some(lease));
    let sending = outbox.clone();
    let sender = move || {
        while let Some(reply) = sending.next() {
            if line.write(&reply).is_err() {
                // Whoever reads learns it too.
                if let Ok(end) = line.try_clone() {
                    end.shutdown();
                }
                return;
            }
        }
    };
    if spawn("veneer-client", sender).is_ok() {
        while let Ok(Some(request)) = read_message_within::<Request>(reader, REQUEST_LIMIT) {
            let next = match request {
                Request::Input {
                    file,
                    source,
                    modules,
                    look,
                    ..
                } => {
                    let typed = session.typed(file, source, modules, look);
                    ask(agent, Job::Input(typed, outbox.clone()), outbox)
                }
                Request::Keep {} => ask(agent, Job::Keep(outbox.clone()), outbox),
                other => session.answer(other),
            };
            if matches!(next, Next::Ends) {
                break;
            }
        }
    }
    take_off(agent, outbox);
    end.shutdown();
}
