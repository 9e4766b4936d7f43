//! The prompts of clients: what stays from one input to the next, and what has been attached there. Used by the plan thread alone.

use crate::agent::Agent;
use crate::control::outbox::Outbox;
use crate::plans::jobs::Typed;
use crate::plans::plan_instances::Load;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use veneer_protocol::Reply;
use veneer_scripts::{Input, Prompt, Session, TYPED};

#[derive(Default)]
struct Open {
    prompt: Prompt,
    /// The loads of its inputs.
    loads: Vec<u64>,
    /// What it attached stays when it ends.
    keeps: bool,
}

/// By the address of the client's outbox, which the client's thread holds until after [`Prompts::close`].
#[derive(Default)]
pub struct Prompts(HashMap<usize, Open>);

fn key(outbox: &Arc<Outbox>) -> usize {
    Arc::as_ptr(outbox) as usize
}

impl Prompts {
    /// Runs an input and answers it.
    pub fn run(&mut self, agent: &Agent, session: &Session, typed: &Typed, outbox: &Arc<Outbox>) {
        let open = self.0.entry(key(outbox)).or_default();
        let load = session.reserve();
        let of = Load {
            plan: typed.file.as_deref().unwrap_or(TYPED).into(),
            owner: typed.owner.clone(),
            held: !open.keeps,
            since: agent.began.elapsed().as_millis() as u64,
        };
        agent.loads.begin(load, of);
        agent.clients().insert(load, outbox.clone());
        let input = Input {
            file: typed.file.as_deref(),
            text: &typed.source,
            modules: &typed.modules,
            look: typed.look,
        };
        let result = open.prompt.run(session, load, input, Instant::now());
        if result.is_ok() && typed.look.is_none() {
            open.loads.push(load);
        } else {
            agent.clients().remove(&load);
        }
        outbox.send(match result {
            Ok(value) => Reply::Done { value },
            Err(e) => Reply::Failed {
                message: e.to_string(),
            },
        });
    }

    /// What this client attached stays when it goes.
    pub fn keep(&mut self, outbox: &Arc<Outbox>) {
        self.0.entry(key(outbox)).or_default().keeps = true;
    }

    /// The client is gone: takes off what its inputs attached, the newest first, unless it is to stay.
    pub fn close(&mut self, agent: &Agent, session: &Session, outbox: &Arc<Outbox>) {
        let Some(open) = self.0.remove(&key(outbox)) else {
            return;
        };
        for load in open.loads.into_iter().rev() {
            if !open.keeps {
                session.unload(load);
            }
            agent.clients().remove(&load);
        }
    }
}
