//! `counter()`, `timer()`, `log("a", "b")`, `recorder()`: instruments that are not attached yet.

use super::convert::{ApiResult, api_error, downcast_element};
use rhai::{Array, Engine, FLOAT, INT, ImmutableString};
use veneer_instruments::{HitQuota, InstrumentKind, RecorderSpec, RecordingForm};

/// An instrument with its options.
#[derive(Clone, Debug)]
pub(super) struct InstrumentBuilder {
    pub(super) kind: InstrumentKind,
    pub(super) name: Option<String>,
    /// Whether each point has a counter of its own.
    pub(super) each: bool,
    pub(super) times: Option<HitQuota>,
    pub(super) budget: Option<f64>,
    /// Whether activations that are running at attachment are measured too.
    pub(super) late: bool,
}

impl InstrumentBuilder {
    fn new(kind: InstrumentKind) -> Self {
        InstrumentBuilder {
            kind,
            name: None,
            each: false,
            times: None,
            budget: None,
            late: false,
        }
    }
}

impl InstrumentBuilder {
    /// Creates an instrument that runs a probe.
    pub(super) fn code(code: veneer_probes::ProbeCode) -> Self {
        Self::new(InstrumentKind::Code(code.into()))
    }
}

/// Creates a log of these variables.
fn log(names: Vec<String>) -> ApiResult<InstrumentBuilder> {
    if names.is_empty() {
        return api_error("log needs at least one variable: write log(\"name\", …)");
    }
    for name in &names {
        if let Some((variable, field)) = name.split_once('.') {
            return api_error(format!(
                "`{name}` is no variable, and a log records variables only: fill a table instead, as in \
                 let seen = last(100); methods(…).before(|p| seen.put(p.{variable}.{field}))"
            ));
        }
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "[(".contains(c)) {
            return api_error(format!(
                "`{name}` is no variable: write the name of a local variable, `this`, or `local3` for slot 3"
            ));
        }
    }
    Ok(InstrumentBuilder::new(InstrumentKind::Log(names)))
}

/// The default of a cost budget, as a share of the processor time.
const DEFAULT_BUDGET: f64 = 0.05;

fn times(instrument: &InstrumentBuilder, most: INT, each: bool) -> ApiResult<InstrumentBuilder> {
    refuse_recorder(instrument, "times")?;
    if instrument.kind == InstrumentKind::Timer {
        return api_error(
            "a timer has no .times(…): the first interval would end, and the next begin",
        );
    }
    match u64::try_from(most) {
        Ok(most @ 1..) => Ok(InstrumentBuilder {
            times: Some(HitQuota { most, each }),
            ..instrument.clone()
        }),
        _ => api_error(format!("{most} is no number of times: write 1 or more")),
    }
}

fn recorder(form: RecordingForm, filter: &str) -> InstrumentBuilder {
    let filter = filter.lines().map(str::to_owned).collect();
    InstrumentBuilder::new(InstrumentKind::Recorder(RecorderSpec { form, filter }))
}

/// A recorder that stops in the middle of calls would leave a trace with wrong trees.
fn refuse_recorder(instrument: &InstrumentBuilder, option: &str) -> ApiResult<()> {
    match instrument.kind {
        InstrumentKind::Recorder(_) => api_error(format!(
            "a recorder has no .{option}(…): end the recording with .detach()"
        )),
        _ => Ok(()),
    }
}

fn budget(instrument: &InstrumentBuilder, share: FLOAT) -> ApiResult<InstrumentBuilder> {
    refuse_recorder(instrument, "budget")?;
    if !(share > 0.0 && share <= 1.0) {
        return api_error(format!(
            "{share} is no share of the processor time: write more than 0, and 1 at most, such as 0.05"
        ));
    }
    Ok(InstrumentBuilder {
        budget: Some(share),
        ..instrument.clone()
    })
}

/// Registers `log` with one string parameter for each of the given identifiers.
macro_rules! log_of {
    ($engine:ident: $($name:ident)+) => {
        $engine.register_fn("log", |$($name: ImmutableString),+| {
            log(vec![$($name.to_string()),+])
        });
    };
}

pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<InstrumentBuilder>("Instrument");
    engine.register_fn("counter", || {
        InstrumentBuilder::new(InstrumentKind::Counter)
    });
    engine.register_fn("timer", || InstrumentBuilder::new(InstrumentKind::Timer));
    engine.register_fn("recorder", || recorder(RecordingForm::Events, ""));
    engine.register_fn("recorder", |filter: ImmutableString| {
        recorder(RecordingForm::Events, &filter)
    });
    engine.register_fn("contexts", || recorder(RecordingForm::Contexts, ""));
    engine.register_fn("contexts", |filter: ImmutableString| {
        recorder(RecordingForm::Contexts, &filter)
    });
    engine.register_fn("complete_calls", || {
        recorder(RecordingForm::CompleteCalls, "")
    });
    engine.register_fn("memory", |caches: ImmutableString| {
        recorder(RecordingForm::Accesses, &caches)
    });
    engine.register_fn("memory", || recorder(RecordingForm::Accesses, ""));
    engine.register_fn("heap", || recorder(RecordingForm::Heap, ""));
    engine.register_fn("heap", |interval: ImmutableString| {
        recorder(RecordingForm::Heap, &interval)
    });
    engine.register_fn("exact_contexts", || {
        recorder(RecordingForm::ExactContexts, "")
    });
    engine.register_fn("exact_contexts", |filter: ImmutableString| {
        recorder(RecordingForm::ExactContexts, &filter)
    });
    log_of!(engine: a);
    log_of!(engine: a b);
    log_of!(engine: a b c);
    log_of!(engine: a b c d);
    log_of!(engine: a b c d e);
    log_of!(engine: a b c d e f);
    log_of!(engine: a b c d e f g);
    log_of!(engine: a b c d e f g h);
    engine.register_fn("log", |names: Array| {
        let names = names
            .iter()
            .map(|name| downcast_element::<ImmutableString>("names of variables", name));
        log(names
            .map(|name| name.map(|name| name.to_string()))
            .collect::<ApiResult<_>>()?)
    });
    engine.register_fn(
        "named",
        |instrument: &mut InstrumentBuilder, name: ImmutableString| InstrumentBuilder {
            name: Some(name.to_string()),
            ..instrument.clone()
        },
    );
    engine.register_fn("each", |instrument: &mut InstrumentBuilder| {
        if instrument.kind != InstrumentKind::Counter {
            return api_error(format!(
                "every {} measures each point by itself: leave .each() away",
                instrument.kind.name()
            ));
        }
        Ok(InstrumentBuilder {
            each: true,
            ..instrument.clone()
        })
    });
    for (name, each) in [("times", false), ("times_each", true)] {
        engine.register_fn(
            name,
            move |instrument: &mut InstrumentBuilder, most: INT| times(instrument, most, each),
        );
    }
    engine.register_fn("late", |instrument: &mut InstrumentBuilder| {
        if instrument.kind != InstrumentKind::Timer {
            return api_error(format!(
                "only a timer can be late: a {} has nothing to say of what was before it",
                instrument.kind.name()
            ));
        }
        Ok(InstrumentBuilder {
            late: true,
            ..instrument.clone()
        })
    });
    engine.register_fn("budget", |instrument: &mut InstrumentBuilder| {
        budget(instrument, DEFAULT_BUDGET)
    });
    engine.register_fn(
        "budget",
        |instrument: &mut InstrumentBuilder, share: FLOAT| budget(instrument, share),
    );
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |instrument: &mut InstrumentBuilder| {
            instrument.kind.to_string()
        });
    }
}
