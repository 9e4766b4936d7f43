//! The control messages: requests to the agent in a running JVM, and the agent's replies.
//!
//! ```text
//! {"hello":{}}                               {"hello":{"version":"0.1.0","pid":1,"protocol":3}}
//! {"exec":{"name":"f.rhai","source":"…"}}    {"print":"text"} …, then {"done":{"value":"42"}}
//!                                            or {"failed":{"message":"…"}}
//! {"exec":{…,"hold":10000}}                  the same; then more {"print":…} as long as the
//!                                            client sends {"renew":{}} in time
//! {"input":{"source":"…","hold":10000}}      the same; the next input sees its variables
//!                                            and functions
//! {"refusals":{}}                            {"refusals":[{"class":…,"method":…,"reason":…,"detail":…}]}
//! {"report":{}}                              {"report":{…}}
//! {"status":{}}                              {"status":{…}}: attachments and their owners
//! {"detach":"all"}                           {"detached":{…}}
//! {"analyse":{"component":"slow orders"}}    {"analysis":{…}}: the component analyser's result
//! {"classcode":{"patterns":["a.B::m"]}}      {"classcode":{…}} …, then {"done":{"value":""}}
//! {"subscribe":{"every":1000}}               {"update":{…}} {"update":{…}} …, until {"unsubscribe":{}}
//! ```
//!
//! The agent answers the requests of one connection in order. A client may send any number of
//! requests on one connection. Updates and prints may arrive between a request and its reply. If
//! the agent cannot read or execute a request, its reply is `failed`.
//!
//! **Lifetime of attachments.** Without `hold`, instruments and patches of a program remain
//! attached if the program ends without an error and the agent can still send `done`. With `hold`,
//! they remain only as long as the client: the agent detaches them when the connection ends, or
//! when the connection has been silent for `hold` milliseconds.
//!
//! **Inputs** are the pieces of one program that a user types at a prompt. The first input makes
//! the connection a prompt, and the agent then refuses `exec` on that connection. Attachments of
//! inputs are held as with `hold`, unless the client sends {"keep":{}} before the connection ends.
//!
//! **TCP.** The first line of a TCP connection is the token, 64 hexadecimal digits. The agent does
//! not answer a correct token.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::class_code::ClassCode;
use crate::report::Report;
use crate::status::{Analysis, DetachReport, DetachTarget, Status};
use crate::update::{Subscription, Update};
use veneer_measurements::RefusalRow;

/// The version of this protocol, which `hello` reports. The version is raised when an old peer
/// would misunderstand a message.
pub const PROTOCOL_VERSION: u32 = 3;

/// A message from a client to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Asks for the agent's version, process id and protocol version.
    Hello {},
    /// Runs a Rhai program.
    Exec {
        /// The name that error messages use.
        name: String,
        /// The source text of the plan.
        source: String,
        /// Values that `param(…)` returns in the program, by parameter name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        settings: BTreeMap<String, String>,
        /// Source texts of the imported modules. A key is the module's path relative to the
        /// program's directory, without `.rhai`. The agent itself opens no file.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        modules: BTreeMap<String, String>,
        /// If set, the agent detaches the program's instruments and patches when the connection
        /// ends, or when the connection has been silent for this many milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<u64>,
    },
    /// Runs one piece of a program. The piece sees the variables and functions of earlier inputs on
    /// this connection.
    Input {
        /// The name that messages use for the text if the client read it from a file; `None` if the
        /// user typed it. The agent itself opens no file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The source text of the plan.
        source: String,
        /// Source texts of the imported modules, by path, as in [`Request::Exec`].
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        modules: BTreeMap<String, String>,
        /// If set, the agent only shows the value of the input and keeps no other result. If the
        /// value is a table, the agent shows at most this many rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        look: Option<u32>,
        /// The agent detaches the attachments of all inputs when the connection ends, or when the
        /// connection has been silent for this many milliseconds. The value in the first input of
        /// the connection applies to all inputs.
        hold: u64,
    },
    /// Keeps the attachments of this connection's inputs after the connection ends. No reply.
    Keep {},
    /// Ends the held program of this connection: runs its callbacks of `at_exit`, and detaches its
    /// instruments and patches. The reply is `done`, after the last print.
    End {},
    /// Renews the lease of held attachments. No reply.
    Renew {},
    /// Asks for the classes and methods that the agent refused to instrument, with reasons.
    Refusals {},
    /// Asks for the report with the current counts.
    Report {},
    /// Asks for all attachments with their owners and ages.
    Status {},
    /// Detaches instruments or patches of any owner.
    Detach(DetachTarget),
    /// Runs the analyser of a component and asks for its result.
    Analyse {
        /// The component's name, or the id of its plan instance (`l3`).
        component: String,
    },
    /// Asks for the class files of armed classes, and of the versions of their methods. Loaded
    /// classes that are not armed yet are armed first.
    ClassCode {
        /// Patterns that select methods.
        patterns: Vec<String>,
    },
    /// Starts periodic updates. A second subscription on a connection replaces the first one.
    Subscribe(Subscription),
    /// Ends the subscription. No reply.
    Unsubscribe {},
}

