//! `veneer top`: a full-screen view of the hottest methods of a running JVM and of their fragments.
//! Keys attach instruments.
//!
//! ```text
//!   terminal ─ keys ─▶ model ─ effects ─▶ feed ═ one connection for each plan ═▶ agent
//!                        ▲                  │
//!                        └──── events ──────┘        view: model ─▶ lines on the screen
//! ```
//!
//! The model depends neither on the terminal nor on the agent. Each instrument has its own
//! connection and is held on a lease. The agent therefore detaches it however this process ends.

mod cost;
mod events;
mod feed;
mod keys;
mod layout;
mod location;
mod measurements;
mod methods;
mod model;
mod open_method;
mod packages;
mod picker;
mod plain;
mod plan;
mod probe;
mod sampler;
mod save;
mod screen;
mod session;
mod stack_times;
mod text;
mod theme;
mod view;

use std::io::{self, IsTerminal};

use anyhow::Result;
use veneer_client::Target;

use crate::cli::TopArguments;
use crate::exec;
use crate::output::print_error;
use model::EndReason;
use session::TopSession;

/// Runs the view until `q`, the end of the JVM, or the end of the given time.
pub fn run(arguments: TopArguments) -> Result<u8> {
    // The process id is checked before the terminal is switched to the full screen. An error
    // message is then printed below the command that the user typed.
    Target::inspect(arguments.pid)?;
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    let on_screen = terminal && !arguments.once && !arguments.json;
    let every = match on_screen {
        true => arguments.every,
        // The interval is at most the total time, so that there is a second sample. Rates are
        // calculated from two samples.
        false => arguments.every.min(plain::seconds(&arguments)),
    };
    let mut session = TopSession::begin(&arguments, every);
    if on_screen {
        screen::run(&mut session)?;
    } else {
        plain::run(&mut session, &arguments)?;
    }
    let pid = arguments.pid;
    match std::mem::take(&mut session.model.end) {
        None => {
            if on_screen && let Some(attached) = session.model.attached {
                print_error(&format!(
                    "process {pid}: nothing is attached any more; {} methods stay armed, at no cost (`veneer detach {pid} --unload` restores them)",
                    attached.methods
                ));
            }
            Ok(0)
        }
        Some(EndReason::JvmEnded) => {
            let seconds = session.began.elapsed().as_secs();
            print_error(&format!(
                "process {pid} has ended; it was watched for {seconds} s"
            ));
            Ok(0)
        }
        Some(EndReason::Refused(message)) => {
            print_error(&explain_refusal(&message, &arguments));
            Ok(exec::EXIT_PROGRAM_FAILED)
        }
        Some(EndReason::ConnectionLost(message)) => {
            print_error(&message);
            Ok(crate::exit_code::EXIT_FAILED)
        }
    }
}

/// Explains why the agent refused the counters, without naming functions of a plan that the user
/// did not write.
fn explain_refusal(message: &str, arguments: &TopArguments) -> String {
    let TopArguments { pid, limit, .. } = arguments;
    match message.contains("methods(…).limit(") {
        true => format!(
            "process {pid} has more than {limit} such methods; name fewer (veneer top {pid} 'com.shop..*'), or allow more with --limit"
        ),
        false => message.to_owned(),
    }
}
