//! Figures for as long as the command runs: an HTTP server for scrapes, pushes to a collector, or both, in one thread.
//!
//! ```text
//!   GET /metrics ─▶ the agent is asked for a report ─▶ OpenMetrics text
//! ```
//!
//! Only programs of this machine reach the address. A web page could, through the user's browser, if its name were made to mean 127.0.0.1; so
//! a request must name this machine as its host. Other users of this machine are kept out by a token, where one was asked for.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use subtle::ConstantTimeEq;
use tiny_http::{Header, Method, Request, Response, Server};
use veneer_client::token;
use veneer_export::openmetrics;

use super::push::Pushed;
use super::session::Session;
use crate::cli::ExportArguments;
use crate::output::{complain, describe};

/// How often it is looked whether the JVM is still there.
const LOOK: Duration = Duration::from_secs(1);

/// A port that is open, and what those who ask must show.
pub struct Door {
    server: Server,
    token: Option<String>,
}

/// Opens the port.
pub fn bind(arguments: &ExportArguments) -> Result<Option<Door>> {
    let Some(address) = arguments.listen else {
        return Ok(None);
    };
    let token = match &arguments.token_file {
        Some(path) => Some(token::read(&token::provide(path)?)?),
        None => None,
    };
    let opened = Server::http(address);
    let server = opened.map_err(|error| {
        anyhow!("{address} cannot be listened at: {error}; choose another port for --listen")
    })?;
    Ok(Some(Door { server, token }))
}

/// Serves and pushes until the time is over or the JVM ends, and gives the exit code.
pub fn run(
    arguments: &ExportArguments,
    mut session: Session,
    door: Option<Door>,
    mut pushed: Option<Pushed>,
) -> Result<u8> {
    if let Some(address) = door.as_ref().and_then(|d| d.server.server_addr().to_ip()) {
        // With port 0 only this says which it is.
        eprintln!(
            "veneer: metrics of {} are at http://{address}/metrics",
            session.pid()
        );
    }
    let end = arguments
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s));
    loop {
        let mut due = Instant::now() + LOOK;
        due = pushed.as_ref().map_or(due, |pushed| due.min(pushed.next()));
        due = end.map_or(due, |end| due.min(end));
        wait(door.as_ref(), due, &mut session)?;
        if !session.is_alive()? {
            complain(&format!("process {} has ended", session.pid()));
            break;
        }
        let over = end.is_some_and(|end| Instant::now() >= end);
        if let Some(pushed) = &mut pushed
            && (over || Instant::now() >= pushed.next())
            && let Some(report) = session.report()?
        {
            pushed.push(&report);
        }
        if over {
            break;
        }
    }
    if let Some(pushed) = pushed.filter(Pushed::has_failed) {
        bail!(
            "{} took no metrics; is a collector there?",
            pushed.address()
        );
    }
    Ok(0)
}

/// Answers requests until something else is due.
fn wait(door: Option<&Door>, due: Instant, session: &mut Session) -> Result<()> {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        match door {
            None => {
                std::thread::sleep(left);
                return Ok(());
            }
            Some(door) => match door.server.recv_timeout(left) {
                Ok(Some(request)) => answer(request, door.token.as_deref(), session),
                Ok(None) => return Ok(()),
                Err(error) => bail!("the port for metrics failed: {error}"),
            },
        }
        if Instant::now() >= due {
            return Ok(());
        }
    }
}

fn answer(request: Request, token: Option<&str>, session: &mut Session) {
    let path = request.url().split(['?', '#']).next().unwrap_or_default();
    let response = if !is_for_this_machine(&request) {
        text(403, "ask by the address of this machine, 127.0.0.1\n")
    } else if !shows(&request, token) {
        let response = text(401, "show the token: Authorization: Bearer …\n");
        match Header::from_bytes("WWW-Authenticate", "Bearer") {
            Ok(header) => response.with_header(header),
            Err(()) => response,
        }
    } else if !matches!(request.method(), Method::Get | Method::Head) {
        text(405, "only GET\n")
    } else if path == "/" {
        text(200, "the metrics are at /metrics\n")
    } else if path != "/metrics" {
        text(404, "the metrics are at /metrics\n")
    } else {
        match session.report() {
            Ok(Some(report)) => {
                let body = openmetrics::render(&report);
                with_type(Response::from_string(body), openmetrics::CONTENT_TYPE)
            }
            Ok(None) => text(503, "the JVM has ended\n"),
            Err(error) => text(503, &format!("{}\n", describe(&error))),
        }
    };
    // Whoever asked may be gone.
    let _ = request.respond(response);
}

type Text = Response<std::io::Cursor<Vec<u8>>>;

fn text(status: u16, body: &str) -> Text {
    let response = Response::from_string(body).with_status_code(status);
    with_type(response, "text/plain; charset=utf-8")
}

fn with_type(response: Text, kind: &str) -> Text {
    match Header::from_bytes("Content-Type", kind) {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}

fn is_for_this_machine(request: &Request) -> bool {
    let host = request.headers().iter().find(|h| h.field.equiv("Host"));
    // Programs before HTTP/1.1 name none, and browsers are not among them.
    host.is_none_or(|host| is_this_machine(host.value.as_str()))
}

/// Whether a request has the token, where one is asked for.
fn shows(request: &Request, token: Option<&str>) -> bool {
    let Some(token) = token else {
        return true;
    };
    let mut headers = request.headers().iter();
    let shown = headers.find(|h| h.field.equiv("Authorization"));
    let shown = shown.and_then(|header| header.value.as_str().strip_prefix("Bearer "));
    // Takes as long for a wrong one as for one that is almost right.
    shown.is_some_and(|shown| shown.trim().as_bytes().ct_eq(token.as_bytes()).into())
}

/// `127.0.0.1:9464`, `localhost`, `[::1]:9464`
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let plain = name.trim_start_matches('[').trim_end_matches(']');
    plain.eq_ignore_ascii_case("localhost")
        || plain
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in [
            "127.0.0.1:9464",
            "127.0.0.1",
            "localhost:1",
            "LOCALHOST",
            "[::1]:9",
            "[::1]",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "evil.org",
            "evil.org:9464",
            "10.0.0.1:9464",
            "127.0.0.1.evil.org:1",
            "localhost.evil.org",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
