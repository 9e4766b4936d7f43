//! The connections of an export: one that holds the plan, where there is one, and one that asks for figures.
//!
//! ```text
//!   holding ── exec {hold} ─▶ the plan stands ─ renew … renew … ─▶ the command ends: it is taken off
//!       └───── prints ─▶ standard error
//!   asking ─── report, report, …        subscribe
//! ```

use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use veneer_client::{Client, ControlError, Target};
use veneer_export::Scope;
use veneer_protocol::{Reply, Report, Request};

use crate::cli::{ExportArguments, settings};
use crate::output::complain;
use crate::plans;

/// The JVM takes off what it has not heard of for so many milliseconds.
const LEASE: u64 = 10_000;
/// Characters of a plan's name that the agent keeps.
const NAME: usize = 200;

/// A JVM whose figures are exported.
pub struct Session {
    pid: u32,
    asking: Client,
    scope: Scope,
}

/// What came of beginning.
pub enum Begun {
    /// Everything stands.
    Session(Session),
    /// The agent refused the plan, and that was said.
    PlanFailed,
}

impl Session {
    /// Connects, and attaches the plan.
    pub fn begin(arguments: &ExportArguments) -> Result<Begun> {
        let pid = arguments.pid;
        let plan = match &arguments.plan {
            Some(path) => Some(plans::read(path, &settings(&arguments.settings))?),
            None => None,
        };
        let mut session = Session {
            pid,
            asking: connected(pid, plan.is_some())?,
            scope: match arguments.all {
                true => Scope::All,
                false => Scope::Attached,
            },
        };
        if let Some(plan) = plan {
            let name = as_kept(&plan.name);
            let before = session.expect_whole_report()?;
            session.scope = Scope::of_plan(&name, &before);
            let mut holding = veneer_client::connect(pid)?;
            holding.send(&Request::Exec {
                name,
                source: plan.source,
                settings: plan.settings,
                modules: plan.modules,
                hold: Some(LEASE),
            })?;
            holding.keep_renewing(Duration::from_millis(LEASE / 4))?;
            loop {
                match holding.receive()? {
                    Reply::Print(text) => eprintln!("{text}"),
                    Reply::Done { .. } => break,
                    Reply::Failed { message } => {
                        complain(&message);
                        return Ok(Begun::PlanFailed);
                    }
                    _ => return Err(ControlError::Unexpected(pid).into()),
                }
            }
            // It ends with the command, and with it the connection that holds the plan.
            thread::spawn(move || {
                while let Ok(reply) = holding.receive() {
                    match reply {
                        Reply::Print(text) => eprintln!("{text}"),
                        Reply::Failed { message } => complain(&message),
                        _ => {}
                    }
                }
            });
        }
        Ok(Begun::Session(session))
    }

    /// The JVM's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What is exported.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The connection for questions, from now on for the caller.
    pub fn into_asking(self) -> Client {
        self.asking
    }

    /// What is to be exported now; `None` where the JVM has ended.
    pub fn report(&mut self) -> Result<Option<Report>> {
        let Some(mut report) = self.whole_report()? else {
            return Ok(None);
        };
        self.scope.narrow(&mut report);
        // A JVM in a container knows itself by another number, and several can have the same.
        report.jvm.pid = self.pid;
        Ok(Some(report))
    }

    /// The same, where the JVM must be there.
    pub fn expect_report(&mut self) -> Result<Report> {
        match self.report()? {
            Some(report) => Ok(report),
            None => Err(ControlError::Closed(self.pid).into()),
        }
    }

    fn expect_whole_report(&mut self) -> Result<Report> {
        match self.whole_report()? {
            Some(report) => Ok(report),
            None => Err(ControlError::Closed(self.pid).into()),
        }
    }

    /// Is the JVM still there?
    pub fn is_alive(&mut self) -> Result<bool> {
        let reply = self.ask(&Request::Hello {})?;
        Ok(reply.is_some())
    }

    fn whole_report(&mut self) -> Result<Option<Report>> {
        match self.ask(&Request::Report {})? {
            None => Ok(None),
            Some(Reply::Report(report)) => Ok(Some(*report)),
            // Figures of so many points that they pass the limit of a message.
            Some(Reply::Failed { message }) => bail!(
                "the agent in process {}: {message}; detach instruments, or narrow their patterns",
                self.pid
            ),
            Some(_) => Err(ControlError::Unexpected(self.pid).into()),
        }
    }

    /// Asks; a connection that the agent has closed for others that wanted its place is made anew.
    fn ask(&mut self, request: &Request) -> Result<Option<Reply>> {
        let asked = self.asking.send(request);
        match asked.and_then(|()| self.asking.receive()) {
            Ok(reply) => return Ok(Some(reply)),
            Err(ControlError::Closed(_) | ControlError::Wire { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let Ok(target) = Target::inspect(self.pid) else {
            return Ok(None);
        };
        match Client::connect(&target)? {
            None => return Ok(None),
            Some(client) => self.asking = client,
        }
        self.asking.send(request)?;
        match self.asking.receive() {
            Ok(reply) => Ok(Some(reply)),
            Err(ControlError::Closed(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Connects; the agent is brought in only for a plan, since without one there would be nothing to export.
fn connected(pid: u32, for_plan: bool) -> Result<Client> {
    if for_plan {
        return Ok(veneer_client::connect(pid)?);
    }
    match Client::connect(&Target::inspect(pid)?)? {
        Some(client) => Ok(client),
        None => bail!(
            "there is no agent in process {pid}, so nothing is measured; say what to measure with --plan, or start it under `veneer run`"
        ),
    }
}

/// A plan's name as the agent keeps it.
fn as_kept(name: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().map(clean).take(NAME).collect()
}
