//! Sessions: one for each tab and JVM. A session owns what its tab has attached.
//!
//! The tab keeps an event stream open. If the stream ends, the session lives on for [`GRACE_TIME`], so
//! that a reload or a short loss of the connection does not detach anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;

use super::api_error::ApiError;
use super::attachment::{Attached, Attachment};
use super::outlet::{OpenStream, Outlet};
use super::requested_instrument::RequestedInstrument;

/// How long a session lives without an event stream.
pub const GRACE_TIME: Duration = Duration::from_secs(8);
/// The interval at which sessions without an event stream are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);
/// The most sessions of all tabs.
const MAX_SESSIONS: usize = 32;
/// The most attachments of a session, and of all sessions in one JVM. An agent serves 32 clients, and
/// other programs need connections too.
const MAX_ATTACHMENTS: usize = 12;
const MAX_ATTACHMENTS_PER_JVM: usize = 24;

/// The sessions of all tabs, by id.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Mutex<BTreeMap<String, Arc<Session>>>,
    last_id: AtomicU64,
}

/// The attachments of one tab in one JVM.
#[derive(Debug)]
pub struct Session {
    pub id: String,
    pub pid: u32,
    attachments: Mutex<BTreeMap<String, Arc<Attachment>>>,
    last_attachment: AtomicU64,
    outlet: Outlet,
}

/// An attachment in lists.
#[derive(Debug, Serialize)]
pub struct AttachmentRow {
    pub attachment: String,
    #[serde(flatten)]
    pub request: RequestedInstrument,
    /// The plan that attaches the same.
    pub plan: String,
}

impl Sessions {
    /// Opens a session for a tab.
    ///
    /// # Errors
    /// There are too many sessions.
    pub fn open(&self, pid: u32) -> Result<Arc<Session>, ApiError> {
        let mut all = self.all.lock();
        if all.len() >= MAX_SESSIONS {
            return Err(ApiError::too_many(
                "too many tabs are open",
                "close some, and try again after ten seconds",
            ));
        }
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let session = Arc::new(Session {
            id: format!("s{number}"),
            pid,
            attachments: Mutex::default(),
            last_attachment: AtomicU64::new(0),
            outlet: Outlet::default(),
        });
        all.insert(session.id.clone(), session.clone());
        Ok(session)
    }

    /// The session of this id.
    ///
    /// # Errors
    /// There is none, for instance because its tab was closed for too long.
    pub fn get(&self, id: &str) -> Result<Arc<Session>, ApiError> {
        let session = self.all.lock().get(id).cloned();
        session.ok_or_else(|| ApiError::unknown("session of this id: it has ended"))
    }

    /// Ends a session.
    pub fn close(&self, id: &str) {
        let session = self.all.lock().remove(id);
        if let Some(session) = session {
            session.close();
        }
    }

    /// Ends all sessions.
    pub fn close_all(&self) {
        let all = std::mem::take(&mut *self.all.lock());
        all.values().for_each(|session| session.close());
    }

    /// Ends sessions whose tab is gone, until the server ends.
    pub async fn close_abandoned(&self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            let all = self.all.lock();
            let gone = all
                .values()
                .filter(|session| session.outlet.silent_for() > GRACE_TIME);
            let gone: Vec<String> = gone.map(|session| session.id.clone()).collect();
            drop(all);
            gone.iter().for_each(|id| self.close(id));
        }
    }

    /// The number of attachments of all tabs in this JVM.
    fn attachments_in(&self, pid: u32) -> usize {
        let all = self.all.lock();
        let sessions = all.values().filter(|session| session.pid == pid);
        sessions
            .map(|session| session.attachments.lock().len())
            .sum()
    }

    /// Attaches an instrument for a tab.
    ///
    /// # Errors
    /// The agent cannot be reached or refuses the plan, or there are too many attachments.
    pub async fn attach(
        &self,
        session: &Session,
        request: RequestedInstrument,
    ) -> Result<(String, String, Attached), ApiError> {
        let source = request.plan()?;
        let number = session.last_attachment.fetch_add(1, Ordering::Relaxed) + 1;
        let attachment = Arc::new(Attachment::new(format!("a{number}"), request, source));
        let in_jvm = self.attachments_in(session.pid);
        {
            let mut attachments = session.attachments.lock();
            attachments.retain(|_, attachment| !attachment.is_closed());
            if attachments.len() >= MAX_ATTACHMENTS || in_jvm >= MAX_ATTACHMENTS_PER_JVM {
                return Err(ApiError::too_many(
                    "too many instruments of this page are attached",
                    "detach some, here or in other tabs",
                ));
            }
            attachments.insert(attachment.id.clone(), attachment.clone());
        }
        let attached = attachment.attach(session.pid, session.outlet.clone()).await;
        if attached.is_err() {
            session.detach(&attachment.id);
        }
        Ok((attachment.id.clone(), attachment.source.clone(), attached?))
    }
}

impl Session {
    /// Opens the event stream of the tab. The agent sends all counts again.
    pub fn stream(&self) -> OpenStream {
        let stream = self.outlet.open();
        let attachments = self.attachments.lock();
        attachments
            .values()
            .for_each(|attachment| attachment.send_all_again());
        stream
    }

    /// The attachments whose connection is open.
    pub fn attachments(&self) -> Vec<AttachmentRow> {
        let mut attachments = self.attachments.lock();
        attachments.retain(|_, attachment| !attachment.is_closed());
        let rows = attachments.values().map(|attachment| AttachmentRow {
            attachment: attachment.id.clone(),
            request: attachment.request.clone(),
            plan: attachment.source.clone(),
        });
        rows.collect()
    }

    /// Detaches an attachment. Returns whether it was there.
    pub fn detach(&self, id: &str) -> bool {
        let attachment = self.attachments.lock().remove(id);
        attachment.is_some_and(|attachment| {
            attachment.close();
            true
        })
    }

    fn close(&self) {
        let all = std::mem::take(&mut *self.attachments.lock());
        all.values().for_each(|attachment| attachment.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_bounded_and_forgotten() {
        let sessions = Sessions::default();
        let first = sessions.open(7).unwrap();
        for _ in 1..MAX_SESSIONS {
            sessions.open(7).unwrap();
        }
        assert_eq!(sessions.open(7).unwrap_err().code, "too-many");
        sessions.close(&first.id);
        assert_eq!(sessions.get(&first.id).unwrap_err().code, "unknown");
        sessions.open(7).unwrap();
    }
}
