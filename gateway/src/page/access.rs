//! Decides which requests are answered. The server listens on the loopback only, but every page in the
//! user's browser and every user of the machine can send requests there.
//!
//! | attack | what prevents it |
//! | --- | --- |
//! | another user or program of this machine | the token, 256 random bits |
//! | a foreign page that sends requests | the cookie is `SameSite=Strict`; `Origin` must be this server |
//! | DNS rebinding: a foreign name that leads to 127.0.0.1 | `Host` must be this server |
//! | a foreign page that shows this one in a frame | `frame-ancestors 'none'` |
//! | a token that others read in the history or over the shoulder | the first request replaces it by a cookie |

use std::io;

use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, ORIGIN, UPGRADE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use subtle::ConstantTimeEq;
use veneer_client::token::random_token;

use super::api_error::ApiError;

/// Headers of all responses.
pub const SECURITY_HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// Who may send requests.
#[derive(Debug)]
pub struct Access {
    token: String,
    /// The values of `Host` that mean this server.
    hosts: [String; 2],
    /// The name of the cookie. Browsers do not separate cookies by port, so the name has the port.
    cookie: String,
}

/// The decision about a request.
#[derive(Debug)]
pub enum Decision {
    /// The request is answered.
    Answered,
    /// The request brought the token in its address. The browser is sent to the page with this cookie.
    SentOn(String),
    /// The request is refused.
    Refused(ApiError),
}

impl Access {
    /// Makes a new token for the server at this port.
    ///
    /// # Errors
    /// The system has no random bits.
    pub fn new(port: u16) -> io::Result<Access> {
        Ok(Access {
            token: random_token()?,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            cookie: format!("veneer-{port}"),
        })
    }

    /// The address that a browser has to open first.
    pub fn first_address(&self) -> String {
        format!("http://{}/?token={}", self.hosts[0], self.token)
    }

    /// Decides about a request.
    pub fn decide(&self, request: &Parts) -> Decision {
        let host = text(&request.headers, &HOST);
        if !self.hosts.iter().any(|own| Some(own.as_str()) == host) {
            return Decision::Refused(ApiError::wrong_host(&self.hosts[0]));
        }
        let query = request.uri.query().unwrap_or_default();
        if let Some(token) = query.strip_prefix("token=")
            && request.uri.path() == "/"
            && request.method == Method::GET
        {
            return match self.is_token(token) {
                true => Decision::SentOn(format!(
                    "{}={}; HttpOnly; SameSite=Strict; Path=/",
                    self.cookie, self.token
                )),
                false => Decision::Refused(ApiError::wrong_token()),
            };
        }
        let token = cookie(&request.headers, &self.cookie);
        if !token.is_some_and(|token| self.is_token(token)) {
            return Decision::Refused(ApiError::wrong_token());
        }
        // The policies of browsers do not keep foreign pages from opening a WebSocket.
        let is_own = match (&request.method, request.headers.contains_key(UPGRADE)) {
            (&Method::GET, false) => true,
            (&Method::GET, true) => is_own_origin(request, host),
            _ => is_own_origin(request, host) && is_json(request),
        };
        match is_own {
            true => Decision::Answered,
            false => Decision::Refused(ApiError::foreign_origin()),
        }
    }

    fn is_token(&self, text: &str) -> bool {
        text.as_bytes().ct_eq(self.token.as_bytes()).into()
    }
}

/// Whether the page itself sent a request.
fn is_own_origin(request: &Parts, host: Option<&str>) -> bool {
    let origin = text(&request.headers, &ORIGIN);
    let origin = origin.and_then(|origin| origin.strip_prefix("http://"));
    origin.is_some() && origin == host
}

/// Whether the body is JSON. A foreign page cannot send this type without asking this server first.
fn is_json(request: &Parts) -> bool {
    text(&request.headers, &CONTENT_TYPE) == Some("application/json")
}

