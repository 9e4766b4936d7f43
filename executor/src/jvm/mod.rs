pub mod frames;
pub mod java_runtime;
pub mod jni;
pub mod jvm_name;
pub mod jvmti;
pub mod stack_traces;
pub mod threads;
pub mod version_frames;
