//! The name and the version of the JVM, which the agent reads once, when it starts. Every thread may
//! ask for them afterwards.

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
