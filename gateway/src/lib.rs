//! Gateways to Veneer for programs that speak other protocols. This crate is the only one with an
//! asynchronous runtime.
//!
//! ```text
//!   assistant ── MCP over standard input and output ──▶ mcp  ─▶ the command `veneer` ─▶ agents in JVMs
//!   browser ──── HTTP over the loopback ──────────────▶ page ─┬▶ the command `veneer` ─▶ agents in JVMs
//!                                                             └▶ veneer-client ────────▶ agents in JVMs
//! ```

pub mod mcp;
pub mod page;
