//! The control messages: what can be asked of the agent in a running JVM, and its answers.
//!
//! ```text
//! {"hello":{}}                               {"hello":{"version":"0.1.0","pid":1,"protocol":1}}
//! {"exec":{"name":"f.rhai","source":"…"}}    {"print":"text"} …, then {"done":{"value":"42"}} or {"failed":{"message":"…"}}
//! {"refusals":{}}                            {"refusals":[{"class":…,"method":…,"reason":…,"detail":…}]}
//! {"report":{}}                              {"report":{…}}
//! ```
//!
//! A request that the agent cannot read or answer gets `failed`. The client asks, the agent
//! answers, in turn, as often as the client likes on one connection.

use serde::{Deserialize, Serialize};

use crate::report::{Refusal, Report};

/// The version of this protocol; `hello` carries it. It rises when an old peer would misunderstand.
pub const PROTOCOL: u32 = 1;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Who is there?
    Hello {},
    /// Run this Rhai source.
    Exec {
        /// The name that error messages use.
        name: String,
        /// The program.
        source: String,
    },
    /// What was left alone, and why?
    Refusals {},
    /// The report as it would be written now.
    Report {},
}

/// What the agent answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// To `hello`.
    Hello {
        /// The agent's version.
        version: String,
        /// The process id, as the JVM itself knows it.
        pid: u32,
        /// [`PROTOCOL`] of the agent.
        protocol: u32,
    },
    /// A line that the program of `exec` printed; more follows.
    Print(String),
    /// The program of `exec` ended with this value, as text; empty for Rhai's unit value `()`.
    Done {
        /// The value as text.
        value: String,
    },
    /// The request failed.
    Failed {
        /// What happened and where; may have several lines (source line and caret).
        message: String,
    },
    /// To `refusals`.
    Refusals(Vec<Refusal>),
    /// To `report`.
    Report(Box<Report>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_their_documented_form() {
        for (request, text) in [
            (Request::Hello {}, r#"{"hello":{}}"#),
            (Request::Refusals {}, r#"{"refusals":{}}"#),
            (Request::Report {}, r#"{"report":{}}"#),
            (
                Request::Exec {
                    name: "-".into(),
                    source: "1\n+ 1".into(),
                },
                r#"{"exec":{"name":"-","source":"1\n+ 1"}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
            assert_eq!(serde_json::from_str::<Request>(text).unwrap(), request);
        }
    }

    #[test]
    fn replies_have_their_documented_form() {
        for (reply, text) in [
            (
                Reply::Hello {
                    version: "0.1.0".into(),
                    pid: 7,
                    protocol: PROTOCOL,
                },
                r#"{"hello":{"version":"0.1.0","pid":7,"protocol":1}}"#,
            ),
            (Reply::Print("a".into()), r#"{"print":"a"}"#),
            (
                Reply::Done { value: "2".into() },
                r#"{"done":{"value":"2"}}"#,
            ),
            (
                Reply::Failed {
                    message: "no".into(),
                },
                r#"{"failed":{"message":"no"}}"#,
            ),
            (Reply::Refusals(vec![]), r#"{"refusals":[]}"#),
        ] {
            assert_eq!(serde_json::to_string(&reply).unwrap(), text);
            assert_eq!(serde_json::from_str::<Reply>(text).unwrap(), reply);
        }
    }
}
