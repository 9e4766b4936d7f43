//! `methods("…").virtual_speedup(0.5, 1.0)`: what the program would do if the methods took less time.

use super::convert::{ApiResult, api_error};
use super::selection::SelectedMethods;
use crate::context::PlanContext;
use rhai::{Dynamic, Engine, FLOAT, INT, Map};
use std::sync::Arc;
use veneer_instruments::{
    MAX_SPEEDUP_SECONDS, MAX_SPEEDUP_SHARE, SpeedupId, SpeedupSpec, SpeedupWindow,
};

/// A virtual speed-up that has begun.
#[derive(Clone, Copy, Debug)]
struct Speedup {
    id: SpeedupId,
}

/// Checks the two numbers of a virtual speed-up.
fn check(share: FLOAT, seconds: FLOAT) -> ApiResult<()> {
    if !(0.0..=MAX_SPEEDUP_SHARE).contains(&share) {
        return api_error(format!(
            "{share} is no share of a virtual speed-up: write 0.0 to {MAX_SPEEDUP_SHARE}, for instance 0.5"
        ));
    }
    if !(seconds > 0.0 && seconds <= MAX_SPEEDUP_SECONDS) {
        return api_error(format!(
            "{seconds} is no length of a virtual speed-up: write more than 0.0 and at most {MAX_SPEEDUP_SECONDS:?} seconds"
        ));
    }
    Ok(())
}

fn begin(
    context: &PlanContext,
    methods: &SelectedMethods,
    share: FLOAT,
    seconds: FLOAT,
) -> ApiResult<Speedup> {
    check(share, seconds)?;
    let spec = SpeedupSpec {
        patterns: methods.exact_patterns()?,
        share,
        seconds,
    };
    let begun = context.with_runtime(|runtime| runtime.begin_speedup(spec));
    begun.map(|id| Speedup { id }).or_else(api_error)
}

/// A measurement as a map.
fn window_map(window: SpeedupWindow) -> Dynamic {
    let observations = INT::try_from(window.observations).unwrap_or(INT::MAX);
    let mut map = Map::new();
    map.insert("seconds".into(), window.seconds.into());
    map.insert("delayed".into(), window.delayed.into());
    map.insert("inside".into(), window.inside.into());
    map.insert("stopped".into(), window.stopped.into());
    map.insert("observations".into(), observations.into());
    map.into()
}

fn end(context: &PlanContext, speedup: Speedup) -> Dynamic {
    let window = context.with_runtime(|runtime| runtime.end_speedup(speedup.id));
    window.map_or(Dynamic::UNIT, window_map)
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<Speedup>("Speedup");
    let plan = context.clone();
    engine.register_fn(
        "virtual_speedup",
        move |methods: &mut SelectedMethods, share: FLOAT, seconds: FLOAT| {
            begin(&plan, methods, share, seconds)
        },
    );
    let plan = context.clone();
    engine.register_fn("end", move |speedup: &mut Speedup| end(&plan, *speedup));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_speedup_are_checked() {
        assert!(check(0.0, 1.0).is_ok() && check(0.9, 10.0).is_ok());
        for (share, seconds, part) in [
            (-0.1, 1.0, "no share"),
            (0.91, 1.0, "0.0 to 0.9"),
            (f64::NAN, 1.0, "no share"),
            (0.5, 0.0, "no length"),
            (0.5, 10.5, "at most 10.0 seconds"),
            (0.5, f64::NAN, "no length"),
        ] {
            let error = check(share, seconds).err().map(|e| e.to_string());
            let error = error.unwrap_or_default();
            assert!(error.contains(part), "{share}, {seconds}: {error}");
        }
    }

    #[test]
    fn a_measurement_is_a_map() {
        let window = SpeedupWindow {
            seconds: 1.5,
            delayed: 0.25,
            inside: 0.5,
            observations: 700,
            stopped: 0.0,
        };
        let map = window_map(window).cast::<Map>();
        assert_eq!(map["delayed"].as_float(), Ok(0.25));
        assert_eq!(map["observations"].as_int(), Ok(700));
    }
}
