//! The control messages: what can be asked of the agent in a running JVM, and its answers.
//!
//! ```text
//! {"hello":{}}                               {"hello":{"version":"0.1.0","pid":1,"protocol":3}}
//! {"exec":{"name":"f.rhai","source":"…"}}    {"print":"text"} …, then {"done":{"value":"42"}} or {"failed":{"message":"…"}}
//! {"exec":{…,"hold":10000}}                  the same; then more {"print":…}, as long as {"renew":{}} comes in time
//! {"input":{"source":"…","hold":10000}}      the same; the next input sees its variables and functions
//! {"refusals":{}}                            {"refusals":[{"class":…,"method":…,"reason":…,"detail":…}]}
//! {"report":{}}                              {"report":{…}}
//! {"status":{}}                              {"status":{…}}: what is attached, and whose it is
//! {"detach":"all"}                           {"detached":{…}}
//! {"analyse":{"component":"slow orders"}}    {"analysis":{…}}: what the component's analyser says
//! {"subscribe":{"every":1000}}               {"update":{…}} {"update":{…}} …, until {"unsubscribe":{}}
//! ```
//!
//! A request that the agent cannot read or answer gets `failed`. The client asks, the agent
//! answers, in turn, as often as the client likes on one connection. Updates and prints come in between.
//!
//! What a program attaches stays when the program has ended well and the client was still there to be told so. With `hold` it stays
//! only as long as the client does: until the connection ends, or nothing has come over it for that many milliseconds.
//!
//! Inputs are pieces of one program, as they are typed at a prompt. From the first one on the connection is a prompt: it takes no `exec`,
//! and what the inputs attach is held as with `hold`, unless {"keep":{}} comes before the end.
//!
//! Over TCP the first line is the token, 64 hexadecimal digits; there is no answer to a right one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::report::{Refusal, Report};
use crate::status::{Analysis, Detached, Status, Which};
use crate::update::{Subscription, Update};

/// The version of this protocol; `hello` carries it. It rises when an old peer would misunderstand.
pub const PROTOCOL: u32 = 3;

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
        /// What `param(…)` in it gives, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        settings: BTreeMap<String, String>,
        /// What it imports: texts by their paths from its directory, without `.rhai`. The agent opens nothing.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        modules: BTreeMap<String, String>,
        /// What it attaches is taken off when the connection ends, or is silent for so many milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<u64>,
    },
    /// Run this piece of a program, which sees the variables and functions of those before it on this connection.
    Input {
        /// What messages call the text, where it was read from a file; none where it was typed. The agent opens nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The text.
        source: String,
        /// What it imports, as for `exec`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        modules: BTreeMap<String, String>,
        /// Only look: the value is shown, as a table of so many rows where it has one, and nothing else stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        look: Option<u32>,
        /// What all inputs attach is taken off when the connection ends, or is silent for so many milliseconds; that of the first counts.
        hold: u64,
    },
    /// What the inputs on this connection attach stays when it ends; not answered.
    Keep {},
    /// I am still here; not answered.
    Renew {},
    /// What was left alone, and why?
    Refusals {},
    /// The report as it would be written now.
    Report {},
    /// What is attached, by whom, since when?
    Status {},
    /// Take something off, whoever attached it.
    Detach(Which),
    /// What does this component's analyser say?
    Analyse {
        /// Its name, or the name of its load (`l3`).
        component: String,
    },
    /// Send what changes, again and again; a second one takes the place of the first.
    Subscribe(Subscription),
    /// No more of that; not answered.
    Unsubscribe {},
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
    /// To `status`.
    Status(Box<Status>),
    /// To `detach`.
    Detached(Box<Detached>),
    /// To `analyse`.
    Analysis(Box<Analysis>),
    /// To `subscribe`, as long as it lasts.
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
            (Request::Status {}, r#"{"status":{}}"#),
            (Request::Detach(Which::All), r#"{"detach":"all"}"#),
            (
                Request::Detach(Which::These(vec!["i7".into()])),
                r#"{"detach":{"these":["i7"]}}"#,
            ),
            (
                Request::Detach(Which::Components(vec!["slow orders".into()])),
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
                    points: crate::POINTS_AT_ONCE,
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
                    protocol: PROTOCOL,
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
