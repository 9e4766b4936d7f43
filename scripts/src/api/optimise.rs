//! `methods("…").optimise("huge", #{ … })`: transformations that make methods faster and change no
//! result. The handle is that of an edit, so `detach` takes the transformation back.

use super::convert::{ApiResult, api_error, number};
use super::passes::{counter, passes};
use super::patch::{Patch, WrittenEdit, apply, duplicate_path, spec, unswitch_loop};
use super::selection::SelectedMethods;
use super::transformation;
use crate::context::PlanContext;
use rhai::{Array, Dynamic, Engine, INT, Map, NativeCallContext};
use std::sync::Arc;
use veneer_instruments::{EditKind, EditSpec, InstrumentId, MethodPattern};

/// The size of a part without `bytes`. A part that is emitted also has checks, positions and code for
/// the other parts, and must not exceed 8,000 bytes.
const PART_BYTES: u16 = 5_000;

/// The names of the options of `huge`.
const HUGE_OPTIONS: [&str; 2] = ["bytes", "counts"];

/// The most classes for which a call is tested. A call with more is not skewed.
const MAX_RECEIVERS: usize = 8;

/// The text that selects all virtual calls of a method.
const ALL_CALLS: &str = "*";

/// The options of `optimise("huge", …)`.
#[derive(Default)]
struct HugeOptions {
    bytes: Option<u16>,
    counts: Option<InstrumentId>,
}

impl HugeOptions {
    fn read(options: &Map) -> ApiResult<HugeOptions> {
        let mut read = HugeOptions::default();
        for (name, value) in options {
            match name.as_str() {
                "bytes" => read.bytes = Some(part_bytes(value)?),
                "counts" => read.counts = Some(counter(value)?),
                other => {
                    return api_error(format!(
                        "`{other}` is no option of \"huge\"; it has {}",
                        HUGE_OPTIONS.join(" and ")
                    ));
                }
            }
        }
        Ok(read)
    }
}

/// The options of `optimise("devirtualise", …)`.
struct DevirtualiseOptions {
    calls: String,
    receivers: Vec<String>,
}

impl DevirtualiseOptions {
    fn read(options: &Map) -> ApiResult<DevirtualiseOptions> {
        let mut read = DevirtualiseOptions {
            calls: ALL_CALLS.into(),
            receivers: Vec::new(),
        };
        for (name, value) in options {
            match name.as_str() {
                "calls" => read.calls = selected_calls(value)?,
                "receivers" => read.receivers = class_names(value)?,
                other => {
                    return api_error(format!(
                        "`{other}` is no option of \"devirtualise\"; it has receivers and calls"
                    ));
                }
            }
        }
        match read.receivers.len() {
            1..=MAX_RECEIVERS => Ok(read),
            count => api_error(format!(
                "receivers: {count} classes, not 1 to {MAX_RECEIVERS}: write receivers: [\"a.B\", \"a.C\"]"
            )),
        }
    }
}

/// Reads the options of `optimise("specialise", …)`.
fn specialise_options(options: &Map) -> ApiResult<EditKind> {
    let (mut parameter, mut value) = (None, None);
    for (name, given) in options {
        match name.as_str() {
            "parameter" => {
                let written = given.as_int().unwrap_or(-1);
                parameter = Some(number::<u16>("number of a parameter from 0 on", written)?);
            }
            "value" => value = Some(constant(given)?),
            other => {
                return api_error(format!(
                    "`{other}` is no option of \"specialise\"; it has parameter and value"
                ));
            }
        }
    }
    match (parameter, value) {
        (Some(parameter), Some(value)) => Ok(EditKind::Specialise { parameter, value }),
        _ => api_error("\"specialise\" needs both: write #{ parameter: 0, value: 8 }"),
    }
}

/// The options of `optimise("superblock", …)`: either a path, or the counter of blocks that chooses it.
enum SuperblockOptions {
    Path(Array),
    Counts(InstrumentId),
}

impl SuperblockOptions {
    fn read(options: &Map) -> ApiResult<SuperblockOptions> {
        let mut read = Vec::new();
        for (name, value) in options {
            read.push(match name.as_str() {
                "path" => SuperblockOptions::Path(value.clone().into_array().or_else(|found| {
                    api_error::<Array>(format!(
                        "path: an array of fragments is needed, not a value of type {found}"
                    ))
                })?),
                "counts" => SuperblockOptions::Counts(counter(value)?),
                other => {
                    return api_error(format!(
                        "`{other}` is no option of \"superblock\"; it has path and counts"
                    ));
                }
            });
        }
        match (read.pop(), read.pop()) {
            (Some(one), None) => Ok(one),
            _ => api_error(
                "\"superblock\" needs either: write #{ path: [2, 5, 6] }, or #{ counts: m.blocks().before(counter()) }",
            ),
        }
    }
}

/// The option of `optimise("unswitch", …)`: the fragment that ends with the branch.
fn branch(options: &Map) -> ApiResult<&Dynamic> {
    if let Some(other) = options.keys().find(|name| *name != "branch") {
        return api_error(format!(
            "`{other}` is no option of \"unswitch\"; it has branch"
        ));
    }
    let found = options.get("branch").map(Ok);
    found.unwrap_or_else(|| api_error("\"unswitch\" needs a fragment: write #{ branch: 5 }"))
}

