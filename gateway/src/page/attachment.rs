//! One attachment of a tab: a connection to an agent, which holds one plan on a lease.
//!
//! ```text
//!   open ─▶ thread: connect ─▶ Exec with hold ─▶ done ─▶ Subscribe ─▶ updates, prints ─▶ the tab
//!              │                                  │
//!              │                                  └─▶ Attached, to the request that opened it
//!   close ─▶ the socket closes ─▶ the agent detaches what the plan attached
//! ```
//!
//! If no tab receives events, the thread waits, and the agent then makes no further updates.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;
use veneer_client::{Client, ConnectionCloser, ControlError, RequestSender};
use veneer_protocol::{MAX_POINTS_PER_UPDATE, Reply, Request, Subscription};

use super::api_error::ApiError;
use super::outlet::{Outlet, TabEvent};
use super::requested_instrument::RequestedInstrument;

/// The time after which the agent detaches the plan if it hears nothing of this server.
const LEASE_MILLIS: u64 = 10_000;
/// The interval between two renewals of the lease.
const RENEWAL_INTERVAL: Duration = Duration::from_millis(LEASE_MILLIS / 4);
/// The interval between two updates, in milliseconds.
const UPDATE_MILLIS: u64 = 100;
/// The most bytes of lines that a plan prints before it is attached.
const MAX_FIRST_LINES_BYTES: usize = 16 << 20;

/// An attachment of a tab.
#[derive(Debug)]
pub struct Attachment {
    pub id: String,
    pub request: RequestedInstrument,
    /// The plan that was sent.
    pub source: String,
    is_closed: AtomicBool,
    connection: Mutex<Option<Connection>>,
}

/// The ends of the connection that other threads use.
#[derive(Debug)]
struct Connection {
    closer: ConnectionCloser,
    sender: RequestSender,
    /// The subscription to the plan's instruments; `None` until the plan is attached.
    subscription: Option<Subscription>,
}

/// The answer to the request that attached the plan.
#[derive(Debug, Default, Serialize)]
pub struct Attached {
    /// The flow graphs that the plan printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub graphs: Vec<Value>,
    /// The instruments, with what they count.
    pub instruments: BTreeMap<String, String>,
    /// Other lines, such as warnings.
    pub notes: Vec<String>,
    /// The value of the plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
}

impl Attachment {
    /// Makes an attachment without a connection.
    pub fn new(id: String, request: RequestedInstrument, source: String) -> Attachment {
        Attachment {
            id,
            request,
            source,
            is_closed: AtomicBool::new(false),
            connection: Mutex::new(None),
        }
    }

