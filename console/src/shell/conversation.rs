//! The two connections of the shell. One is for inputs; their results and output arrive at any
//! time. The other is for queries of the shell itself.
//!
//! ```text
//!   input ──▶ agent ──▶ the reading thread ─┬─ print ──▶ screen, at any time
//!                                           └─ done, failed ──▶ the thread that waits in `input`
//!   status, detach ──▶ agent ──▶ answer        on the second connection, opened on first use
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use veneer_client::{Client, ControlError, RequestSender};
use veneer_protocol::{DetachReport, DetachTarget, Reply, Request, Status};

use super::interrupt;
use super::screen::Screen;
use crate::output::print_error;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL, RemoteAddress};

/// Interval between two checks for Ctrl-C.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How an input ended.
#[derive(Debug, PartialEq, Eq)]
pub enum InputOutcome {
    /// The value as text; empty if the input has none.
    Done(String),
    /// The error message.
    Failed(String),
    /// The JVM has ended, or closed the connection.
    ConnectionLost,
    /// The user pressed Ctrl-C twice and no longer waits for the result.
    Abandoned,
}

/// A prompt session in the JVM.
pub struct ShellConnection {
    sending: RequestSender,
    answers: Receiver<Reply>,
    remote: RemoteAddress,
    /// The connection for queries, opened when it is first needed.
    query_client: Option<Client>,
}

impl ShellConnection {
    /// Opens the session. What the JVM prints is written to the screen.
    pub fn open(remote: RemoteAddress, screen: &Arc<Screen>) -> Result<ShellConnection> {
        let mut client = remote.connect()?;
        client.keep_renewing(RENEWAL_INTERVAL)?;
        let (pid, sending) = (client.pid(), client.sender());
        let (to, answers) = channel();
        let screen = screen.clone();
        let read = move || {
            loop {
                match client.receive() {
                    Ok(Reply::Print(text)) => screen.print(&text),
                    Ok(reply) => {
                        if to.send(reply).is_err() {
                            return;
                        }
                    }
                    Err(error) => {
                        let error = match error {
                            ControlError::Closed(_) => {
                                format!("process {pid} has ended, or closed the connection")
                            }
                            other => other.to_string(),
                        };
                        return screen.report_disconnected(&error);
                    }
                }
            }
        };
        thread::Builder::new()
            .name("replies".into())
            .spawn(read)
            .context("no thread can be started; close other programs of this user")?;
        Ok(ShellConnection {
            sending,
            answers,
            remote,
            query_client: None,
        })
    }

    /// Runs an input and waits for its result. If `table_rows` is set, the value is only shown: if the
    /// value has a table, the result is this table with at most `table_rows` rows.
    pub fn input(
        &self,
        file: Option<&str>,
        source: &str,
        modules: BTreeMap<String, String>,
        table_rows: Option<u32>,
    ) -> Result<InputOutcome> {
        let request = Request::Input {
            file: file.map(str::to_owned),
            source: source.to_owned(),
            modules,
            look: table_rows,
            hold: LEASE_MILLIS,
        };
        // If sending fails, the connection is closed. The reading thread has already reported that.
        if self.sending.send(&request).is_err() {
            return Ok(InputOutcome::ConnectionLost);
        }
        interrupt::take_interrupt();
        let mut warned = false;
        loop {
            match self.answers.recv_timeout(INTERRUPT_POLL_INTERVAL) {
                Ok(Reply::Done { value }) => return Ok(InputOutcome::Done(value)),
                Ok(Reply::Failed { message }) => return Ok(InputOutcome::Failed(message)),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(InputOutcome::ConnectionLost),
                Err(RecvTimeoutError::Timeout) if !interrupt::take_interrupt() => {}
                Err(RecvTimeoutError::Timeout) if warned => return Ok(InputOutcome::Abandoned),
                Err(RecvTimeoutError::Timeout) => {
                    print_error(
                        &"the JVM still runs this input, and will end it; press Ctrl-C again to leave the shell",
                    );
                    warned = true;
                }
            }
        }
    }

    /// Keeps what was attached at this prompt when the shell ends.
    pub fn keep(&self) -> Result<()> {
        Ok(self.sending.send(&Request::Keep {})?)
    }

    /// Sends a request on the query connection and returns its reply.
    fn ask(&mut self, request: &Request) -> Result<Reply> {
        let client = match self.query_client.take() {
            Some(client) => client,
            None => self.remote.connect()?,
        };
        let client = self.query_client.insert(client);
        let asked = client.send(request).and_then(|()| client.receive());
        if asked.is_err() {
            self.query_client = None;
        }
        match asked? {
            Reply::Failed { message } => bail!("{message}"),
            reply => Ok(reply),
        }
    }

    pub fn status(&mut self) -> Result<Status> {
        match self.ask(&Request::Status {})? {
            Reply::Status(status) => Ok(*status),
            _ => bail!("the agent gave an unexpected answer"),
        }
    }

    pub fn detach(&mut self, which: DetachTarget) -> Result<DetachReport> {
        match self.ask(&Request::Detach(which))? {
            Reply::Detached(detached) => Ok(*detached),
            _ => bail!("the agent gave an unexpected answer"),
        }
    }
}
