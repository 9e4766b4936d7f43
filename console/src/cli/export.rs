//! Arguments and help of `veneer export`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};

use super::{Setting, address, pid, seconds, setting};

const EXPORT: &str = "\
Examples:
  veneer export 4711                      everything attached now, as OpenMetrics text
  veneer export 4711 --format csv -o metrics.csv
  veneer export 4711 --plan hot.rhai --for 10 --format flamegraph -o hot.html
  veneer export 4711 --plan log.rhai --for 10 --format perfetto -o trace.pftrace
  veneer export 4711 --plan hot.rhai --listen 127.0.0.1:9464          for Prometheus, at /metrics
  veneer export 4711 --plan hot.rhai --otlp http://127.0.0.1:4318 --every 30

With --plan the plan is attached first, and only its metrics are exported. The plan is detached when
the command ends, even if it is killed. The plan's output is written to standard error. Without
--plan the metrics of everything attached are exported; --all adds what was detached.

The HTTP server is part of this command, not of the JVM. It answers programs on this machine only,
but those of every user; --token-file restricts it to programs that present the token.

docs/export.md lists the names of all metrics, and what each format leaves out.

Exit codes: 0 success (also if the JVM ended while its metrics were served or pushed), 1 the plan
failed, 2 the JVM or the receiver could not be reached, or the file could not be written.";

/// A format of exported metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text that Prometheus scrapes.
    Openmetrics,
    /// OpenTelemetry's metrics, as one line of JSON.
    Otlp,
    /// Stacks for flame graph tools: frames, a space, a number.
    Collapsed,
    /// A flame graph: one HTML file that a browser shows without other files.
    Flamegraph,
    /// A row for each point, table entry, and bucket.
    Csv,
    /// The report, as docs/report.md describes it.
    Json,
    /// A trace: logged values, and counters over time.
    Perfetto,
}

#[derive(Debug, Args)]
#[command(after_help = EXPORT)]
pub struct ExportArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// The format of the output.
    #[arg(long, value_enum, default_value = "openmetrics", default_value_if("json", ArgPredicate::Equals("true".into()), "json"),
          conflicts_with_all = ["listen", "otlp"])]
    pub format: Format,
    /// Short for --format json.
    #[arg(long, conflicts_with_all = ["format", "listen", "otlp"])]
    pub json: bool,
    /// Write to this file [default: standard output].
    #[arg(short = 'o', long = "output", value_name = "FILE", conflicts_with_all = ["listen", "otlp"])]
    pub output: Option<PathBuf>,
    /// Wait this many seconds, then export. With --format perfetto, --listen or --otlp: end after
    /// them [default: at Ctrl-C, or when the JVM ends].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// A plan (Rhai) to attach first, and to detach at the end.
    #[arg(long, value_name = "F")]
    pub plan: Option<PathBuf>,
    /// The value that `param("NAME", …)` returns in the plan; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting, requires = "plan")]
    pub settings: Vec<Setting>,
    /// Also export what was detached.
    #[arg(long, conflicts_with = "plan")]
    pub all: bool,
    /// Serve OpenMetrics text at /metrics of this loopback address (port 0: any free port).
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Answer only clients that present the token in this file (Authorization: Bearer TOKEN);
    /// created if it does not exist.
    #[arg(long, value_name = "F", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// Push OpenTelemetry metrics to this collector (OTLP over HTTP, protobuf).
    #[arg(long, value_name = "http://HOST:PORT")]
    pub otlp: Option<String>,
    /// Interval between two pushes [default: 10]; of a trace: between two readings [default: 0.2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub every: Option<f64>,
    /// The service's name in OpenTelemetry.
    #[arg(long, value_name = "NAME", default_value = "unknown_service:java")]
    pub service: String,
}

impl ExportArguments {
    /// Whether the command serves or pushes metrics until it is stopped, and does not write
    /// them once.
    pub fn is_continuous(&self) -> bool {
        self.listen.is_some() || self.otlp.is_some()
    }

    /// Returns why the options contradict each other, if they do. Clap's declarations cannot
    /// express these rules.
    pub fn contradiction(&self) -> Option<&'static str> {
        let trace = self.format == Format::Perfetto;
        if self.plan.is_some() && self.seconds.is_none() && !trace && !self.is_continuous() {
            return Some("--plan needs --for SECONDS: its figures are those of that time");
        }
        if self.every.is_some() && !trace && self.otlp.is_none() {
            return Some("--every is for --otlp and --format perfetto");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn parsed(words: &str) -> ExportArguments {
        match Cli::parse_from(words.split(' ')).command {
            Command::Export(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn json_is_also_a_format() {
        assert_eq!(parsed("veneer export 1").format, Format::Openmetrics);
        assert_eq!(parsed("veneer export 1 --json").format, Format::Json);
        assert_eq!(parsed("veneer export 1 --format csv").format, Format::Csv);
    }

    #[test]
    fn contradictory_options_are_refused() {
        for words in [
            "veneer export",
            "veneer export 1 --format xml",
            "veneer export 1 --format csv --json",
            "veneer export 1 --listen 0.0.0.0:9464",
            "veneer export 1 --listen 127.0.0.1:0 -o f",
            "veneer export 1 --otlp http://127.0.0.1:4318 --format csv",
            "veneer export 1 --set a=b",
            "veneer export 1 --token-file t",
            "veneer export 1 --plan f --all",
            "veneer export 1 --every 0",
        ] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{words}");
        }
        for (words, contradicts) in [
            ("veneer export 1 --plan f", true),
            ("veneer export 1 --plan f --for 1", false),
            ("veneer export 1 --plan f --listen 127.0.0.1:0", false),
            ("veneer export 1 --plan f --format perfetto", false),
            ("veneer export 1 --every 1", true),
            (
                "veneer export 1 --every 1 --otlp http://127.0.0.1:4318",
                false,
            ),
        ] {
            let arguments = parsed(words);
            assert_eq!(arguments.contradiction().is_some(), contradicts, "{words}");
        }
    }
}
