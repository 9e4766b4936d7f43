//! `.collapsed()` and `.stacks()`: output of tables whose keys are call stacks.

use super::convert::{ApiResult, api_error, row_limit};
use super::tally::TableHandle;
use crate::context::PlanContext;
use rhai::{Engine, INT};
use std::sync::Arc;
use veneer_instruments::{Tally, table};

/// The number of stacks to show, unless the plan sets it.
const DEFAULT_STACKS: usize = 10;

/// Returns the content of a table of counts or sums.
fn now(table: &TableHandle, plan: &Arc<PlanContext>) -> ApiResult<Tally> {
    match table.kind {
        kind if kind.is_probe_private() || kind.has_occurrences() => api_error(
            "call stacks are counted by a tally(), or summed up by a sums() or a histogram()",
        ),
        _ => Ok(plan.with_runtime(|runtime| table.read(runtime))),
    }
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn(
        "collapsed",
        move |table: &mut TableHandle| -> ApiResult<String> {
            let by_sum = table.kind.has_sums();
            Ok(table::render_collapsed(&now(table, &plan)?, by_sum))
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "stacks",
        move |table: &mut TableHandle| -> ApiResult<String> {
            let by_sum = table.kind.has_sums();
            Ok(table::render_stacks(
                &now(table, &plan)?,
                by_sum,
                DEFAULT_STACKS,
            ))
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "stacks",
        move |table: &mut TableHandle, n: INT| -> ApiResult<String> {
            let by_sum = table.kind.has_sums();
            Ok(table::render_stacks(
                &now(table, &plan)?,
                by_sum,
                row_limit(n)?,
            ))
        },
    );
}