/// The value of a parameter, as the JVM keeps it.
fn constant(value: &Dynamic) -> ApiResult<i32> {
    if let Ok(truth) = value.as_bool() {
        return Ok(i32::from(truth));
    }
    if let Ok(character) = value.as_char() {
        return Ok(character as i32);
    }
    let written = value.as_int().or_else(|found| {
        api_error::<INT>(format!(
            "value: an int, a bool or a char is needed, not a value of type {found}"
        ))
    })?;
    i32::try_from(written).or_else(|_| api_error(format!("value: {written} is no int of Java")))
}

/// A text that selects calls: a pattern of the called method, or `@` and the pc that tables show.
fn selected_calls(value: &Dynamic) -> ApiResult<String> {
    let text = value.clone().into_string().unwrap_or_default();
    let is_pc = text
        .strip_prefix('@')
        .is_some_and(|pc| pc.parse::<u16>().is_ok());
    let is_pattern = || MethodPattern::parse(&text).is_ok_and(|pattern| !pattern.needs_metadata());
    if is_pc || text == ALL_CALLS || is_pattern() {
        return Ok(text);
    }
    api_error(format!(
        "calls: `{value}` selects no calls: write calls: \"a.B::m(..)\" without `+`, flags and annotations, or calls: \"@17\" for the call at pc 17"
    ))
}

fn class_names(value: &Dynamic) -> ApiResult<Vec<String>> {
    let list = value.clone().into_array().unwrap_or_default();
    let names = list.into_iter().map(|name| {
        let text = name.clone().into_string().unwrap_or_default();
        let is_name = !text.is_empty() && !text.contains(['/', '[', ';', '*']);
        match is_name {
            true => Ok(text),
            false => api_error(format!(
                "receivers: `{name}` is no class name such as \"a.B\""
            )),
        }
    });
    names.collect()
}

fn part_bytes(value: &Dynamic) -> ApiResult<u16> {
    let written = value.as_int().or_else(|found| {
        api_error::<INT>(format!(
            "bytes: a number of bytes is needed, not a value of type {found}"
        ))
    })?;
    match number::<u16>("number of bytes from 1 to 65,535", written)? {
        0 => api_error("bytes: 0 is no number of bytes from 1 to 65,535"),
        bytes => Ok(bytes),
    }
}

fn optimise(
    (context, call): (&PlanContext, &NativeCallContext),
    methods: &SelectedMethods,
    transformation: &str,
    options: &Map,
) -> ApiResult<Patch> {
    if transformation == "devirtualise" {
        let DevirtualiseOptions { calls, receivers } = DevirtualiseOptions::read(options)?;
        let tests = EditKind::Devirtualise { calls, receivers };
        return apply(context, spec(context, methods, vec![tests])?);
    }
    if transformation == "specialise" {
        let constant = specialise_options(options)?;
        return apply(context, spec(context, methods, vec![constant])?);
    }
    let counted = |id| passes(context.with_runtime(|runtime| runtime.rows(id)));
    if transformation == "superblock" {
        return match SuperblockOptions::read(options)? {
            SuperblockOptions::Path(path) => duplicate_path(context, methods, path),
            SuperblockOptions::Counts(id) => {
                let frequent = EditKind::Duplicate { path: Vec::new() };
                let spec = spec(context, methods, vec![frequent])?;
                apply(
                    context,
                    EditSpec {
                        passes: counted(id),
                        ..spec
                    },
                )
            }
        };
    }
    if transformation == "unswitch" {
        return unswitch_loop(context, methods, branch(options)?);
    }
    if transformation != "huge" {
        return transformation::optimise((context, call), methods, transformation, options);
    }
    let options = HugeOptions::read(options)?;
    let counted = options.counts.map(counted);
    let budget = options.bytes.unwrap_or(PART_BYTES);
    let split = EditKind::Split { budget };
    let spec = spec(context, methods, vec![split])?;
    apply(
        context,
        EditSpec {
            passes: counted.unwrap_or_default(),
            ..spec
        },
    )
}

/// `test_receivers(17, ["a.B", "a.C"])`: the edit that tests the call at a pc.
fn test_receivers(pc: INT, receivers: Array) -> ApiResult<WrittenEdit> {
    let pc = number::<u16>("pc of a call from 0 to 65,535", pc)?;
    let mut options = Map::new();
    options.insert("calls".into(), format!("@{pc}").into());
    options.insert("receivers".into(), receivers.into());
    let DevirtualiseOptions { calls, receivers } = DevirtualiseOptions::read(&options)?;
    Ok(EditKind::Devirtualise { calls, receivers }.into())
}

/// `constant(1, 8)`: the edit that makes a parameter a constant.
fn constant_parameter(parameter: INT, value: Dynamic) -> ApiResult<WrittenEdit> {
    let parameter = number("number of a parameter from 0 on", parameter)?;
    let value = constant(&value)?;
    Ok(EditKind::Specialise { parameter, value }.into())
}

