//! A conversation with `veneer mcp` through the official Python SDK, one call after the other.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::command::path;
use crate::downloads::receiver;
use crate::process::{Process, end_group};

/// The characters of a token. Tables of numbers and names have more tokens per character than prose.
const CHARACTERS_PER_TOKEN: usize = 3;

/// A running server with its client. Both are ended when this value is dropped.
pub struct McpClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The number of calls until now.
    pub calls: usize,
    /// The number of tokens of all calls and answers, an estimate that is too large.
    pub tokens: usize,
}

impl McpClient {
    /// Starts a server that only measures. `python` has the SDK.
    ///
    /// # Errors
    /// The client or the server does not start.
    pub fn start(python: &Process) -> Result<McpClient, Box<dyn std::error::Error>> {
        let client = python.clone().arg(receiver("mcp_client.py"));
        let mut child = client.arg(path()).arg("mcp").start()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let mut client = McpClient {
            child,
            input,
            output: BufReader::new(output),
            calls: 0,
            tokens: 0,
        };
        // The first line describes the server and its tools.
        client.line()?;
        Ok(client)
    }

    /// Calls a tool and returns the text of its answer.
    ///
    /// # Errors
    /// The server does not answer, or the answer is an error.
    pub fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let call = json!({"tool": tool, "arguments": arguments}).to_string();
        writeln!(self.input, "{call}")?;
        self.input.flush()?;
        let answer: Value = serde_json::from_str(&self.line()?)?;
        let text = answer["text"].as_str().unwrap_or_default().to_owned();
        self.calls += 1;
        let characters = call.chars().count() + text.chars().count();
        self.tokens += characters.div_ceil(CHARACTERS_PER_TOKEN);
        match answer["error"] == json!(false) {
            true => Ok(text),
            false => Err(format!("{call}: {text}").into()),
        }
    }

    fn line(&mut self) -> Result<String, Box<dyn std::error::Error>> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err("the client of the server has ended".into()),
            _ => Ok(line),
        }
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        end_group(&mut self.child);
    }
}
