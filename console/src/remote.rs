//! The JVM that a command talks to: a process on this machine, or a control port. Also the lease on
//! which commands hold what they attach.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use veneer_client::{Client, token};

/// The lease, in milliseconds, on which this command holds plans and prompts. If the agent receives
/// nothing on a connection for this time, it detaches what the connection holds.
pub const LEASE_MILLIS: u64 = 10_000;
/// Interval between two renewals of the lease: a quarter of it.
pub const RENEWAL_INTERVAL: Duration = Duration::from_millis(LEASE_MILLIS / 4);

#[derive(Debug, Clone)]
pub enum RemoteAddress {
    /// A process on this machine, by its process id.
    Process(u32),
    /// The control port of a JVM or of a relay: its address, the file with the token, and the
    /// certificate that a relay must present.
    Port(SocketAddr, PathBuf, Option<PathBuf>),
}

impl RemoteAddress {
    /// Selects the JVM by the arguments of a command.
    pub fn from_arguments(
        pid: Option<u32>,
        connect: Option<SocketAddr>,
        token_file: Option<PathBuf>,
        certificate: Option<PathBuf>,
    ) -> Result<RemoteAddress> {
        match (pid, connect, token_file) {
            (Some(pid), ..) => Ok(RemoteAddress::Process(pid)),
            (None, Some(address), Some(file)) => {
                Ok(RemoteAddress::Port(address, file, certificate))
            }
            _ => bail!("name a process id, or --connect and --token-file"),
        }
    }

    /// Connects to the agent. If the JVM is a process on this machine and has no agent, the agent
    /// is loaded first.
    pub fn connect(&self) -> Result<Client> {
        Ok(match self {
            RemoteAddress::Process(pid) => veneer_client::connect(*pid)?,
            RemoteAddress::Port(address, file, certificate) => Client::connect_to(
                *address,
                &token::read_token_file(file)?,
                certificate.as_deref(),
            )?,
        })
    }
}