/// `split(3000)`: the edit that splits a method.
fn split(bytes: INT) -> ApiResult<WrittenEdit> {
    let budget = part_bytes(&bytes.into())?;
    Ok(EditKind::Split { budget }.into())
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_fn("test_receivers", test_receivers);
    engine.register_fn("constant", constant_parameter);
    engine.register_fn("split", split);
    let plan = context.clone();
    engine.register_fn(
        "optimise",
        move |call: NativeCallContext, methods: &mut SelectedMethods, name: &str| {
            optimise((&plan, &call), methods, name, &Map::new())
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "optimise",
        move |call: NativeCallContext, methods: &mut SelectedMethods, name: &str, options: Map| {
            optimise((&plan, &call), methods, name, &options)
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_checked() {
        let read = |text: &str| {
            let options: Map = Engine::new().eval(text).expect("a map");
            HugeOptions::read(&options)
        };
        assert_eq!(
            read("#{ bytes: 300 }").map(|o| o.bytes).ok(),
            Some(Some(300))
        );
        for (text, part) in [
            ("#{ bytes: 0 }", "65,535"),
            ("#{ bytes: 70000 }", "65,535"),
            ("#{ bytes: \"x\" }", "type"),
            ("#{ counts: 3 }", "is no counter"),
            ("#{ size: 3 }", "bytes and counts"),
        ] {
            let error = read(text).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_constant_has_a_parameter_and_a_value() {
        let read = |text: &str| {
            let options: Map = Engine::new().eval(text).expect("a map");
            specialise_options(&options)
        };
        for (text, value) in [("8", 8), ("-8", -8), ("true", 1), ("'a'", 97)] {
            assert_eq!(
                read(&format!("#{{ parameter: 1, value: {text} }}")).ok(),
                Some(EditKind::Specialise {
                    parameter: 1,
                    value
                })
            );
        }
        for (text, part) in [
            ("#{ value: 8 }", "needs both"),
            ("#{ parameter: 1 }", "needs both"),
            ("#{ parameter: -1, value: 8 }", "number of a parameter"),
            (
                "#{ parameter: 1, value: \"x\" }",
                "an int, a bool or a char",
            ),
            ("#{ parameter: 1, value: 3000000000 }", "no int of Java"),
            ("#{ slot: 1 }", "parameter and value"),
        ] {
            let error = read(text).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_superblock_has_a_path_or_counts() {
        let read = |text: &str| {
            let options: Map = Engine::new().eval(text).expect("a map");
            SuperblockOptions::read(&options)
        };
        let path = read("#{ path: [2, 5] }");
        assert!(matches!(path, Ok(SuperblockOptions::Path(path)) if path.len() == 2));
        let counts = read("#{ counts: \"i3\" }");
        assert!(matches!(counts, Ok(SuperblockOptions::Counts(_))));
        for (text, part) in [
            ("#{}", "needs either"),
            ("#{ path: [2, 5], counts: \"i3\" }", "needs either"),
            ("#{ path: 5 }", "an array of fragments"),
            ("#{ counts: 5 }", "is no counter"),
            ("#{ trace: [2] }", "path and counts"),
        ] {
            let error = read(text).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn an_unswitched_loop_has_a_branch() {
        let read = |text: &str| {
            let options: Map = Engine::new().eval(text).expect("a map");
            let found = branch(&options).map(|b| b.as_int().ok());
            found.map_err(|e| e.to_string())
        };
        assert_eq!(read("#{ branch: 5 }"), Ok(Some(5)));
        assert!(read("#{}").is_err_and(|e| e.contains("needs a fragment")));
        assert!(read("#{ branch: 5, at: 3 }").is_err_and(|e| e.contains("it has branch")));
    }

    #[test]
    fn receivers_and_calls_are_checked() {
        let read = |text: &str| {
            let options: Map = Engine::new().eval(text).expect("a map");
            DevirtualiseOptions::read(&options).map(|o| (o.calls, o.receivers))
        };
        let classes = || vec!["a.B".to_owned(), "a.C$D".to_owned()];
        assert_eq!(
            read("#{ receivers: [\"a.B\", \"a.C$D\"] }").ok(),
            Some(("*".into(), classes()))
        );
        assert_eq!(
            read("#{ calls: \"@17\", receivers: [\"a.B\", \"a.C$D\"] }").ok(),
            Some(("@17".into(), classes()))
        );
        for (text, part) in [
            ("#{}", "0 classes"),
            ("#{ receivers: [7] }", "no class name"),
            ("#{ receivers: [\"a/B\"] }", "no class name"),
            ("#{ receivers: [\"a.B\"], calls: 17 }", "selects no calls"),
            (
                "#{ receivers: [\"a.B\"], calls: \"@x\" }",
                "selects no calls",
            ),
            (
                "#{ receivers: [\"a.B\"], calls: \"a.B+::m(..)\" }",
                "selects no calls",
            ),
            ("#{ receiver: \"a.B\" }", "receivers and calls"),
        ] {
            let error = read(text).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
