//! Exports metrics continuously: an HTTP server for scrapes, pushes to a collector, or both, in one
//! thread.
//!
//! ```text
//!   GET /metrics ─▶ request a report from the agent ─▶ OpenMetrics text
//! ```
//!
//! Three kinds of clients must be considered:
//! * Programs on other machines cannot reach the address, which is a loopback address.
//! * A web page could reach the address through the user's browser, if the page's host name
//!   resolves to 127.0.0.1. A request is therefore only answered if its `Host` header names this
//!   machine.
//! * Other users of this machine are rejected if the command has `--token-file`.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use subtle::ConstantTimeEq;
use tiny_http::{Header, Method, Request, Response, Server};
use veneer_client::token;
use veneer_export::openmetrics;

use super::push::Pusher;
use super::session::ExportSession;
use crate::cli::ExportArguments;
use crate::output::{describe, print_error};

/// Interval between two checks whether the JVM runs.
const ALIVE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The open port, and the token that requests must contain.
pub struct MetricsServer {
    http: Server,
    token: Option<String>,
}

/// Opens the port.
pub fn bind(arguments: &ExportArguments) -> Result<Option<MetricsServer>> {
    let Some(address) = arguments.listen else {
        return Ok(None);
    };
    let token = match &arguments.token_file {
        Some(path) => Some(token::read_token_file(&token::create_token_file(path)?)?),
        None => None,
    };
    let opened = Server::http(address);
    let server = opened.map_err(|error| {
        anyhow!("{address} cannot be listened at: {error}; choose another port for --listen")
    })?;
    Ok(Some(MetricsServer {
        http: server,
        token,
    }))
}

/// Serves and pushes until the time is over or the JVM ends. Returns the exit code.
pub fn run(
    arguments: &ExportArguments,
    mut session: ExportSession,
    server: Option<MetricsServer>,
    mut pusher: Option<Pusher>,
) -> Result<u8> {
    if let Some(address) = server.as_ref().and_then(|d| d.http.server_addr().to_ip()) {
        // If the user chose port 0, this line is the only place where the port is shown.
        print_error(&format_args!(
            "metrics of {} are at http://{address}/metrics",
            session.pid()
        ));
    }
    let end = arguments
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s));
    loop {
        let mut due = Instant::now() + ALIVE_CHECK_INTERVAL;
        due = pusher.as_ref().map_or(due, |pusher| due.min(pusher.next()));
        due = end.map_or(due, |end| due.min(end));
        wait(server.as_ref(), due, &mut session)?;
        if !session.is_alive()? {
            print_error(&format!("process {} has ended", session.pid()));
            break;
        }
        let over = end.is_some_and(|end| Instant::now() >= end);
        if let Some(pusher) = &mut pusher
            && (over || Instant::now() >= pusher.next())
            && let Some(report) = session.report()?
        {
            pusher.push(&report);
        }
        if over {
            break;
        }
    }
    if let Some(pusher) = pusher.filter(Pusher::has_failed) {
        bail!(
            "{} took no metrics; is a collector there?",
            pusher.address()
        );
    }
    Ok(0)
}

/// Answers requests until `due`.
fn wait(server: Option<&MetricsServer>, due: Instant, session: &mut ExportSession) -> Result<()> {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        match server {
            None => {
                std::thread::sleep(left);
                return Ok(());
            }
            Some(server) => match server.http.recv_timeout(left) {
                Ok(Some(request)) => answer(request, server.token.as_deref(), session),
                Ok(None) => return Ok(()),
                Err(error) => bail!("the port for metrics failed: {error}"),
            },
        }
        if Instant::now() >= due {
            return Ok(());
        }
    }
}

fn answer(request: Request, token: Option<&str>, session: &mut ExportSession) {
    let path = request.url().split(['?', '#']).next().unwrap_or_default();
    let response = if !is_for_this_machine(&request) {
        text(403, "ask by the address of this machine, 127.0.0.1\n")
    } else if !has_token(&request, token) {
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
    // A failure means that the client has closed the connection.
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
    // Only clients older than HTTP/1.1 send no `Host` header. Browsers always send it.
    host.is_none_or(|host| is_this_machine(host.value.as_str()))
}

/// Whether a request contains the token, if a token is required.
fn has_token(request: &Request, token: Option<&str>) -> bool {
    let Some(token) = token else {
        return true;
    };
    let mut headers = request.headers().iter();
    let shown = headers.find(|h| h.field.equiv("Authorization"));
    let shown = shown.and_then(|header| header.value.as_str().strip_prefix("Bearer "));
    // The comparison takes the same time for any wrong token, so that its duration reveals nothing.
    shown.is_some_and(|shown| shown.trim().as_bytes().ct_eq(token.as_bytes()).into())
}

/// Whether the host is this machine: `127.0.0.1:9464`, `localhost`, `[::1]:9464`.
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
