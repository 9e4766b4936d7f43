//! Names of the JVM's classes and methods, asked for while a pattern is being typed, and waited for no longer than a moment.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use veneer_client::Client;
use veneer_protocol::{Reply, Request};

use crate::ask::literal;
use crate::peer::Peer;

/// How long a key press may wait for them.
const PATIENCE: Duration = Duration::from_millis(1500);

/// A thread that asks, on a connection of its own that is made when it is first needed.
pub struct Names {
    questions: Sender<String>,
    answers: Receiver<(String, Vec<String>)>,
}

impl Names {
    /// Of this JVM.
    pub fn of(peer: Peer) -> Result<Names> {
        let (questions, asked) = channel::<String>();
        let (to, answers) = channel();
        let answer = move || {
            let mut client = None;
            for mut question in asked.iter() {
                // Whoever asked before does not wait any more.
                while let Ok(newer) = asked.try_recv() {
                    question = newer;
                }
                let names = ask(&mut client, &peer, &question).unwrap_or_default();
                if to.send((question, names)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("names".into())
            .spawn(answer)
            .context("no thread can be started; close other programs of this user")?;
        Ok(Names { questions, answers })
    }

    /// The names that begin so; none where the JVM does not say in time.
    pub fn beginning(&self, text: &str) -> Vec<String> {
        if self.questions.send(text.to_owned()).is_err() {
            return Vec::new();
        }
        let end = Instant::now() + PATIENCE;
        while let Ok((question, names)) = self
            .answers
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            if question == text {
                return names;
            }
        }
        Vec::new()
    }
}

fn ask(client: &mut Option<Client>, peer: &Peer, text: &str) -> Result<Vec<String>> {
    let mut connected = match client.take() {
        Some(client) => client,
        None => peer.connect()?,
    };
    connected.send(&Request::Exec {
        name: "names".into(),
        source: format!("for name in names({}) {{ print(name) }}", literal(text)),
        settings: Default::default(),
        modules: Default::default(),
        hold: None,
    })?;
    let mut names = Vec::new();
    loop {
        match connected.receive()? {
            Reply::Print(name) => names.push(name),
            Reply::Done { .. } => {
                *client = Some(connected);
                return Ok(names);
            }
            _ => bail!("the JVM does not tell names"),
        }
    }
}
