//! The agent's access to the JVM: JNI, JVMTI and the Java runtime classes. This folder imports
//! nothing from the other folders.

pub mod class_hook;
pub mod collector;
pub mod event_sources;
pub mod frames;
pub mod java_runtime;
pub mod jni;
pub mod jvm_name;
pub mod jvmti;
pub mod loaded_agents;
pub mod runtime_table;
pub mod stack_traces;
pub mod suspension;
pub mod threads;
pub mod version_frames;
