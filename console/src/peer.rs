//! The JVM that a command talks to: a process of this machine, or whoever listens at an address.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Result, bail};
use veneer_client::{Client, token};

/// See the module documentation.
#[derive(Debug, Clone)]
pub enum Peer {
    /// By its process id.
    Process(u32),
    /// By its control port, or that of a relay, with the token in this file, and the certificate that a relay must show.
    Port(SocketAddr, PathBuf, Option<PathBuf>),
}

impl Peer {
    /// From the arguments of a command.
    pub fn of(
        pid: Option<u32>,
        connect: Option<SocketAddr>,
        token_file: Option<PathBuf>,
        certificate: Option<PathBuf>,
    ) -> Result<Peer> {
        match (pid, connect, token_file) {
            (Some(pid), ..) => Ok(Peer::Process(pid)),
            (None, Some(address), Some(file)) => Ok(Peer::Port(address, file, certificate)),
            _ => bail!("name a process id, or --connect and --token-file"),
        }
    }

    /// A connection; the agent is loaded first where it is not there.
    pub fn connect(&self) -> Result<Client> {
        Ok(match self {
            Peer::Process(pid) => veneer_client::connect(*pid)?,
            Peer::Port(address, file, certificate) => {
                Client::connect_to(*address, &token::read(file)?, certificate.as_deref())?
            }
        })
    }
}
