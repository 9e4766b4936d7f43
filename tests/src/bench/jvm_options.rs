//! The options of the measured JVMs.

/// Options of every measured JVM: a heap of constant size, and the collector with the fewest
/// threads.
pub const OPTIONS: [&str; 3] = ["-Xms512m", "-Xmx512m", "-XX:+UseSerialGC"];