    /// Closes the connection. The agent then detaches everything that the plan attached.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        if let Some(connection) = &*self.connection.lock() {
            connection.closer.close();
        }
    }

    /// Whether the connection was closed or lost.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Asks the agent to send all counts again, for a tab that has lost events.
    pub fn send_all_again(&self) {
        if let Some(connection) = &*self.connection.lock()
            && let Some(subscription) = &connection.subscription
        {
            // A connection that fails is reported by its thread.
            let _ = connection
                .sender
                .send(&Request::Subscribe(subscription.clone()));
        }
    }

    /// Attaches the plan in a new thread, which runs until the connection ends.
    ///
    /// # Errors
    /// The agent cannot be reached, or it refuses the plan.
    pub async fn attach(self: &Arc<Self>, pid: u32, outlet: Outlet) -> Result<Attached, ApiError> {
        let (sender, receiver) = oneshot::channel();
        let (attachment, name) = (self.clone(), format!("attachment {}", self.id));
        let started = thread::Builder::new().name(name).spawn(move || {
            attachment.run(pid, &outlet, sender);
            attachment.is_closed.store(true, Ordering::Release);
        });
        started.map_err(|error| {
            ApiError::too_many(
                &format!("no thread can be started: {error}"),
                "close other tabs",
            )
        })?;
        // A thread that panics drops the sender.
        let lost = |_| ApiError::of_text("lost", "the server failed; please report it");
        receiver.await.map_err(lost)?
    }

    fn run(
        &self,
        pid: u32,
        outlet: &Outlet,
        attached: oneshot::Sender<Result<Attached, ApiError>>,
    ) {
        let begun = self.begin(pid);
        let (mut client, answer) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                let _ = attached.send(Err(error));
                return;
            }
        };
        if let Err(error) = self.subscribe(&answer) {
            let _ = attached.send(Err(lost(&error)));
            return;
        }
        if attached.send(Ok(answer)).is_err() {
            // The browser has cancelled the request.
            self.close();
            return;
        }
        let reason = self.forward(&mut client, outlet);
        if !self.is_closed() {
            outlet.send(TabEvent::ended(&self.id, &reason), &self.is_closed);
        }
    }

    /// Connects and attaches the plan.
    fn begin(&self, pid: u32) -> Result<(Client, Attached), ApiError> {
        let mut client = veneer_client::connect(pid)
            .map_err(|error| ApiError::of_text("unreachable", &error.to_string()))?;
        *self.connection.lock() = Some(Connection {
            closer: client.closer().map_err(|error| lost(&error))?,
            sender: client.sender(),
            subscription: None,
        });
        let exec = Request::Exec {
            name: "page".into(),
            source: self.source.clone(),
            settings: BTreeMap::new(),
            modules: BTreeMap::new(),
            hold: Some(LEASE_MILLIS),
        };
        client.send(&exec).map_err(|error| lost(&error))?;
        client
            .keep_renewing(RENEWAL_INTERVAL)
            .map_err(|error| lost(&error))?;
        let mut answer = Attached::default();
        let mut bytes = 0;
        loop {
            match client.receive().map_err(|error| lost(&error))? {
                Reply::Print(line) => {
                    bytes += line.len();
                    if bytes > MAX_FIRST_LINES_BYTES {
                        return Err(ApiError::of_text("too-long", "the plan prints too much"));
                    }
                    answer.add_line(line);
                }
                Reply::Done { value } => {
                    answer.value = value;
                    return Ok((client, answer));
                }
                Reply::Failed { message } => {
                    return Err(ApiError::of_text("refused", &message));
                }
                _ => return Err(lost(&ControlError::Unexpected(pid))),
            }
        }
    }

    fn subscribe(&self, answer: &Attached) -> Result<(), ControlError> {
        if answer.instruments.is_empty() {
            return Ok(());
        }
        let wanted = Subscription {
            every: UPDATE_MILLIS,
            instruments: answer.instruments.keys().cloned().collect(),
            events: false,
            points: MAX_POINTS_PER_UPDATE,
        };
        match &mut *self.connection.lock() {
            Some(connection) => {
                connection.subscription = Some(wanted.clone());
                connection.sender.send(&Request::Subscribe(wanted))
            }
            None => Ok(()),
        }
    }

    /// Forwards what the agent sends until the connection ends, and returns the reason.
    fn forward(&self, client: &mut Client, outlet: &Outlet) -> String {
        loop {
            let event = match client.receive() {
                Ok(Reply::Update(update)) => TabEvent::update(&self.id, &update),
                Ok(Reply::Print(line)) => TabEvent::print(&self.id, &line),
                Ok(Reply::Failed { message }) => return message,
                Ok(_) => continue,
                Err(error) => return error.to_string(),
            };
            if !outlet.send(event, &self.is_closed) {
                return "the tab is closed".into();
            }
        }
    }
}

impl Attached {
    /// Adds a line that the plan printed: one of the JSON objects that the server's own plans print,
    /// or a text.
    fn add_line(&mut self, line: String) {
        let value: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(graph) = value.get("graph") {
            self.graphs.push(graph.clone());
        } else if let Some((part, more)) = part_of_graph(&value)
            && let Some(graph) = self.graphs.last_mut()
            && let Some(known) = graph[part].as_array_mut()
        {
            known.extend(more);
        } else if let Some(ids) = value.get("ids").and_then(Value::as_object) {
            let ids = ids.iter();
            let ids = ids.map(|(id, role)| (id.clone(), role.as_str().unwrap_or_default().into()));
            self.instruments.extend(ids);
        } else {
            self.notes.push(line);
        }
    }
}

/// The further blocks or edges of the last graph that a plan printed.
fn part_of_graph(value: &Value) -> Option<(&'static str, Vec<Value>)> {
    let mut parts = ["blocks", "edges"].into_iter();
    parts.find_map(|part| Some((part, value.get(part)?.as_array()?.clone())))
}

fn lost(error: &ControlError) -> ApiError {
    ApiError::of_text("lost", &error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_plan_become_the_answer() {
        let mut answer = Attached::default();
        for line in [
            r#"{"blocks":[7]}"#,
            r#"{"graph":{"class":"a.B","blocks":[],"edges":[]}}"#,
            r#"{"blocks":[1,2]}"#,
            r#"{"blocks":[3]}"#,
            r#"{"edges":[[1,2]]}"#,
            r#"{"ids":{"i1":"blocks","i2":"edges"}}"#,
            "a warning",
            r#"{"watch":[]}"#,
        ] {
            answer.add_line(line.into());
        }
        let graph = serde_json::json!({"class": "a.B", "blocks": [1, 2, 3], "edges": [[1, 2]]});
        assert_eq!(answer.graphs, [graph]);
        assert_eq!(answer.instruments["i1"], "blocks");
        assert_eq!(answer.instruments["i2"], "edges");
        let notes = [r#"{"blocks":[7]}"#, "a warning", r#"{"watch":[]}"#];
        assert_eq!(answer.notes, notes);
    }
}
