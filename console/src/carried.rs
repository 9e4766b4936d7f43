//! The agent that the command has inside, where it was built that way (`cargo install`): a file is made of it when it is needed.

/// Lets the client library know of it.
pub fn register() {
    #[cfg(carries_agent)]
    veneer_client::agent::carry(include_bytes!(concat!(
        env!("OUT_DIR"),
        "/libveneer_agent.so"
    )));
}
