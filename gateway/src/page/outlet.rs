//! The way of events from the threads of attachments to the event stream of their tab.
//!
//! ```text
//!   attachment ─┐
//!   attachment ─┼─▶ Outlet ─▶ OpenStream ─▶ the tab
//!   attachment ─┘     └─ waits while the tab has no stream
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use veneer_protocol::Update;

/// The number of events that may wait for the browser.
const MAX_WAITING_EVENTS: usize = 64;
/// The interval at which a thread without a receiver looks for one.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The way from the threads of attachments to the event stream of the tab.
#[derive(Clone, Debug, Default)]
pub struct Outlet {
    state: Arc<Mutex<OutletState>>,
}

#[derive(Debug)]
struct OutletState {
    receiver: Option<Sender<TabEvent>>,
    /// The number of the stream, so that the end of an old one does not concern its successor.
    stream: u64,
    /// Since when the tab has no event stream.
    silent_since: Option<Instant>,
}

impl Default for OutletState {
    fn default() -> OutletState {
        OutletState {
            receiver: None,
            stream: 0,
            silent_since: Some(Instant::now()),
        }
    }
}

/// An event of the stream, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabEvent(String);

impl TabEvent {
    /// Counts of an attachment.
    pub fn update(attachment: &str, update: &Update) -> TabEvent {
        let event = json!({"event": "update", "attachment": attachment, "update": update});
        TabEvent(event.to_string())
    }

    /// A line that the plan of an attachment printed.
    pub fn print(attachment: &str, line: &str) -> TabEvent {
        let event = json!({"event": "print", "attachment": attachment, "line": line});
        TabEvent(event.to_string())
    }

    /// The end of an attachment that the tab did not ask for.
    pub fn ended(attachment: &str, reason: &str) -> TabEvent {
        let event = json!({"event": "ended", "attachment": attachment, "reason": reason});
        TabEvent(event.to_string())
    }

    /// The text of the event.
    pub fn into_text(self) -> String {
        self.0
    }
}

impl Outlet {
    /// Hands an event to the stream, and waits while there is none. Returns false if `is_closed`
    /// became true before the event was taken.
    pub fn send(&self, event: TabEvent, is_closed: &AtomicBool) -> bool {
        let mut event = event;
        while !is_closed.load(Ordering::Acquire) {
            let receiver = self.state.lock().receiver.clone();
            match receiver.map(|receiver| receiver.blocking_send(event.clone())) {
                Some(Ok(())) => return true,
                Some(Err(refused)) => event = refused.0,
                None => {}
            }
            thread::sleep(RETRY_INTERVAL);
        }
        false
    }

    /// Begins a stream, in place of an older one.
    pub fn open(&self) -> OpenStream {
        let (sender, receiver) = channel(MAX_WAITING_EVENTS);
        let mut state = self.state.lock();
        state.receiver = Some(sender);
        state.stream += 1;
        state.silent_since = None;
        OpenStream {
            receiver,
            outlet: self.clone(),
            number: state.stream,
        }
    }

    /// How long the tab has had no event stream.
    pub fn silent_for(&self) -> Duration {
        let since = self.state.lock().silent_since;
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// An event stream that the browser reads. Its end begins the session's time of grace.
#[derive(Debug)]
pub struct OpenStream {
    receiver: Receiver<TabEvent>,
    outlet: Outlet,
    number: u64,
}

impl OpenStream {
    /// The next event; `None` if a newer stream has replaced this one.
    pub async fn next(&mut self) -> Option<TabEvent> {
        self.receiver.recv().await
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut state = self.outlet.state.lock();
        if state.stream == self.number {
            state.receiver = None;
            state.silent_since = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(n: u32) -> TabEvent {
        TabEvent::print("a1", &n.to_string())
    }

    #[tokio::test]
    async fn an_event_waits_for_the_next_stream() {
        let outlet = Outlet::default();
        let first = outlet.open();
        drop(first);
        let sending = {
            let outlet = outlet.clone();
            thread::spawn(move || outlet.send(event(1), &AtomicBool::new(false)))
        };
        let mut second = outlet.open();
        assert_eq!(second.next().await, Some(event(1)));
        assert!(sending.join().unwrap());
    }

    #[test]
    fn nothing_waits_for_a_closed_attachment() {
        assert!(!Outlet::default().send(event(1), &AtomicBool::new(true)));
    }

    #[tokio::test]
    async fn the_end_of_a_replaced_stream_changes_nothing() {
        let outlet = Outlet::default();
        let mut first = outlet.open();
        let second = outlet.open();
        assert_eq!(first.next().await, None);
        drop(first);
        assert_eq!(outlet.silent_for(), Duration::ZERO);
        assert!(outlet.state.lock().receiver.is_some());
        drop(second);
        assert!(outlet.state.lock().receiver.is_none());
        assert!(outlet.state.lock().silent_since.is_some());
    }
}
