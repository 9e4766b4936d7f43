//! The REPL sessions of clients: variables that remain from one input to the next, and the plan
//! instances of the inputs. Only the plan thread uses this file.

use crate::agent::Agent;
use crate::plans::jobs::ReplInput;
use crate::plans::outbox::{ClientId, Outbox};
use crate::plans::plan_instances::PlanInstance;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use veneer_instruments::PlanInstanceId;
use veneer_protocol::Reply;
use veneer_scripts::{PROMPT_PLAN_NAME, PlanSession, Prompt, PromptInput};

/// The REPL session of one client.
#[derive(Default)]
struct ReplSession {
    prompt: Prompt,
    /// The plan instances of the inputs, oldest first.
    instances: Vec<PlanInstanceId>,
    /// Whether everything that was attached stays when the client disconnects.
    keeps_attached: bool,
}

/// The REPL sessions of all connected clients. A connection has one session at most, and a client id
/// is never reused.
#[derive(Default)]
pub struct ReplSessions(HashMap<ClientId, ReplSession>);

impl ReplSessions {
    /// The session of a client; a new client gets a new session.
    fn session(&mut self, client: ClientId) -> &mut ReplSession {
        self.0.entry(client).or_default()
    }

    /// Runs an input and sends the answer.
    pub fn run(
        &mut self,
        agent: &Agent,
        session: &PlanSession,
        typed: &ReplInput,
        outbox: &Arc<Outbox>,
    ) {
        let repl = self.session(outbox.client());
        let id = session.reserve();
        let instance = PlanInstance {
            plan: typed.file.as_deref().unwrap_or(PROMPT_PLAN_NAME).into(),
            owner: typed.owner.clone(),
            held: !repl.keeps_attached,
            since: agent.began.elapsed().as_millis() as u64,
        };
        agent.loads.begin(id, instance);
        agent.output.connect(id, outbox.clone());
        let input = PromptInput {
            file: typed.file.as_deref(),
            text: &typed.source,
            modules: &typed.modules,
            look: typed.look,
        };
        let result = repl.prompt.run(session, id, input, Instant::now());
        if result.is_ok() && typed.look.is_none() {
            repl.instances.push(id);
        } else {
            agent.output.disconnect(id);
        }
        outbox.send(match result {
            Ok(value) => Reply::Done { value },
            Err(e) => Reply::Failed {
                message: e.to_string(),
            },
        });
    }

    /// Keeps what this client has attached and will attach when it disconnects.
    pub fn keep_attachments(&mut self, outbox: &Outbox) {
        self.session(outbox.client()).keeps_attached = true;
    }

    /// Ends the session of a client that is gone. Unloads the plan instances of its inputs, newest
    /// first, unless they are kept.
    pub fn close(&mut self, agent: &Agent, session: &PlanSession, outbox: &Outbox) {
        let Some(repl) = self.0.remove(&outbox.client()) else {
            return;
        };
        for id in repl.instances.into_iter().rev() {
            if !repl.keeps_attached {
                session.unload(id);
            }
            agent.output.disconnect(id);
        }
    }
}
