//! Arguments and help of `veneer serve`.

use std::path::PathBuf;

use clap::Args;

const SERVE: &str = "\
Examples:
  veneer serve                    all JVMs of this machine; prints the address to open
  veneer serve 4711 --open        one JVM; opens the browser
  veneer serve --allow-edits      also edits, and plans that are written in the page
  veneer serve --data runs        also opens the files in a folder; no JVM need run
  veneer serve --data shop.calls --trace monday --trace tuesday
                                  one file, and two traces to compare
  veneer serve --source src/main/java --source lib/shop-sources.jar
                                  shows the source beside the flow graph of a method

The page shows the JVMs, their classes, the flow graph of a method with live counts, bottlenecks and
calls. It measures and changes nothing unless --allow-edits is given. Everything that it attaches is
detached ten seconds after its tab is closed, and when this command ends.

--data names files of `veneer calls -o`, `veneer run --call-graph`, `veneer search --json`,
`veneer search --record`, `veneer run --search` and `veneer trace -o`, or folders with such files.
Nothing outside these folders is opened; symbolic links are not followed.

Sources are also found in src.zip of the JDK, and in NAME-sources.jar beside NAME.jar of the class
path.

The server listens on the loopback only. The address has a token, which the browser keeps as a cookie.
For a browser on another machine, forward the port: ssh -L 8080:127.0.0.1:8080 HOST.

Exit codes: 0 ended by Ctrl-C, 2 the port cannot be opened or a folder cannot be read.";

/// The server of the page.
#[derive(Debug, Args)]
#[command(after_help = SERVE)]
pub struct ServeArguments {
    /// Show only these JVMs.
    #[arg(value_name = "PID", value_parser = super::values::pid())]
    pub pids: Vec<u32>,
    /// The port on the loopback; 0 for any free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Open the page in the browser of this machine.
    #[arg(long)]
    pub open: bool,
    /// Open the recordings in this folder, and three folders deep; or this file. May be given several
    /// times.
    #[arg(long, value_name = "DIR|FILE")]
    pub data: Vec<PathBuf>,
    /// Open this trace, or the traces in this folder; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub trace: Vec<PathBuf>,
    /// The sources of a program: a folder or a jar; may be given several times.
    #[arg(long, value_name = "DIR|JAR")]
    pub source: Vec<PathBuf>,
    /// Also allow edits of methods, plans that are written in the page, and detaching what others
    /// have attached.
    #[arg(long)]
    pub allow_edits: bool,
}
