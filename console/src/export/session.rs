//! The connections of an export: one that holds the plan, if there is a plan, and one for requests.
//!
//! ```text
//!   holding ── exec {hold} ─▶ the plan is attached ─ renew … renew …
//!       ├───── the command ends ─▶ the agent detaches the plan
//!       └───── prints ─▶ standard error
//!   requests ─── report, report, …        subscribe
//! ```

use std::thread;

use anyhow::{Result, bail};
use veneer_client::{Client, ControlError, Target};
use veneer_export::ExportScope;
use veneer_protocol::{Reply, Report, Request};
use veneer_text::replace_control_characters;

use crate::cli::{ExportArguments, settings};
use crate::output::{print_error, print_note};
use crate::plans;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};

/// Maximum number of characters of a plan's name. The agent drops the rest.
const MAX_PLAN_NAME_CHARS: usize = 200;

/// A JVM whose metrics are exported.
pub struct ExportSession {
    pid: u32,
    requests: Client,
    scope: ExportScope,
}

/// The result of [`ExportSession::begin`].
pub enum SessionStart {
    Session(ExportSession),
    /// The agent refused the plan. The error was printed.
    PlanFailed,
}

impl ExportSession {
    /// Connects to the agent, and attaches the plan if there is one.
    pub fn begin(arguments: &ExportArguments) -> Result<SessionStart> {
        let pid = arguments.pid;
        let plan = match &arguments.plan {
            Some(path) => Some(plans::read(path, &settings(&arguments.settings))?),
            None => None,
        };
        let mut session = ExportSession {
            pid,
            requests: connect(pid, plan.is_some())?,
            scope: match arguments.all {
                true => ExportScope::All,
                false => ExportScope::Attached,
            },
        };
        if let Some(plan) = plan {
            let name = stored_name(&plan.name);
            let before = session.expect_whole_report()?;
            session.scope = ExportScope::for_plan(&name, &before);
            let mut holding = veneer_client::connect(pid)?;
            holding.send(&Request::Exec {
                name,
                source: plan.source,
                settings: plan.settings,
                modules: plan.modules,
                hold: Some(LEASE_MILLIS),
            })?;
            holding.keep_renewing(RENEWAL_INTERVAL)?;
            loop {
                match holding.receive()? {
                    Reply::Print(text) => print_note(&text),
                    Reply::Done { .. } => break,
                    Reply::Failed { message } => {
                        print_error(&message);
                        return Ok(SessionStart::PlanFailed);
                    }
                    _ => return Err(ControlError::Unexpected(pid).into()),
                }
            }
            // The thread and its connection end with the command.
            thread::spawn(move || {
                while let Ok(reply) = holding.receive() {
                    match reply {
                        Reply::Print(text) => print_note(&text),
                        Reply::Failed { message } => print_error(&message),
                        _ => {}
                    }
                }
            });
        }
        Ok(SessionStart::Session(session))
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The part of the metrics that is exported.
    pub fn scope(&self) -> &ExportScope {
        &self.scope
    }

    /// Returns the connection for requests.
    pub fn into_requests(self) -> Client {
        self.requests
    }

    /// Returns the metrics to export, or `None` if the JVM has ended.
    pub fn report(&mut self) -> Result<Option<Report>> {
        let Some(mut report) = self.whole_report()? else {
            return Ok(None);
        };
        self.scope.filter_report(&mut report);
        // A JVM in a container reports the process id inside the container. Several JVMs may have
        // the same one.
        report.jvm.pid = self.pid;
        Ok(Some(report))
    }

    /// Like [`ExportSession::report`], but fails if the JVM has ended.
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

    /// Whether the JVM still runs.
    pub fn is_alive(&mut self) -> Result<bool> {
        let reply = self.ask(&Request::Hello {})?;
        Ok(reply.is_some())
    }

    fn whole_report(&mut self) -> Result<Option<Report>> {
        match self.ask(&Request::Report {})? {
            None => Ok(None),
            Some(Reply::Report(report)) => Ok(Some(*report)),
            // The report exceeds the size limit of a message, because there are too many points.
            Some(Reply::Failed { message }) => bail!(
                "the agent in process {}: {message}; detach instruments, or narrow their patterns",
                self.pid
            ),
            Some(_) => Err(ControlError::Unexpected(self.pid).into()),
        }
    }

    /// Sends a request and returns the reply. The agent may have closed the connection in favour of
    /// another client; then a new connection is opened.
    fn ask(&mut self, request: &Request) -> Result<Option<Reply>> {
        let asked = self.requests.send(request);
        match asked.and_then(|()| self.requests.receive()) {
            Ok(reply) => return Ok(Some(reply)),
            Err(ControlError::Closed(_) | ControlError::Wire { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let Ok(target) = Target::inspect(self.pid) else {
            return Ok(None);
        };
        match Client::connect(&target)? {
            None => return Ok(None),
            Some(client) => self.requests = client,
        }
        self.requests.send(request)?;
        match self.requests.receive() {
            Ok(reply) => Ok(Some(reply)),
            Err(ControlError::Closed(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Connects to the agent. The agent is loaded only if there is a plan, because without a plan a new
/// agent has nothing to export.
fn connect(pid: u32, for_plan: bool) -> Result<Client> {
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

/// Returns a plan's name in the form in which the agent stores it.
fn stored_name(name: &str) -> String {
    let replaced = replace_control_characters(name);
    replaced.chars().take(MAX_PLAN_NAME_CHARS).collect()
}
