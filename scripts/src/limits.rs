//! What one call of a plan may use up: loading it, or one callback.
//!
//! A plan that passes a limit is stopped there with an error that names the limit; a `try` in the plan does
//! not catch it. The limits protect the JVM's memory and the plan thread, on which all plans take turns.

use std::time::Duration;

/// Operations of the script engine in one call: roughly, nodes of the syntax tree visited.
pub const OPERATIONS: u64 = 5_000_000;

/// Time of one call. Time inside the agent (attaching, reading figures) does not count.
pub const WALL_CLOCK: Duration = Duration::from_secs(2);

/// Calls of script functions inside each other. Each takes stack, and the plan thread has little.
pub const CALL_DEPTH: usize = 32;

/// Expressions inside each other.
pub const EXPRESSION_DEPTH: usize = 64;

/// Bytes of one string.
pub const STRING_BYTES: usize = 1 << 20;

/// Elements of one array, with those of arrays inside it. Enough for a row for each fragment of a large program.
pub const ARRAY_ELEMENTS: usize = 500_000;

/// Properties of one object map, with those of maps inside it (and of all maps inside one array).
pub const MAP_PROPERTIES: usize = 5_000_000;

/// Variables at any one time.
pub const VARIABLES: usize = 1_000;

/// Functions that a plan defines, closures included.
pub const FUNCTIONS: usize = 1_000;

/// Modules that come with a plan.
pub const MODULES: usize = 32;

/// Bytes of their texts in all.
pub const MODULE_BYTES: usize = 1 << 20;

/// Bytes of what an analyser gives, as text and as JSON.
pub const REPORT_BYTES: usize = 4 << 20;

/// Characters of a component's name, and of its version.
pub const COMPONENT_NAME: usize = 100;

/// Components that have been taken off and whose analysers can still be asked; the oldest go first.
pub const COMPONENTS_OFF: usize = 100;

/// Lines that a prompt keeps, and that a plan has together with its modules; the engine counts no further than 65,535.
pub const PROMPT_LINES: usize = 60_000;

/// Bytes of text that a prompt keeps.
pub const PROMPT_BYTES: usize = 4 << 20;

/// Callbacks of `every`, `after` and `at_exit` that wait in one session.
pub const CALLBACKS: usize = 1_000;

/// The shortest period of `every`, in seconds.
pub const SHORTEST_PERIOD: f64 = 0.01;

/// Between two looks at the condition of `when`.
pub const LOOKS: std::time::Duration = std::time::Duration::from_millis(100);

/// The longest delay of `every` and `after`, in seconds: about 30 years.
pub const LONGEST_DELAY: f64 = 1e9;

/// Errors in a row after which a callback of `every` is cancelled.
pub const ERRORS_IN_A_ROW: u32 = 3;