/// A message from the agent to a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// Answers `hello`.
    Hello {
        /// The agent's version.
        version: String,
        /// The process id in the JVM's own process namespace.
        pid: u32,
        /// The agent's value of [`PROTOCOL_VERSION`].
        protocol: u32,
    },
    /// A line that the program of `exec` or `input` printed. Further replies follow.
    Print(String),
    /// The program of `exec` or `input` ended without an error.
    Done {
        /// The program's value as text; empty for Rhai's unit value `()`.
        value: String,
    },
    /// Answers any request that the agent could not execute.
    Failed {
        /// The error and its position; may have several lines (source line and caret).
        message: String,
    },
    /// Answers `refusals`.
    Refusals(Vec<RefusalRow>),
    /// Answers `report`.
    Report(Box<Report>),
    /// Answers `status`.
    Status(Box<Status>),
    /// Answers `detach`.
    Detached(Box<DetachReport>),
    /// Answers `analyse`.
    Analysis(Box<Analysis>),
    /// Answers `classcode`, once for each class. `done` follows the last one.
    ClassCode(Box<ClassCode>),
    /// Answers `subscribe` periodically until the subscription ends.
    Update(Box<Update>),
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
                    settings: BTreeMap::new(),
                    modules: BTreeMap::new(),
                    hold: None,
                },
                r#"{"exec":{"name":"-","source":"1\n+ 1"}}"#,
            ),
            (
                Request::Exec {
                    name: "-".into(),
                    source: "1".into(),
                    settings: BTreeMap::from([("n".into(), "2".into())]),
                    modules: BTreeMap::from([("lib/a".into(), "fn f() {}".into())]),
                    hold: Some(10_000),
                },
                r#"{"exec":{"name":"-","source":"1","settings":{"n":"2"},"modules":{"lib/a":"fn f() {}"},"hold":10000}}"#,
            ),
            (
                Request::Input {
                    file: None,
                    source: "let a = 1".into(),
                    modules: BTreeMap::new(),
                    look: None,
                    hold: 10_000,
                },
                r#"{"input":{"source":"let a = 1","hold":10000}}"#,
            ),
            (
                Request::Input {
                    file: Some("hot.rhai".into()),
                    source: "c".into(),
                    modules: BTreeMap::new(),
                    look: Some(20),
                    hold: 10_000,
                },
                r#"{"input":{"file":"hot.rhai","source":"c","look":20,"hold":10000}}"#,
            ),
            (Request::Keep {}, r#"{"keep":{}}"#),
            (Request::Renew {}, r#"{"renew":{}}"#),
            (Request::End {}, r#"{"end":{}}"#),
            (Request::Status {}, r#"{"status":{}}"#),
            (Request::Detach(DetachTarget::All), r#"{"detach":"all"}"#),
            (
                Request::Detach(DetachTarget::Ids(vec!["i7".into()])),
                r#"{"detach":{"these":["i7"]}}"#,
            ),
            (
                Request::Detach(DetachTarget::Components(vec!["slow orders".into()])),
                r#"{"detach":{"components":["slow orders"]}}"#,
            ),
            (
                Request::Analyse {
                    component: "slow orders".into(),
                },
                r#"{"analyse":{"component":"slow orders"}}"#,
            ),
            (
                Request::Subscribe(Subscription {
                    every: 500,
                    instruments: vec!["i1".into()],
                    events: true,
                    points: crate::MAX_POINTS_PER_UPDATE,
                }),
                r#"{"subscribe":{"every":500,"instruments":["i1"],"events":true}}"#,
            ),
            (
                Request::Subscribe(Subscription {
                    every: 500,
                    instruments: Vec::new(),
                    events: false,
                    points: 7,
                }),
                r#"{"subscribe":{"every":500,"events":false,"points":7}}"#,
            ),
            (
                Request::ClassCode {
                    patterns: vec!["a.B::m".into()],
                },
                r#"{"classcode":{"patterns":["a.B::m"]}}"#,
            ),
            (Request::Unsubscribe {}, r#"{"unsubscribe":{}}"#),
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
                    protocol: PROTOCOL_VERSION,
                },
                r#"{"hello":{"version":"0.1.0","pid":7,"protocol":3}}"#,
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
            (
                Reply::Analysis(Box::new(Analysis {
                    component: "slow orders".into(),
                    version: Some("1.2".into()),
                    text: "#{}".into(),
                    value: serde_json::json!({}),
                })),
                r##"{"analysis":{"component":"slow orders","version":"1.2","text":"#{}","value":{}}}"##,
            ),
        ] {
            assert_eq!(serde_json::to_string(&reply).unwrap(), text);
            assert_eq!(serde_json::from_str::<Reply>(text).unwrap(), reply);
        }
    }
}
