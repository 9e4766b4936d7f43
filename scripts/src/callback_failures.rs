//! The errors of a callback that runs several times: each error is reported once, and a callback
//! that fails again and again is cancelled.

use crate::error::PlanError;
use crate::limits;
use crate::running_plan::CallbackCall;
use veneer_instruments::Runtime;

/// The consecutive errors of a callback.
#[derive(Default)]
pub(crate) struct CallbackFailures {
    errors: u32,
    /// The last reported error. An equal error is not reported again.
    reported: Option<PlanError>,
}

impl CallbackFailures {
    /// Records that the callback has succeeded.
    pub(crate) fn succeeded(&mut self) {
        *self = CallbackFailures::default();
    }

    /// Reports the error of a callback, which `name` names if the callback runs several times.
    /// Returns whether the callback continues.
    pub(crate) fn failed(
        &mut self,
        runtime: &dyn Runtime,
        call: &CallbackCall,
        name: Option<&str>,
        error: PlanError,
    ) -> bool {
        self.errors += 1;
        if self.reported.as_ref() != Some(&error) {
            runtime.print(&error.to_string());
            self.reported = Some(error);
        }
        let continues = self.errors < limits::MAX_CONSECUTIVE_ERRORS;
        if let Some(name) = name.filter(|_| !continues) {
            let place = call.running_plan.context.place(call.position);
            runtime.print(&format!(
                "{place}: {name}: cancelled after {} errors in a row",
                self.errors
            ));
        }
        continues
    }
}
