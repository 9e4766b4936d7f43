//! A running `veneer serve`, and requests to it without a browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

use crate::command::veneer;
use crate::process::{Process, end_group, event_timeout};

/// A running `veneer serve`.
pub struct Server {
    pub child: Child,
    /// The address with the token.
    pub address: String,
}

impl Server {
    /// Starts the server with these options.
    ///
    /// # Errors
    /// The command does not print an address.
    pub fn start(options: &[&str]) -> Result<Server, Box<dyn std::error::Error>> {
        Server::start_as(veneer().arg("serve").args(options))
    }

    /// Starts the server by this command.
    ///
    /// # Errors
    /// The command does not print an address.
    pub fn start_as(command: Process) -> Result<Server, Box<dyn std::error::Error>> {
        let mut child = command.start()?;
        let out = child.stdout.take().ok_or("no standard output")?;
        let mut address = String::new();
        BufReader::new(out).read_line(&mut address)?;
        let address = address.trim().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Ok(Server { child, address })
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        let rest = self.address.trim_start_matches("http://");
        rest.split_once('/').map_or(rest, |(host, _)| host)
    }

    /// The token of the address.
    pub fn token(&self) -> &str {
        self.address
            .split_once("token=")
            .map_or("", |(_, token)| token)
    }

    /// Sends a request as it is, and returns the answer with its headers.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn raw(&self, request: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(self.host())?;
        stream.set_read_timeout(Some(event_timeout()))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// Sends a request with a cookie, as the page does.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn request(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let (host, token) = (self.host(), self.token());
        let port = host.rsplit(':').next().unwrap_or_default();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncookie: veneer-{port}={token}\r\n\
             origin: http://{host}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end_group(&mut self.child);
    }
}
