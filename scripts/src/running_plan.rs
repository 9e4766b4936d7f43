//! A plan with the engine that runs it, and the calls of its callbacks.

use crate::api::timing::Timer;
use crate::context::{CallbackSlot, PlanContext};
use crate::error::{PlanError, PlanStage};
use crate::plan::Plan;
use rhai::{
    AST, Dynamic, Engine, EvalAltResult, FnPtr, FuncArgs, INT, NativeCallContext, Position,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A plan with the engine that runs it. The value lives as long as one of the plan's callbacks or
/// its analyser.
pub(crate) struct RunningPlan {
    pub(crate) engine: Engine,
    pub(crate) plan: Plan,
    pub(crate) context: Arc<PlanContext>,
}

/// A callback and the plan that it belongs to.
pub(crate) struct CallbackCall {
    pub(crate) running_plan: Arc<RunningPlan>,
    pub(crate) function: FnPtr,
    pub(crate) condition: Option<FnPtr>,
    pub(crate) position: Position,
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) _slot: CallbackSlot,
}

/// Runs script code within the time limit. Converts errors for display; an error without a position
/// is shown at `place`. Catches a panic of the engine, because a panic must not abort the JVM. Then all
/// instruments that the code has attached take effect.
pub(crate) fn guard<R>(
    context: &PlanContext,
    plan: &Plan,
    place: Position,
    code: impl FnOnce() -> Result<R, Box<EvalAltResult>>,
) -> Result<R, PlanError> {
    context.runtime.set_current_plan(context.instance);
    let _call = context.begin_call();
    let within = plan.source_map();
    let done = catch_unwind(AssertUnwindSafe(code));
    context.runtime.settle();
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(PlanError::run(within, place, *error)),
        Err(_) => {
            let message =
                "the script engine failed inside; this is a fault of veneer, not of the plan";
            let message = message.to_owned();
            Err(PlanError::new(
                PlanStage::Run,
                within,
                Position::NONE,
                message,
            ))
        }
    }
}

impl RunningPlan {
    /// Runs code of this plan as the function [`guard`] does.
    pub(crate) fn guard<R>(
        &self,
        place: Position,
        code: impl FnOnce(&Self) -> Result<R, Box<EvalAltResult>>,
    ) -> Result<R, PlanError> {
        guard(&self.context, &self.plan, place, || code(self))
    }

    /// Calls a function of the plan at the call depth `level`.
    pub(crate) fn call_at(
        &self,
        function: &FnPtr,
        level: usize,
    ) -> Result<Dynamic, Box<EvalAltResult>> {
        let mut global = self.engine.new_global_runtime_state();
        global.lib.push(self.plan.tree().shared_lib().clone());
        global.level = level;
        let name = function.fn_name();
        let context = NativeCallContext::new_with_all_fields(
            &self.engine,
            name,
            None,
            &global,
            Position::NONE,
        );
        let none: [Dynamic; 0] = [];
        function.call_raw(&context, None, none)
    }

    /// Formats a value as `print` does; `()` and the handle of a callback are empty. With `rows`, a value that has a table is
    /// shown as a table with this number of rows.
    pub(crate) fn show(
        &self,
        value: Dynamic,
        rows: Option<u32>,
    ) -> Result<String, Box<EvalAltResult>> {
        // A plan whose last statement registers a callback has no result.
        if value.is_unit() || value.is::<Timer>() {
            return Ok(String::new());
        }
        if let Some(rows) = rows {
            let arguments = (value.clone(), INT::from(rows));
            match FnPtr::new("table")?.call::<Dynamic>(&self.engine, &AST::empty(), arguments) {
                Ok(table) => return Ok(table.to_string()),
                Err(error) if matches!(*error, EvalAltResult::ErrorFunctionNotFound(..)) => {}
                Err(error) => return Err(error),
            }
        }
        let shown =
            FnPtr::new("to_string")?.call::<Dynamic>(&self.engine, &AST::empty(), (value,))?;
        Ok(shown.to_string())
    }
}

impl CallbackCall {
    /// Whether the callback was cancelled or its plan detached.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.running_plan.context.is_detached()
    }

    /// Runs the callback, unless it has a condition that does not hold.
    pub(crate) fn run(&self) -> Result<(), PlanError> {
        self.run_with(())
    }

    /// Runs the callback with arguments, unless it has a condition that does not hold.
    pub(crate) fn run_with(&self, arguments: impl FuncArgs) -> Result<(), PlanError> {
        self.running_plan.guard(self.position, |running_plan| {
            let tree = running_plan.plan.tree();
            if let Some(condition) = &self.condition {
                if !condition.call::<bool>(&running_plan.engine, tree, ())? {
                    return Ok(());
                }
                self.cancelled.store(true, Ordering::Relaxed);
            }
            match self
                .function
                .call::<Dynamic>(&running_plan.engine, tree, arguments)
            {
                Ok(_) => Ok(()),
                // `exit()` ends only this call.
                Err(error) if matches!(error.unwrap_inner(), EvalAltResult::Exit(..)) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }
}
