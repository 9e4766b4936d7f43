//! Requests names of classes and methods from the JVM while the user types a pattern. Waits for the
//! answer for a limited time only.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use veneer_client::Client;
use veneer_protocol::{Reply, Request};

use crate::remote::RemoteAddress;
use veneer_client::plan_text::literal;

/// How long a key press may wait for the names.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);

/// A thread that requests names, on its own connection. The connection is opened when it is first
/// needed.
pub struct NameQueries {
    questions: Sender<String>,
    answers: Receiver<(String, Vec<String>)>,
}

impl NameQueries {
    /// Starts the thread.
    pub fn start(remote: RemoteAddress) -> Result<NameQueries> {
        let (questions, asked) = channel::<String>();
        let (to, answers) = channel();
        let answer = move || {
            let mut client = None;
            for mut question in asked.iter() {
                // Only the newest question is answered, because no caller waits for the older ones.
                while let Ok(newer) = asked.try_recv() {
                    question = newer;
                }
                let names = ask(&mut client, &remote, &question).unwrap_or_default();
                if to.send((question, names)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("names".into())
            .spawn(answer)
            .context("no thread can be started; close other programs of this user")?;
        Ok(NameQueries { questions, answers })
    }

    /// Returns the names that begin with this text. The list is empty if the JVM does not answer in
    /// time.
    pub fn with_prefix(&self, text: &str) -> Vec<String> {
        if self.questions.send(text.to_owned()).is_err() {
            return Vec::new();
        }
        let end = Instant::now() + ANSWER_TIMEOUT;
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

fn ask(client: &mut Option<Client>, remote: &RemoteAddress, text: &str) -> Result<Vec<String>> {
    let mut connected = match client.take() {
        Some(client) => client,
        None => remote.connect()?,
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
            _ => bail!("the JVM returned no names"),
        }
    }
}
