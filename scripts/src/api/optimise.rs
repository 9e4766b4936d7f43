//! `methods("…").optimise("huge", #{ … })`: transformations that make methods faster and change no
//! result. The handle is that of an edit, so `detach` takes the transformation back.

use super::convert::{ApiResult, api_error, number};
use super::handle::InstrumentHandle;
use super::patch::{Patch, apply, duplicate_path, unswitch_loop};
use super::selection::SelectedMethods;
use crate::context::PlanContext;
use rhai::{Array, Dynamic, Engine, INT, Map};
use std::collections::BTreeMap;
use std::sync::Arc;
use veneer_instruments::{EditKind, InstrumentId, MethodPasses, MethodPattern, PointRow};

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

/// The names of the transformations, for the error that refuses another name.
const TRANSFORMATIONS: &str =
    "\"huge\", \"devirtualise\", \"specialise\", \"superblock\" and \"unswitch\"";

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

/// The counter of blocks that is given by its handle or by its id.
fn counter(value: &Dynamic) -> ApiResult<InstrumentId> {
    if let Some(handle) = value.clone().try_cast::<InstrumentHandle>() {
        return Ok(handle.id);
    }
    let text = value.clone().into_string().unwrap_or_default();
    text.parse().or_else(|_| {
        api_error(format!(
            "counts: `{value}` is no counter: write counts: m.blocks().before(counter()), or the id of a counter"
        ))
    })
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

/// How often the blocks of each method were passed.
fn passes(rows: Vec<PointRow>) -> Vec<MethodPasses> {
    let mut all: BTreeMap<(String, String), MethodPasses> = BTreeMap::new();
    for row in rows {
        let (Some(fragment), None) = (row.fragment, row.to) else {
            continue;
        };
        let key = (row.class, row.method);
        let passes = all.entry(key.clone()).or_insert_with(|| MethodPasses {
            class: key.0,
            method: key.1,
            passes: BTreeMap::new(),
        });
        passes.passes.insert(fragment, row.data.hits());
    }
    all.into_values().collect()
}

fn optimise(
    context: &PlanContext,
    methods: &SelectedMethods,
    transformation: &str,
    options: &Map,
) -> ApiResult<Patch> {
    if transformation == "devirtualise" {
        let DevirtualiseOptions { calls, receivers } = DevirtualiseOptions::read(options)?;
        let tests = EditKind::Devirtualise { calls, receivers };
        return apply(context, methods, vec![tests], Vec::new());
    }
    if transformation == "specialise" {
        let constant = specialise_options(options)?;
        return apply(context, methods, vec![constant], Vec::new());
    }
    let counted = |id| passes(context.with_runtime(|runtime| runtime.rows(id)));
    if transformation == "superblock" {
        return match SuperblockOptions::read(options)? {
            SuperblockOptions::Path(path) => duplicate_path(context, methods, path),
            SuperblockOptions::Counts(id) => {
                let frequent = EditKind::Duplicate { path: Vec::new() };
                apply(context, methods, vec![frequent], counted(id))
            }
        };
    }
    if transformation == "unswitch" {
        return unswitch_loop(context, methods, branch(options)?);
    }
    if transformation != "huge" {
        return api_error(format!(
            "`{transformation}` is no transformation; there are {TRANSFORMATIONS}"
        ));
    }
    let options = HugeOptions::read(options)?;
    let counted = options.counts.map(counted);
    let budget = options.bytes.unwrap_or(PART_BYTES);
    let split = EditKind::Split { budget };
    apply(context, methods, vec![split], counted.unwrap_or_default())
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn(
        "optimise",
        move |methods: &mut SelectedMethods, name: &str| {
            optimise(&plan, methods, name, &Map::new())
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "optimise",
        move |methods: &mut SelectedMethods, name: &str, options: Map| {
            optimise(&plan, methods, name, &options)
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::Measurement;
    use veneer_names::FragmentId;

    fn row(method: &str, fragment: Option<u32>, to: Option<u32>, hits: u64) -> PointRow {
        PointRow {
            class: "a.B".into(),
            method: method.into(),
            fragment: fragment.map(FragmentId),
            to: to.map(FragmentId),
            what: None,
            line: None,
            data: Measurement::Count { hits },
        }
    }

    #[test]
    fn passes_are_those_of_blocks_by_method() {
        let rows = vec![
            row("m()V", Some(2), None, 20),
            row("n()V", Some(0), None, 7),
            row("m()V", Some(0), None, 1),
            row("m()V", Some(0), Some(2), 9),
            row("m()V", None, None, 5),
        ];
        let found = passes(rows);
        let of = |n: usize| (&*found[n].method, found[n].passes.clone());
        let counts = |list: &[(u32, u64)]| list.iter().map(|(f, n)| (FragmentId(*f), *n)).collect();
        assert_eq!(of(0), ("m()V", counts(&[(0, 1), (2, 20)])));
        assert_eq!(of(1), ("n()V", counts(&[(0, 7)])));
        assert_eq!(found.len(), 2);
    }

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
