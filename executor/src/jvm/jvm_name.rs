//! Name and version of the JVM, read once when the agent starts.

use std::sync::OnceLock;

static JVM: OnceLock<(String, String)> = OnceLock::new();

/// Sets `java.vm.name` and `java.vm.version`. Later calls have no effect.
pub fn set_jvm_name(name: String, version: String) {
    let _ = JVM.set((name, version));
}

/// Returns `java.vm.name` and `java.vm.version`, or two empty strings before the agent has started.
pub fn jvm_name() -> (String, String) {
    JVM.get().cloned().unwrap_or_default()
}