fn text<'h>(headers: &'h HeaderMap<HeaderValue>, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn cookie<'h>(headers: &'h HeaderMap<HeaderValue>, name: &str) -> Option<&'h str> {
    let pairs = headers.get_all(COOKIE).iter();
    let pairs = pairs.filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn access() -> Access {
        Access::new(4711).unwrap()
    }

    fn decide(access: &Access, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        match access.decide(&parts) {
            Decision::Answered => "answered".into(),
            Decision::SentOn(_) => "sent on".into(),
            Decision::Refused(error) => error.code.into(),
        }
    }

    #[test]
    fn a_request_needs_the_host_and_the_token() {
        let access = access();
        let token = access.token.clone();
        let cookie = format!("other=1; veneer-4711={token}");
        let wrong = format!("veneer-4711={}", "0".repeat(64));
        let elsewhere = format!("veneer-4712={token}");
        let host = ("host", "127.0.0.1:4711");
        let first = format!("/?token={token}");
        for (path, headers, expected) in [
            (first.as_str(), vec![host], "sent on"),
            (
                first.as_str(),
                vec![("host", "evil.example:4711")],
                "wrong-host",
            ),
            ("/?token=00", vec![host], "wrong-token"),
            ("/", vec![host], "wrong-token"),
            ("/", vec![host, ("cookie", &cookie)], "answered"),
            (
                "/",
                vec![("host", "localhost:4711"), ("cookie", &cookie)],
                "answered",
            ),
            ("/", vec![host, ("cookie", &wrong)], "wrong-token"),
            ("/", vec![host, ("cookie", &elsewhere)], "wrong-token"),
            (
                "/",
                vec![("host", "127.0.0.1:80"), ("cookie", &cookie)],
                "wrong-host",
            ),
            (
                "/",
                vec![("host", "rebound.example"), ("cookie", &cookie)],
                "wrong-host",
            ),
            ("/", vec![("cookie", &cookie)], "wrong-host"),
        ] {
            assert_eq!(decide(&access, "GET", path, &headers), expected, "{path}");
        }
    }

    #[test]
    fn only_the_page_itself_can_change_something() {
        let access = access();
        let cookie = format!("veneer-4711={}", access.token);
        let own = [("host", "127.0.0.1:4711"), ("cookie", cookie.as_str())];
        let json = ("content-type", "application/json");
        for (extra, expected) in [
            (vec![("origin", "http://127.0.0.1:4711"), json], "answered"),
            (vec![("origin", "http://127.0.0.1:4711")], "foreign-origin"),
            (vec![json], "foreign-origin"),
            (
                vec![("origin", "http://localhost:4711"), json],
                "foreign-origin",
            ),
            (
                vec![("origin", "https://127.0.0.1:4711"), json],
                "foreign-origin",
            ),
            (vec![("origin", "null"), json], "foreign-origin"),
            (
                vec![("origin", "http://evil.example"), json],
                "foreign-origin",
            ),
            (
                vec![
                    ("origin", "http://127.0.0.1:4711"),
                    ("content-type", "text/plain"),
                ],
                "foreign-origin",
            ),
        ] {
            let headers: Vec<_> = own.iter().chain(&extra).copied().collect();
            assert_eq!(
                decide(&access, "POST", "/api/1/sessions", &headers),
                expected
            );
            assert_eq!(
                decide(&access, "DELETE", "/api/1/sessions/s1", &headers),
                expected
            );
        }
    }

    #[test]
    fn a_foreign_page_cannot_open_a_stream() {
        let access = access();
        let cookie = format!("veneer-4711={}", access.token);
        let own = [
            ("host", "127.0.0.1:4711"),
            ("cookie", cookie.as_str()),
            ("upgrade", "websocket"),
        ];
        for (origin, expected) in [
            (Some("http://127.0.0.1:4711"), "answered"),
            (Some("http://evil.example"), "foreign-origin"),
            (None, "foreign-origin"),
        ] {
            let origin = origin.map(|origin| ("origin", origin));
            let headers: Vec<_> = own.iter().copied().chain(origin).collect();
            let path = "/api/1/sessions/s1/stream";
            assert_eq!(decide(&access, "GET", path, &headers), expected);
        }
    }

    #[test]
    fn the_first_address_leads_to_a_cookie_with_the_token() {
        let access = access();
        let address = access.first_address();
        let (_, token) = address.split_once("token=").unwrap();
        assert_eq!(token.len(), 64);
        let request = Request::builder()
            .uri(address.strip_prefix("http://127.0.0.1:4711").unwrap())
            .header("host", "127.0.0.1:4711");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let Decision::SentOn(cookie) = access.decide(&parts) else {
            panic!("no cookie");
        };
        assert_eq!(
            cookie,
            format!("veneer-4711={token}; HttpOnly; SameSite=Strict; Path=/")
        );
    }
}
