//! The REPL sessions of clients: variables that remain from one input to the next, and the plan
//! instances of the inputs. Only the plan thread uses this file.

use crate::agent::Agent;
use crate::control::outbox::Outbox;
use crate::plans::jobs::ReplInput;
use crate::plans::plan_instances::PlanInstance;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use veneer_protocol::Reply;
use veneer_scripts::{Input, Prompt, Session, TYPED};

/// The REPL session of one client.
struct ReplSession {
    prompt: Prompt,
    /// The plan instances of the inputs, oldest first.
    instances: Vec<u64>,
    /// Whether everything that was attached stays when the client disconnects.
    keeps_attached: bool,
    /// Keeps the outbox alive, so that no other client's outbox gets its address, which is the key
    /// of this session.
    _outbox: Arc<Outbox>,
}

/// The REPL sessions, by the address of the client's outbox.
#[derive(Default)]
pub struct ReplSessions(HashMap<usize, ReplSession>);

fn key(outbox: &Arc<Outbox>) -> usize {
    Arc::as_ptr(outbox) as usize
}

impl ReplSessions {
    /// The session of a client; a new client gets a new session.
    fn session(&mut self, outbox: &Arc<Outbox>) -> &mut ReplSession {
        self.0.entry(key(outbox)).or_insert_with(|| ReplSession {
            prompt: Prompt::default(),
            instances: Vec::new(),
            keeps_attached: false,
            _outbox: outbox.clone(),
        })
    }

    /// Runs an input and sends the answer.
    pub fn run(
        &mut self,
        agent: &Agent,
        session: &Session,
        typed: &ReplInput,
        outbox: &Arc<Outbox>,
    ) {
        let repl = self.session(outbox);
        let id = session.reserve();
        let instance = PlanInstance {
            plan: typed.file.as_deref().unwrap_or(TYPED).into(),
            owner: typed.owner.clone(),
            held: !repl.keeps_attached,
            since: agent.began.elapsed().as_millis() as u64,
        };
        agent.loads.begin(id, instance);
        agent.clients().insert(id, outbox.clone());
        let input = Input {
            file: typed.file.as_deref(),
            text: &typed.source,
            modules: &typed.modules,
            look: typed.look,
        };
        let result = repl.prompt.run(session, id, input, Instant::now());
        if result.is_ok() && typed.look.is_none() {
            repl.instances.push(id);
        } else {
            agent.clients().remove(&id);
        }
        outbox.send(match result {
            Ok(value) => Reply::Done { value },
            Err(e) => Reply::Failed {
                message: e.to_string(),
            },
        });
    }

    /// Keeps what this client has attached and will attach when it disconnects.
    pub fn keep(&mut self, outbox: &Arc<Outbox>) {
        self.session(outbox).keeps_attached = true;
    }

    /// Ends the session of a client that is gone. Unloads the plan instances of its inputs, newest
    /// first, unless they are kept.
    pub fn close(&mut self, agent: &Agent, session: &Session, outbox: &Arc<Outbox>) {
        let Some(repl) = self.0.remove(&key(outbox)) else {
            return;
        };
        for id in repl.instances.into_iter().rev() {
            if !repl.keeps_attached {
                session.unload(id);
            }
            agent.clients().remove(&id);
        }
    }
}
