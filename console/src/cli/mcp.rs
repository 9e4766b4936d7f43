//! Arguments and help of `veneer mcp`.

use clap::Args;

const MCP: &str = "\
Examples:
  veneer mcp                                      started by an assistant, as below
  {\"mcpServers\": {\"veneer\": {\"command\": \"veneer\", \"args\": [\"mcp\"]}}}

Answers an assistant over the Model Context Protocol on standard input and output, until standard
input is closed. The tools list the JVMs, search for bottlenecks, ask questions about methods, record
calls and traces, show code, and run the plans that ship with Veneer. Each call runs a command of
`veneer` and ends with the command, so that you can repeat it. Nothing stays attached.

Without --allow-edits no call can change what a program does. docs/mcp.md describes the tools.

Exit codes: 0 standard input was closed, 2 the client does not speak the protocol.";

/// A server for assistants.
#[derive(Debug, Args)]
#[command(after_help = MCP)]
pub struct McpArguments {
    /// Also run plans that the assistant writes, which can edit methods, and detach what others have
    /// attached.
    #[arg(long)]
    pub allow_edits: bool,
}
