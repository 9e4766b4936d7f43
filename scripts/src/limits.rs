//! The limits of one call of a plan: loading the plan, or one callback.
//!
//! A plan that exceeds a limit is stopped with an error that names the limit. A `try` in the plan
//! does not catch the error. The limits protect the JVM's memory and the plan thread, which all
//! plans share.

use std::time::Duration;

/// Operations of the script engine in one call. An operation is roughly one visited node of the
/// syntax tree.
pub const MAX_OPERATIONS: u64 = 5_000_000;

/// Duration of one call. Time inside the agent (attaching, reading data) does not count.
pub const MAX_CALL_DURATION: Duration = Duration::from_secs(2);

/// Depth of nested calls of script functions. Each call needs stack, and the plan thread has a
/// small stack.
pub const MAX_CALL_DEPTH: usize = 32;

/// Depth of nested expressions.
pub const MAX_EXPRESSION_DEPTH: usize = 64;

/// Size of one string, in bytes.
pub const MAX_STRING_BYTES: usize = 1 << 20;

/// Number of elements of one array, including those of nested arrays. The limit is enough for one
/// row for each fragment of a large program.
pub const MAX_ARRAY_ELEMENTS: usize = 500_000;

/// Number of properties of one object map, including those of nested maps (and of all maps in one
/// array).
pub const MAX_MAP_PROPERTIES: usize = 5_000_000;

/// Number of variables at one time.
pub const MAX_VARIABLES: usize = 1_000;

/// Number of functions that a plan defines, including closures.
pub const MAX_FUNCTIONS: usize = 1_000;

/// Number of modules of a plan.
pub const MAX_MODULES: usize = 32;

/// Total size of the modules' source texts, in bytes.
pub const MAX_MODULE_BYTES: usize = 1 << 20;

/// Size of an analyser's report as text and as JSON, in bytes each.
pub const MAX_REPORT_BYTES: usize = 4 << 20;

/// Length of a component's name and of its version, in characters.
pub const MAX_COMPONENT_NAME_CHARS: usize = 100;

/// Number of detached components whose analysers can still be called. If there are more, the oldest
/// ones are forgotten.
pub const MAX_DETACHED_COMPONENTS: usize = 100;

/// Number of lines that a prompt keeps, and that a plan has together with its modules. The engine
/// counts lines only up to 65,535.
pub const MAX_LINES: usize = 60_000;

/// Size of the source texts that a prompt keeps, in bytes.
pub const MAX_PROMPT_BYTES: usize = 4 << 20;

/// Number of waiting callbacks of `every`, `after` and `at_exit` in one session.
pub const MAX_CALLBACKS: usize = 1_000;

/// Minimum period of `every`, in seconds.
pub const MIN_PERIOD_SECONDS: f64 = 0.01;

/// Interval between two checks of the condition of `when`.
pub const CONDITION_CHECK_INTERVAL: std::time::Duration = std::time::Duration::from_millis(100);

/// Maximum delay of `every` and `after`, in seconds: about 30 years.
pub const MAX_DELAY_SECONDS: f64 = 1e9;

/// Number of consecutive errors after which a callback of `every` is cancelled.
pub const MAX_CONSECUTIVE_ERRORS: u32 = 3;
