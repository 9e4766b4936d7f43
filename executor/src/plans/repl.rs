//! The prompts of clients (`veneer shell`). The plan thread alone uses this file.
//!
//! A client's connection becomes a prompt with its first input. A prompt keeps the variables and
//! functions of earlier inputs. Each input is a plan instance of its own; the agent detaches the
//! attachments of all inputs when the client disconnects, unless the client has asked to keep them.

use crate::agent::Agent;
use crate::plans::jobs::Typed;
use crate::plans::outbox::{ClientId, Outbox};
use crate::plans::plan_instances::Load;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use veneer_protocol::Reply;
use veneer_scripts::{Input, Prompt, Session, TYPED};

/// The prompt of one client.
#[derive(Default)]
struct ClientPrompt {
    prompt: Prompt,
    /// The plan instances of the inputs, the oldest first.
    loads: Vec<u64>,
    /// Whether the attachments stay when the client disconnects.
    keeps: bool,
}

/// The prompts of all connected clients. A connection has one prompt at most, and a client id is
/// never reused.
#[derive(Default)]
pub struct Prompts(HashMap<ClientId, ClientPrompt>);

impl Prompts {
    /// Executes an input and sends its value or its error to the client.
    pub fn run(&mut self, agent: &Agent, session: &Session, typed: &Typed, outbox: &Arc<Outbox>) {
        let client = self.0.entry(outbox.client()).or_default();
        let load = session.reserve();
        let instance = Load {
            plan: typed.file.as_deref().unwrap_or(TYPED).into(),
            owner: typed.owner.clone(),
            held: !client.keeps,
            since: agent.began.elapsed().as_millis() as u64,
        };
        agent.loads.begin(load, instance);
        agent.output.connect(load, outbox.clone());
        let input = Input {
            file: typed.file.as_deref(),
            text: &typed.source,
            modules: &typed.modules,
            look: typed.look,
        };
        let result = client.prompt.run(session, load, input, Instant::now());
        if result.is_ok() && typed.look.is_none() {
            client.loads.push(load);
        } else {
            agent.output.disconnect(load);
        }
        outbox.send(match result {
            Ok(value) => Reply::Done { value },
            Err(e) => Reply::Failed {
                message: e.to_string(),
            },
        });
    }

    /// Keeps the attachments of a client when it disconnects.
    pub fn keep(&mut self, outbox: &Outbox) {
        self.0.entry(outbox.client()).or_default().keeps = true;
    }

    /// Removes the prompt of a client that has disconnected. Detaches the attachments of its
    /// inputs, the newest first, unless the client keeps them.
    pub fn close(&mut self, agent: &Agent, session: &Session, outbox: &Outbox) {
        let Some(client) = self.0.remove(&outbox.client()) else {
            return;
        };
        for load in client.loads.into_iter().rev() {
            if !client.keeps {
                session.unload(load);
            }
            agent.output.disconnect(load);
        }
    }
}
