//! One client: its requests in turn, and the lease on what it attached.
//!
//! ```text
//!   exec            top level runs ─▶ done is sent ─▶ what it attached stays
//!                        └ the client is gone before that ─▶ it is taken off
//!   exec with hold  top level runs ─▶ done is sent ─▶ renew … renew … ─▶ end, or silence for longer than the lease ─▶ it is taken off
//! ```

use super::clients::Place;
use super::outbox::Outbox;
use super::stream::Stream;
use crate::agent::Agent;
use crate::report;
use crate::worker::Job;
use std::io::BufReader;
use std::sync::Arc;
use std::time::Duration;
use veneer_protocol::{
    PROTOCOL, PlanSource, REQUEST_LIMIT, Reply, Request, WireError, read_message_within,
    write_message,
};

/// How long a client may not read before it is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// The shortest and the longest lease, in milliseconds.
const LEASE: std::ops::RangeInclusive<u64> = 100..=3_600_000;
/// Characters of a program's name that are kept.
const NAME: usize = 200;

/// Serves a client to its end.
pub fn serve(agent: &'static Agent, stream: Stream, place: &Place) {
    let _ = stream.set_read_timeout(None);
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let Ok(reading) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(reading);
    let mut writer = stream;
    loop {
        place.set_busy(false);
        let request = match read_message_within::<Request>(&mut reader, REQUEST_LIMIT) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(e) => {
                let _ = failed(&mut writer, &e.to_string());
                return;
            }
        };
        place.set_busy(true);
        let sent = match request {
            Request::Exec {
                name,
                source,
                settings,
                hold,
            } => {
                let plan = PlanSource {
                    name,
                    source,
                    settings,
                };
                let hold = hold.map(|lease| lease.clamp(*LEASE.start(), *LEASE.end()));
                let outbox = exec(agent, plan, hold.is_some());
                let done = deliver(agent, &mut writer, &outbox);
                if let (true, Some(lease)) = (done, hold) {
                    let lease = Duration::from_millis(lease);
                    return holding(agent, &mut reader, writer, &outbox, lease);
                }
                outbox.close();
                if done {
                    Ok(())
                } else {
                    return;
                }
            }
            // Without something that is held there is nothing to renew.
            Request::Renew {} => Ok(()),
            other => {
                answer(agent, other).map_or(Ok(()), |reply| write_message(&mut writer, &reply))
            }
        };
        match sent {
            Ok(()) => {}
            Err(e @ WireError::TooLong { .. }) if failed(&mut writer, &e.to_string()).is_ok() => {}
            Err(_) => return,
        }
    }
}

fn failed(writer: &mut Stream, message: &str) -> Result<(), WireError> {
    let message = message.into();
    write_message(writer, &Reply::Failed { message })
}

/// The answer to a question; none to what is no question.
fn answer(agent: &Agent, request: Request) -> Option<Reply> {
    Some(match request {
        Request::Hello {} => Reply::Hello {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            protocol: PROTOCOL,
        },
        Request::Refusals {} => Reply::Refusals(report::refusals(agent)),
        Request::Report {} => Reply::Report(Box::new(report::make(agent, crate::jvm_name()))),
        _ => return None,
    })
}

/// A program's name as messages may show it, on terminals too.
fn presentable(name: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().map(clean).take(NAME).collect()
}

/// Asks for a program to be run.
fn exec(agent: &Agent, plan: PlanSource, hold: bool) -> Arc<Outbox> {
    let outbox = Arc::new(Outbox::default());
    let jobs = agent.jobs.lock().unwrap_or_else(|e| e.into_inner()).clone();
    let job = Job::Exec {
        plan: PlanSource {
            name: presentable(&plan.name),
            ..plan
        },
        hold,
        outbox: outbox.clone(),
    };
    if jobs.send(job).is_err() {
        let message = "the JVM is shutting down".into();
        outbox.send(Reply::Failed { message });
    }
    outbox
}

/// Sends what the program prints, and its end. Where the client is gone before that, what the program attached is taken off.
fn deliver(agent: &Agent, writer: &mut Stream, outbox: &Arc<Outbox>) -> bool {
    while let Some(reply) = outbox.next() {
        let last = !matches!(reply, Reply::Print(_));
        if (last && writer.is_deserted()) || write_message(writer, &reply).is_err() {
            take_off(agent, outbox);
            return false;
        }
        if last {
            return true;
        }
    }
    false
}

fn take_off(agent: &Agent, outbox: &Arc<Outbox>) {
    outbox.close();
    let jobs = agent.jobs.lock().unwrap_or_else(|e| e.into_inner()).clone();
    // Where that fails the JVM is shutting down, and nothing is left anyway.
    let _ = jobs.send(Job::TakeOff(outbox.clone()));
}

/// Keeps what the program attached until the client goes, or has not been heard of for longer than its lease.
fn holding(
    agent: &'static Agent,
    reader: &mut BufReader<Stream>,
    mut writer: Stream,
    outbox: &Arc<Outbox>,
    lease: Duration,
) {
    let _ = writer.set_read_timeout(Some(lease));
    let (sending, end) = (outbox.clone(), writer.try_clone());
    let sender = move || {
        while let Some(reply) = sending.next() {
            if write_message(&mut writer, &reply).is_err() {
                // Whoever reads learns it too.
                writer.shutdown();
                return;
            }
        }
    };
    let started = std::thread::Builder::new()
        .name("veneer-client".into())
        .stack_size(super::STACK)
        .spawn(sender);
    if started.is_ok() {
        while let Ok(Some(request)) = read_message_within::<Request>(reader, REQUEST_LIMIT) {
            match request {
                Request::Renew {} => {}
                Request::Exec { .. } => {
                    let message =
                        "this connection holds a program already; open another one".into();
                    outbox.send(Reply::Failed { message });
                }
                other => {
                    if let Some(reply) = answer(agent, other) {
                        outbox.send(reply);
                    }
                }
            }
        }
    }
    take_off(agent, outbox);
    if let Ok(end) = end {
        end.shutdown();
    }
}
