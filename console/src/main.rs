//! The `veneer` command: starts applications with the agent, talks to agents in running JVMs, and
//! shows the fragments of class files.
//!
//! ```text
//!   cli ─┬─ run ────── command_line  java  agent  plans ─ modules  disk_check  child
//!        ├─ exec ───┬─ veneer_client
//!        ├─ ask ────┤
//!        ├─ shell ──┤
//!        ├─ ps  attach  detach  patches  doctor ─┤
//!        ├─ top ────┤
//!        ├─ search ─┤     veneer_search
//!        ├─ export ─┤     veneer_export, veneer_flames
//!        ├─ refusals┘     table
//!        ├─ report ── post_mortem
//!        ├─ calls ─── veneer_calls, veneer_flames
//!        ├─ lifetimes  veneer_memory
//!        ├─ memory ── veneer_memory
//!        ├─ trace ─── veneer_traces, veneer_flames
//!        ├─ fragments ─ inputs
//!        └─ check ──────┘
//! ```
//!
//! Exit codes:
//! - `run` ends with the application's own exit code.
//! - 0: success.
//! - 1: the Rhai program of `exec` failed, a question matched no method, `check` found a fault, or
//!   `trace diff` a difference.
//! - 2: Veneer could not do what was asked.

mod ask;
mod attach;
mod calls;
mod check;
mod child;
mod cli;
mod command_line;
mod detach;
mod disk_check;
mod doctor;
mod dry_run;
mod dumps;
mod embedded_agent;
mod exec;
mod exit_code;
mod export;
mod flow_counts;
mod fragments;
mod full_screen;
mod generated;
mod held_plan;
mod html_report;
mod initialisers;
mod inputs;
mod interruption;
mod java;
mod lifetimes;
mod list;
mod matching;
mod mcp;
mod memory;
mod modules;
mod output;
mod patches;
mod plans;
mod post_mortem;
mod ps;
mod quantity;
mod recorded_jvm;
mod refusals;
mod relay;
mod remote;
mod replaced_file;
mod report;
mod reports;
mod run;
mod search;
mod serve;
mod shell;
mod shipped_plans;
mod status;
mod table;
mod targets;
mod top;
mod trace;
mod tune;

use std::process::ExitCode;

/// `check` makes and drops many small things in several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    embedded_agent::register();
    let result = match cli.command {
        Command::Run(arguments) => run::run(*arguments),
        Command::Ps(arguments) => ps::run(arguments),
        Command::Attach(arguments) => attach::run(arguments),
        Command::Detach(arguments) => detach::run(arguments),
        Command::Patches(arguments) => patches::run(arguments),
        Command::Relay(arguments) => relay::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Exec(arguments) => exec::run(arguments),
        Command::Plans(arguments) => shipped_plans::run(arguments),
        Command::Shell(arguments) => shell::run(arguments),
        Command::Ask(question) => ask::run(question),
        Command::List(arguments) => list::run(arguments),
        Command::Top(arguments) => top::run(arguments),
        Command::Search(arguments) => search::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Refusals(arguments) => refusals::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Calls(arguments) => calls::run(arguments),
        Command::Lifetimes(arguments) => lifetimes::run(&arguments),
        Command::Memory(arguments) => memory::run(arguments),
        Command::Trace(arguments) => trace::run(arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Fragments(arguments) => fragments::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Completions(arguments) => generated::completions(arguments),
        Command::Man(arguments) => generated::man(arguments),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        // The reader of our output has seen enough (`veneer … | head`).
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&output::describe(&error));
            ExitCode::from(exit_code::EXIT_FAILED)
        }
    }
}
