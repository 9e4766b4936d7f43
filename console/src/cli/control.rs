//! The grammar of what steers agents in running JVMs: `ps`, `attach`, `detach`, `patches`, `doctor`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{Setting, pid, setting};

const PS: &str = "\
Examples:
  veneer ps
  veneer ps --match Desk
  veneer ps --json | jq -r '.[] | select(.veneer) | .pid'

Shown are the JVMs that this user may attach to (root: all); with --all the others too, and why not.

Exit codes: 0 done, 2 not possible.";

const ATTACH: &str = "\
Examples:
  veneer attach 4711
  veneer attach 4711 --plan hot.rhai --set top=10
  veneer attach --match 'shop.*' --timeout 5

Loads the agent, which arms nothing by itself: until something is attached no class is touched. With --plan the plan runs, and what
it attaches stays when this command has ended; `veneer patches` shows it, `veneer detach` takes it off.

A JVM that runs code without a stop may keep the agent waiting; after --timeout seconds this command says what it waits for, and gives up.

Exit codes: 0 done, 1 a plan failed, 2 a JVM could not be reached.";

const DETACH: &str = "\
Examples:
  veneer detach 4711 i7 p2           an instrument and an edit, whoever attached them
  veneer detach 4711 l3              all that a plan has attached, and its callbacks
  veneer detach 4711 --component 'slow orders'
  veneer detach 4711 --all
  veneer detach 4711 --unload        everything, the armed code and the agent itself
  veneer detach --match 'shop.*' --unload

With --unload every armed class gets its own class file back, byte for byte, and the command says how many did and names any that did not. The
agent's threads, its socket and its files go. What stays is what no JVM unloads, the library and the small classes that held the cells; nothing calls them.
`veneer attach` brings the agent in again.

Exit codes: 0 done, 1 something of it was not there or is left, 2 a JVM could not be reached.";

const PATCHES: &str = "\
Examples:
  veneer patches 4711
  veneer patches 4711 --json | jq '.[].loads[].instruments[].id'
  veneer patches 4711 --json | jq '.[].components[] | {name, version, parameters}'

Exit codes: 0 done, 2 a JVM could not be reached.";

const DOCTOR: &str = "\
Examples:
  veneer doctor               what would work on this machine, and what would not
  veneer doctor 4711          the same for a JVM
  veneer doctor 4711 --json | jq '.[] | select(.state != \"good\")'

Nothing is sent to the JVM.

Exit codes: 0 everything works, 1 something does not, 2 not possible.";

const RELAY: &str = "\
Examples:
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=veneer -keyout key.pem -out cert.pem
  veneer relay 4711 --listen 0.0.0.0:4712 --cert cert.pem --key key.pem --token-file t
  veneer exec --connect shop7:4712 --token-file t --cert cert.pem -e 'instruments()'     (on the other machine)

Who has the token and the certificate can do all that this user can do to the JVM. What somebody holds from another machine is taken off
when the connection ends, and when this command does.

Exit codes: 0 the JVM has ended, 2 not possible.";

/// Which JVMs are meant.
#[derive(Debug, Args)]
pub struct Which {
    /// Process ids of JVMs.
    #[arg(value_name = "PID", value_parser = pid(), required_unless_present = "matching")]
    pub pids: Vec<u32>,
    /// All JVMs whose main class (or jar) matches, `*` standing for anything.
    #[arg(long = "match", id = "matching", value_name = "MAIN")]
    pub matching: Option<String>,
}

/// `veneer ps`.
#[derive(Debug, Args)]
#[command(after_help = PS)]
pub struct PsArguments {
    /// Only those whose main class (or jar) matches, `*` standing for anything.
    #[arg(long = "match", value_name = "MAIN")]
    pub matching: Option<String>,
    /// Also those that this user may not attach to.
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `veneer attach`.
#[derive(Debug, Args)]
#[command(after_help = ATTACH)]
pub struct AttachArguments {
    #[command(flatten)]
    pub which: Which,
    /// A plan (Rhai) to run in each; may be given several times.
    #[arg(long = "plan", value_name = "F")]
    pub plans: Vec<PathBuf>,
    /// What `param("NAME", …)` in the plans gives; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting, requires = "plans")]
    pub settings: Vec<Setting>,
    /// How long a JVM may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Have the agent prove of all emitted code that it does what the original does (see `run --check`).
    #[arg(long)]
    pub check: bool,
    /// Print a JSON array: the status of each JVM.
    #[arg(long)]
    pub json: bool,
}

/// `veneer detach`.
#[derive(Debug, Args)]
#[command(after_help = DETACH)]
pub struct DetachArguments {
    /// The JVMs' process ids, and what to take off: i7, p7, or l3 for all that a plan attached.
    #[arg(value_name = "PID|ID", required_unless_present = "matching")]
    pub words: Vec<String>,
    /// All JVMs whose main class (or jar) matches, `*` standing for anything.
    #[arg(long = "match", id = "matching", value_name = "MAIN")]
    pub matching: Option<String>,
    /// All of a component, and its callbacks; its analyser can still be asked. May be given several times.
    #[arg(long = "component", value_name = "NAME")]
    pub components: Vec<String>,
    /// Everything that plans have attached.
    #[arg(long)]
    pub all: bool,
    /// Everything, and the agent too.
    #[arg(long)]
    pub unload: bool,
    /// Print a JSON array: what was taken off in each JVM.
    #[arg(long)]
    pub json: bool,
}

/// `veneer patches`.
#[derive(Debug, Args)]
#[command(after_help = PATCHES)]
pub struct PatchesArguments {
    #[command(flatten)]
    pub which: Which,
    /// Print a JSON array: the status of each JVM.
    #[arg(long)]
    pub json: bool,
}

/// `veneer relay`.
#[derive(Debug, Args)]
#[command(after_help = RELAY)]
pub struct RelayArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Where to listen; 0.0.0.0 stands for all addresses of this machine, port 0 for any that is free.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// The certificate to show (PEM).
    #[arg(long, value_name = "F")]
    pub cert: PathBuf,
    /// Its private key (PEM).
    #[arg(long, value_name = "F")]
    pub key: PathBuf,
    /// The file with the token that a client must show; made where it is missing.
    #[arg(long, value_name = "F")]
    pub token_file: PathBuf,
}

/// `veneer doctor`.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR)]
pub struct DoctorArguments {
    /// The JVM's process id; without it, only the machine is looked at.
    #[arg(value_parser = pid())]
    pub pid: Option<u32>,
    /// Print a JSON array of findings.
    #[arg(long)]
    pub json: bool,
}
