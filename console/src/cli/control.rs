//! Arguments and help of the commands that control agents in running JVMs: `ps`, `attach`,
//! `detach`, `patches`, `relay` and `doctor`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{Setting, pid, setting};

const PS: &str = "\
Examples:
  veneer ps
  veneer ps --match Desk
  veneer ps --json | jq -r '.[] | select(.veneer) | .pid'

The list contains the JVMs that this user may attach to (root: all). With --all it also contains the
other JVMs, each with the reason why this user may not attach.

Exit codes: 0 success, 2 not possible.";

const ATTACH: &str = "\
Examples:
  veneer attach 4711
  veneer attach 4711 --plan hot.rhai --set top=10
  veneer attach --match 'shop.*' --timeout 5

Loads the agent. The agent alone arms nothing: no class is changed until a plan attaches something.
With --plan the plan runs, and its instruments and edits stay attached when this command has ended.
`veneer patches` lists them, `veneer detach` detaches them.

A JVM whose code reaches no safepoint can delay the agent. After --timeout seconds this command
reports what the agent waits for, and gives up.

Exit codes: 0 success, 1 a plan failed, 2 a JVM could not be reached.";

const DETACH: &str = "\
Examples:
  veneer detach 4711 i7 p2           an instrument and an edit, whichever plan attached them
  veneer detach 4711 l3              everything that one plan has attached, and its callbacks
  veneer detach 4711 --component 'slow orders'
  veneer detach 4711 --all
  veneer detach 4711 --unload        everything, the armed code and the agent itself
  veneer detach --match 'shop.*' --unload

With --unload every armed class is restored to its own class file, byte for byte. The command prints
how many classes were restored, and the names of any that were not. The agent's threads end, and its
socket and files are deleted. Two things remain, because no JVM can unload them: the agent library
and the small classes that held the call sites. Nothing calls them. `veneer attach` loads the agent
again.

Exit codes: 0 success, 1 something named did not exist or is still attached, 2 a JVM could not be
reached.";

const PATCHES: &str = "\
Examples:
  veneer patches 4711
  veneer patches 4711 --json | jq '.[].loads[].instruments[].id'
  veneer patches 4711 --json | jq '.[].components[] | {name, version, parameters}'

Exit codes: 0 success, 2 a JVM could not be reached.";

const DOCTOR: &str = "\
Examples:
  veneer doctor               what works on this machine, and what does not
  veneer doctor 4711          the same for one JVM
  veneer doctor 4711 --json | jq '.[] | select(.state != \"good\")'

This command sends nothing to the JVM.

Exit codes: 0 everything works, 1 something does not, 2 not possible.";

const RELAY: &str = "\
Examples:
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=veneer \\
      -keyout key.pem -out cert.pem
  veneer relay 4711 --listen 0.0.0.0:4712 --cert cert.pem --key key.pem --token-file t
  veneer exec --connect shop7:4712 --token-file t --cert cert.pem -e 'instruments()'
                                             (on the other machine)

A client that has the token and the certificate can do everything to the JVM that this user can do.
What a client on another machine holds with --hold is detached when its connection ends, and when
this command ends.

Exit codes: 0 the JVM has ended, 2 not possible.";

/// The JVMs that a command applies to.
#[derive(Debug, Args)]
pub struct Targets {
    /// Process ids of JVMs.
    #[arg(value_name = "PID", value_parser = pid(), required_unless_present = "matching")]
    pub pids: Vec<u32>,
    /// All JVMs whose main class (or jar) matches; `*` matches any text.
    #[arg(long = "match", id = "matching", value_name = "MAIN")]
    pub matching: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = PS)]
pub struct PsArguments {
    /// Only JVMs whose main class (or jar) matches; `*` matches any text.
    #[arg(long = "match", value_name = "MAIN")]
    pub matching: Option<String>,
    /// Also list the JVMs that this user may not attach to.
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = ATTACH)]
pub struct AttachArguments {
    #[command(flatten)]
    pub targets: Targets,
    /// A plan (Rhai) to run in each JVM; may be given several times.
    #[arg(long = "plan", value_name = "F")]
    pub plans: Vec<PathBuf>,
    /// The value that `param("NAME", …)` returns in the plans; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting, requires = "plans")]
    pub settings: Vec<Setting>,
    /// How long to wait for each JVM.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Prove that all emitted code does what the original does (see `run --check`).
    #[arg(long)]
    pub check: bool,
    /// Print a JSON array: the status of each JVM.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DETACH)]
pub struct DetachArguments {
    /// The JVMs' process ids, and what to detach: i7, p7, or l3 for everything that one plan
    /// attached.
    #[arg(value_name = "PID|ID", required_unless_present = "matching")]
    pub words: Vec<String>,
    /// All JVMs whose main class (or jar) matches; `*` matches any text.
    #[arg(long = "match", id = "matching", value_name = "MAIN")]
    pub matching: Option<String>,
    /// Everything that a component attached, and its callbacks; its analyser can still be called.
    /// May be given several times.
    #[arg(long = "component", value_name = "NAME")]
    pub components: Vec<String>,
    /// Everything that plans have attached.
    #[arg(long)]
    pub all: bool,
    /// Everything, and unload the agent too.
    #[arg(long)]
    pub unload: bool,
    /// Print a JSON array: what was detached in each JVM.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PATCHES)]
pub struct PatchesArguments {
    #[command(flatten)]
    pub targets: Targets,
    /// Print a JSON array: the status of each JVM.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = RELAY)]
pub struct RelayArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// The address to listen at; 0.0.0.0 means all addresses of this machine, port 0 any free port.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// The certificate to present (PEM).
    #[arg(long, value_name = "F")]
    pub cert: PathBuf,
    /// The private key of the certificate (PEM).
    #[arg(long, value_name = "F")]
    pub key: PathBuf,
    /// The file with the token that a client must present; created if it does not exist.
    #[arg(long, value_name = "F")]
    pub token_file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = DOCTOR)]
pub struct DoctorArguments {
    /// The JVM's process id; without it, only the machine is examined.
    #[arg(value_parser = pid())]
    pub pid: Option<u32>,
    /// Print a JSON array of findings.
    #[arg(long)]
    pub json: bool,
}
