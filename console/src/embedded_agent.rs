//! The agent library that is embedded in an optimised build of the command (`cargo install`). The
//! client library writes it to a file when a JVM has to load it.

/// Passes the embedded agent, if there is one, to the client library.
pub fn register() {
    #[cfg(carries_agent)]
    veneer_client::agent::register_library(include_bytes!(concat!(
        env!("OUT_DIR"),
        "/libveneer_agent.so"
    )));
}
