//! The grammar and the help of `veneer export`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};

use super::{Setting, address, pid, seconds, setting};

const EXPORT: &str = "\
Examples:
  veneer export 4711                                                        what is attached now, as OpenMetrics text
  veneer export 4711 --format csv -o figures.csv
  veneer export 4711 --plan hot.rhai --for 10 --format collapsed | flamegraph.pl > hot.svg
  veneer export 4711 --plan log.rhai --for 10 --format perfetto -o trace.pftrace
  veneer export 4711 --plan hot.rhai --listen 127.0.0.1:9464                for Prometheus, at http://127.0.0.1:9464/metrics
  veneer export 4711 --plan hot.rhai --otlp http://127.0.0.1:4318 --every 30

With --plan the plan is attached first, only its figures are exported, and it is taken off when the command ends, however that comes
about. What it prints goes to standard error. Without it the figures are those of everything that is attached; --all adds what was detached.

The server is in this command, not in the JVM. It answers programs of this machine only, of all its users; --token-file keeps out the others.

docs/export.md has the names of all metrics, and what each format leaves out.

Exit codes: 0 done (also when the JVM has ended while its figures were served or pushed), 1 the plan failed, 2 the JVM or the receiver could not
be reached, or the file not be written.";

/// A form of the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text that Prometheus scrapes.
    Openmetrics,
    /// OpenTelemetry's metrics, a line of JSON.
    Otlp,
    /// Stacks for flame graphs: frames, a space, a number.
    Collapsed,
    /// A row for each point, entry of a table, and bucket.
    Csv,
    /// The report, as docs/report.md describes it.
    Json,
    /// A trace: logged values, and counters over time.
    Perfetto,
}

/// `veneer export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT)]
pub struct ExportArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// The form of the figures.
    #[arg(long, value_enum, default_value = "openmetrics", default_value_if("json", ArgPredicate::Equals("true".into()), "json"),
          conflicts_with_all = ["listen", "otlp"])]
    pub format: Format,
    /// The same as --format json.
    #[arg(long, conflicts_with_all = ["format", "listen", "otlp"])]
    pub json: bool,
    /// Write to this file [default: standard output].
    #[arg(short = 'o', long = "output", value_name = "FILE", conflicts_with_all = ["listen", "otlp"])]
    pub output: Option<PathBuf>,
    /// Wait so long, and export then; of a trace, --listen and --otlp: end then [default: at Ctrl-C, or with the JVM].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// A plan (Rhai) to attach first, and to take off at the end.
    #[arg(long, value_name = "F")]
    pub plan: Option<PathBuf>,
    /// What `param("NAME", …)` in the plan gives; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting, requires = "plan")]
    pub settings: Vec<Setting>,
    /// Also what was detached.
    #[arg(long, conflicts_with = "plan")]
    pub all: bool,
    /// Serve OpenMetrics text at /metrics of this address of this machine (port 0: any that is free).
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Answer only who shows the token in this file (Authorization: Bearer TOKEN); made where it is missing.
    #[arg(long, value_name = "F", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// Push OpenTelemetry metrics to this collector (OTLP over HTTP, protobuf).
    #[arg(long, value_name = "http://HOST:PORT")]
    pub otlp: Option<String>,
    /// Push so often [default: 10]; of a trace: look so often [default: 0.2].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub every: Option<f64>,
    /// The service's name in OpenTelemetry.
    #[arg(long, value_name = "NAME", default_value = "unknown_service:java")]
    pub service: String,
}

impl ExportArguments {
    /// Serves or pushes, rather than write once.
    pub fn goes_on(&self) -> bool {
        self.listen.is_some() || self.otlp.is_some()
    }

    /// What the grammar cannot say: options that make no sense together.
    pub fn contradiction(&self) -> Option<&'static str> {
        let trace = self.format == Format::Perfetto;
        if self.plan.is_some() && self.seconds.is_none() && !trace && !self.goes_on() {
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
    fn json_is_a_format_too() {
        assert_eq!(parsed("veneer export 1").format, Format::Openmetrics);
        assert_eq!(parsed("veneer export 1 --json").format, Format::Json);
        assert_eq!(parsed("veneer export 1 --format csv").format, Format::Csv);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
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
