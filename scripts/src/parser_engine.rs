//! The script engine that parses plans. The engine has the limits of plans, and cannot load files.

use crate::limits;
use rhai::Engine;
use rhai::module_resolvers::DummyModuleResolver;

/// Returns an engine that can parse plans. Only `engine::plan_engine` returns an engine that can
/// run them.
pub(crate) fn new() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_operations(limits::MAX_OPERATIONS)
        .set_max_call_levels(limits::MAX_CALL_DEPTH)
        .set_max_expr_depths(limits::MAX_EXPRESSION_DEPTH, limits::MAX_EXPRESSION_DEPTH)
        .set_max_string_size(limits::MAX_STRING_BYTES)
        .set_max_array_size(limits::MAX_ARRAY_ELEMENTS)
        .set_max_map_size(limits::MAX_MAP_PROPERTIES)
        .set_max_variables(limits::MAX_VARIABLES)
        .set_max_functions(limits::MAX_FUNCTIONS)
        // With strict variables, a misspelt variable is an error at load time and not an hour later
        // in a callback.
        .set_strict_variables(true)
        // Positions in an evaluated text would not be positions in the plan.
        .disable_symbol("eval")
        .set_module_resolver(DummyModuleResolver::new());
    engine
}
