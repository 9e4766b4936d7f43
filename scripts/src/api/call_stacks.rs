//! `.collapsed()` and `.stacks()`: output of tables whose keys are call stacks.

use super::convert::{ApiResult, at_most, error};
use super::tally::Table;
use crate::context::Context;
use rhai::{Engine, INT};
use std::sync::Arc;
use veneer_instruments::{Tally, table};

/// The number of stacks to show, unless the plan sets it.
const DEFAULT_STACKS: usize = 10;

/// Returns the content of a table of counts or sums.
fn now(table: &Table, plan: &Arc<Context>) -> ApiResult<Tally> {
    match table.kind {
        kind if kind.is_probe_private() || kind.has_occurrences() => {
            error("call stacks are counted by a tally(), or summed up by a sums() or a histogram()")
        }
        _ => Ok(plan.ask(|runtime| table.now(runtime))),
    }
}

pub(super) fn register(engine: &mut Engine, context: &Arc<Context>) {
    let plan = context.clone();
    engine.register_fn("collapsed", move |table: &mut Table| -> ApiResult<String> {
        let by_sum = table.kind.has_sums();
        Ok(table::render_collapsed(&now(table, &plan)?, by_sum))
    });
    let plan = context.clone();
    engine.register_fn("stacks", move |table: &mut Table| -> ApiResult<String> {
        let by_sum = table.kind.has_sums();
        Ok(table::render_stacks(
            &now(table, &plan)?,
            by_sum,
            DEFAULT_STACKS,
        ))
    });
    let plan = context.clone();
    engine.register_fn(
        "stacks",
        move |table: &mut Table, n: INT| -> ApiResult<String> {
            let by_sum = table.kind.has_sums();
            Ok(table::render_stacks(
                &now(table, &plan)?,
                by_sum,
                at_most(n)?,
            ))
        },
    );
}
