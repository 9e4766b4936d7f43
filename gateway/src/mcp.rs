//! A server of the Model Context Protocol (MCP, revision 2025-06-18 and newer) on standard input and
//! output: `veneer mcp`.
//!
//! ```text
//!   tools/call ─▶ tools: arguments ─▶ words of `veneer` ─▶ command: runs it ─▶ pages: at most 1,500 tokens
//!                                                                             └──▶ the rest, by a cursor
//! ```
//!
//! Each call runs the command `veneer`, so it attaches what the command attaches, and nothing stays
//! attached after the call. If the assistant cancels a call or goes away, the command is killed, and
//! the agent detaches what the command had attached, because its connection is closed.
//!
//! **Invariant:** without [`Options::allow_edits`], no call can change what a program does. Plans
//! that the assistant writes can edit methods, so they are refused then; expressions in questions
//! are checked by `tools/expression.rs`.

mod command;
mod pages;
mod tools;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;
use thiserror::Error;

use command::run_all;
use pages::Pages;
use tools::{Call, CallError};

/// The text with which the server introduces itself.
const INSTRUCTIONS: &str = "Veneer measures running Java programs at methods, lines, loops and \
     branches, without a restart. Begin with `machines`, then `search` (where does the time go, and \
     why) or `ask` (one question about methods that you name). Patterns: 'com.shop..*' (all classes \
     of a package and below), 'com.shop.Desk', 'com.shop.Desk::serve(..)'. Each answer ends with the \
     command that repeats it.";

/// The options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the command `veneer`.
    pub veneer: PathBuf,
    /// The version that the server reports.
    pub version: String,
    /// Whether plans that the assistant writes may run, and whether attachments of others may be
    /// detached.
    pub allow_edits: bool,
}

/// Why the server could not work.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The runtime could not be started.
    #[error("the server cannot be started: {0}")]
    Runtime(#[from] std::io::Error),
    /// The client did not begin as the protocol requires.
    #[error("the client on standard input does not speak MCP: {0}")]
    Begin(String),
    /// The server ended by a failure of its own.
    #[error("the server failed: {0}")]
    Failed(String),
}

/// Serves the client on standard input and output until it closes standard input.
///
/// # Errors
/// The client does not speak the protocol, or the server could not be started.
pub fn serve(options: Options) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        let server = McpServer::new(options);
        let running = match server.serve(stdio()).await {
            Ok(running) => running,
            // The client has closed standard input before it asked for anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Begin(error.to_string())),
        };
        let ended = running.waiting().await;
        ended.map_err(|error| ServeError::Failed(error.to_string()))?;
        Ok(())
    });
    // A read of standard input cannot be cancelled, so the runtime does not wait for its threads.
    runtime.shutdown_background();
    result
}

/// The server: its options, and the pages of answers that were not asked for yet.
struct McpServer {
    options: Options,
    pages: Mutex<Pages>,
}

impl McpServer {
    fn new(options: Options) -> McpServer {
        McpServer {
            options,
            pages: Mutex::default(),
        }
    }

    /// The text of a page, or the reason why there is none.
    async fn answer(&self, name: &str, arguments: &Value) -> Result<String, CallError> {
        let call = tools::parse(name, arguments, self.options.allow_edits)?;
        let commands = match call {
            Call::Page(cursor) => {
                let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
                return pages.take(&cursor).ok_or(CallError::NoSuchCursor(cursor));
            }
            Call::Run(commands) => commands,
        };
        let output = run_all(&self.options.veneer, &commands).await?;
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(pages.add(&output.text, &output.notes, &commands.shown()))
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("veneer", self.options.version.clone()))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::definitions(
            self.options.allow_edits,
        )))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        // A call that is not awaited any more kills its command.
        let answer = tokio::select! {
            answer = self.answer(&request.name, &arguments) => answer,
            () = context.ct.cancelled() => Err(CallError::Cancelled),
        };
        let result = match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(CallError::UnknownTool(name)) => {
                return Err(ErrorData::invalid_params(format!("no tool {name}"), None));
            }
            // The assistant reads the reason, and can correct its call.
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}
