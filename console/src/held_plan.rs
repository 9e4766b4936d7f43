//! A plan that the command holds and whose lines it reads: if the command ends, the agent takes back
//! everything that the plan has attached. Ctrl-C ends the plan early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use veneer_client::{Client, RequestSender};
use veneer_protocol::{Reply, Request};

use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};

/// The time between two looks for Ctrl-C.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(100);

/// A running plan. Dropping it takes everything back.
pub struct HeldPlan {
    holder: Client,
    watch: InterruptWatch,
}

/// How the reading of a plan's lines has ended.
pub enum PlanEnd {
    /// The reader has read enough.
    Read,
    /// Ctrl-C has ended the plan.
    Interrupted,
    /// The plan failed, with this message.
    Failed(String),
}

impl HeldPlan {
    /// Starts a plan in a JVM. `name` is the plan's name in messages. The plan ends early if
    /// `interrupted` is set.
    ///
    /// # Errors
    /// The connection failed.
    pub fn start(
        pid: u32,
        name: &str,
        source: String,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<HeldPlan> {
        let mut holder = veneer_client::connect(pid)?;
        holder.send(&Request::Exec {
            name: name.into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
            hold: Some(LEASE_MILLIS),
        })?;
        holder.keep_renewing(RENEWAL_INTERVAL)?;
        let watch = InterruptWatch::start(holder.sender(), interrupted.clone())?;
        Ok(HeldPlan { holder, watch })
    }

    /// Calls `is_over` with each line that the plan prints, until it returns true. Messages of the agent
    /// about the plan are lines too.
    ///
    /// # Errors
    /// The connection failed, for instance because the JVM has ended.
    pub fn read(&mut self, mut is_over: impl FnMut(&str) -> bool) -> Result<PlanEnd> {
        loop {
            match self.holder.receive()? {
                Reply::Print(text) if is_over(&text) => return Ok(PlanEnd::Read),
                Reply::Failed { message } => return Ok(PlanEnd::Failed(message)),
                // The first one follows the plan's first lines, and the one after Ctrl-C its end.
                Reply::Done { .. } if self.watch.has_ended_plan() => {
                    return Ok(PlanEnd::Interrupted);
                }
                _ => {}
            }
        }
    }

    /// The connection that holds the plan. From now on Ctrl-C does not end the plan.
    pub fn into_holder(self) -> Client {
        self.holder
    }
}

/// A thread that ends the plan at Ctrl-C. The thread ends with the value.
struct InterruptWatch {
    is_over: Arc<AtomicBool>,
    has_ended_plan: Arc<AtomicBool>,
}

impl InterruptWatch {
    fn start(requests: RequestSender, interrupted: Arc<AtomicBool>) -> Result<InterruptWatch> {
        let watch = InterruptWatch {
            is_over: Arc::default(),
            has_ended_plan: Arc::default(),
        };
        let (is_over, has_ended_plan) = (watch.is_over.clone(), watch.has_ended_plan.clone());
        let look = move || {
            while !is_over.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    has_ended_plan.store(true, Ordering::Relaxed);
                    // If the connection is closed, the main thread sees the end of the JVM.
                    let _ = requests.send(&Request::End {});
                    return;
                }
                thread::sleep(INTERRUPT_INTERVAL);
            }
        };
        let named = thread::Builder::new().name("interrupt".into());
        named.spawn(look).context("no thread can be started")?;
        Ok(watch)
    }

    fn has_ended_plan(&self) -> bool {
        self.has_ended_plan.load(Ordering::Relaxed)
    }
}

impl Drop for InterruptWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
