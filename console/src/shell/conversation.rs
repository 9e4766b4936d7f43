//! The shell's connections: one for inputs, whose answers and printed lines come when they like, and one for questions of its own.
//!
//! ```text
//!   input ──▶ agent ──▶ a thread that reads ─┬─ print ──▶ screen, also while the next input is being typed
//!                                            └─ done, failed ──▶ whoever waits for the input
//!   names, status, detach ──▶ agent ──▶ answer        on a connection that is made when it is first needed
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use veneer_client::{Client, ControlError, Sender};
use veneer_protocol::{Detached, Reply, Request, Status, Which};

use super::interrupt;
use super::screen::Screen;
use crate::output::complain;
use crate::peer::Peer;

/// The JVM takes off what it has not heard of for so many milliseconds.
const LEASE: u64 = 10_000;
/// Between two looks at whether somebody presses Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// How an input ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its value as text; empty where there is none.
    Done(String),
    /// What went wrong.
    Failed(String),
    /// The JVM has ended, or closed the connection.
    Gone,
    /// The user does not want to wait for it.
    Left,
}

/// A prompt in the JVM.
pub struct Conversation {
    sending: Sender,
    answers: Receiver<Reply>,
    peer: Peer,
    /// Made when it is first needed.
    asking: Option<Client>,
}

impl Conversation {
    /// Opens it; what the JVM prints goes to the screen.
    pub fn open(peer: Peer, screen: &Arc<Screen>) -> Result<Conversation> {
        let mut client = peer.connect()?;
        client.keep_renewing(Duration::from_millis(LEASE / 4))?;
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
                        return screen.gone(&error);
                    }
                }
            }
        };
        thread::Builder::new()
            .name("replies".into())
            .spawn(read)
            .context("no thread can be started; close other programs of this user")?;
        Ok(Conversation {
            sending,
            answers,
            peer,
            asking: None,
        })
    }

    /// Runs an input and waits for its end. With `look` only its value is of interest, as a table of so many rows where it has one.
    pub fn input(
        &self,
        file: Option<&str>,
        source: &str,
        modules: BTreeMap<String, String>,
        look: Option<u32>,
    ) -> Result<Outcome> {
        let request = Request::Input {
            file: file.map(str::to_owned),
            source: source.to_owned(),
            modules,
            look,
            hold: LEASE,
        };
        // Where that fails the JVM is gone; the thread that reads has said so.
        if self.sending.send(&request).is_err() {
            return Ok(Outcome::Gone);
        }
        interrupt::pressed();
        let mut warned = false;
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(Reply::Done { value }) => return Ok(Outcome::Done(value)),
                Ok(Reply::Failed { message }) => return Ok(Outcome::Failed(message)),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Outcome::Gone),
                Err(RecvTimeoutError::Timeout) if !interrupt::pressed() => {}
                Err(RecvTimeoutError::Timeout) if warned => return Ok(Outcome::Left),
                Err(RecvTimeoutError::Timeout) => {
                    complain(
                        &"the JVM is still at it, and ends it by itself; Ctrl-C once more leaves the shell",
                    );
                    warned = true;
                }
            }
        }
    }

    /// What has been attached here stays when the shell ends.
    pub fn keep(&self) -> Result<()> {
        Ok(self.sending.send(&Request::Keep {})?)
    }

    /// Asks on the other connection.
    fn ask(&mut self, request: &Request) -> Result<Reply> {
        let client = match self.asking.take() {
            Some(client) => client,
            None => self.peer.connect()?,
        };
        let client = self.asking.insert(client);
        let asked = client.send(request).and_then(|()| client.receive());
        if asked.is_err() {
            self.asking = None;
        }
        match asked? {
            Reply::Failed { message } => bail!("{message}"),
            reply => Ok(reply),
        }
    }

    /// What is attached in the JVM.
    pub fn status(&mut self) -> Result<Status> {
        match self.ask(&Request::Status {})? {
            Reply::Status(status) => Ok(*status),
            _ => bail!("the agent gave an unexpected answer"),
        }
    }

    /// Takes something off.
    pub fn detach(&mut self, which: Which) -> Result<Detached> {
        match self.ask(&Request::Detach(which))? {
            Reply::Detached(detached) => Ok(*detached),
            _ => bail!("the agent gave an unexpected answer"),
        }
    }
}
