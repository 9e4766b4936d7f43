//! The plan that answers a question, and the places of the user's expressions in the plan.
//!
//! Each expression is alone on a line of the plan, so the line of an error leads to the option and
//! to the expression that the user typed; see `plan_error.rs`.
//!
//! `time` of whole methods, and each question that reads `elapsed`, measures *calls*: code at the
//! entry keeps the values of the parameters, and code at the exits uses them.
//!
//! ```text
//!   m.after(|p| {
//!       let end = now_ns(); let start = began.pop(); let v0 = k0.pop(p["customer"]);
//!       if start > 0 { t.add(v0, end - start); }
//!   });
//!   m.before(|p| { k0.push(p["customer"]); began.push(now_ns()); });
//! ```

use veneer_client::plan_text::literal;

use super::args::{DEFAULT_ROWS, ParsedQuestion};
use super::expression::{
    ELAPSED, EXCEPTION, RESULT, Translation, conjuncts, reads, reads_exit, translate,
    translate_at_exit,
};
use crate::cli::Question;

/// Maximum number of different combinations of keys in a tally.
const MAX_KEYS: u32 = 10_000;
/// Maximum number of methods or combinations of keys with times of their own.
const MAX_TIMED: u32 = 2_000;
/// The option with the condition of a question.
const CONDITION: &str = "--if";
/// Interval between two readings of watched values, in seconds.
const WATCH_INTERVAL_SECONDS: f64 = 0.2;
/// The first character of a text that the plan prints for this command: U+0004, with which no other
/// output begins. Alone, it means that the plan has ended. Otherwise JSON follows.
pub const CONTROL: char = '\u{4}';

/// An expression of the command line in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedExpression {
    /// The line of the plan, from 1.
    pub line: usize,
    /// The option that has the expression, such as `--if`; empty for a positional argument.
    pub option: &'static str,
    /// The expression as the user typed it.
    pub typed: String,
    /// The position in `typed` at which the translated part begins, in characters.
    pub offset: usize,
    /// The translated part.
    pub translation: Translation,
    /// Whether the value is that of the entry, also where the expression is in code at the exits.
    pub is_kept: bool,
}

/// A plan with the places of the user's expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPlan {
    pub source: String,
    pub expressions: Vec<PlacedExpression>,
    /// Whether the plan prints `calls` in place of `rows`: the figures of calls and of self times
    /// apart, for `call_times.rs`.
    pub prints_calls: bool,
    /// Whether the plan prints a row for each call, for `watched_value.rs`.
    pub prints_values: bool,
}

/// Returns the plan that answers the question. `terminal`: if each table replaces the previous one, the
/// columns of the terminal. `json`: whether the plan prints rows as JSON.
pub fn write(
    question: &Question,
    asked: &ParsedQuestion,
    terminal: Option<usize>,
    json: bool,
) -> WrittenPlan {
    let mut writer = PlanWriter {
        question,
        asked,
        json,
        width: terminal,
        plan: WrittenPlan::default(),
    };
    let arguments = question.arguments();
    if arguments.unsafe_calls {
        writer.add("unsafe_calls(true);\n");
    }
    writer.add(&format!("let m = methods({});\n", literal(&asked.pattern)));
    let show = writer.attach();
    let shown = writer.show(&show);
    writer.add(&format!(
        "let seen = [-1];\nlet found = || {{ \
         let all = instruments().filter(|i| i.id == h.id()); \
         if !all.is_empty() {{ print(\"\\u0004\" + #{{attached: all[0]}}.to_json()); }} }};\nfound.call();\n\
         let show = || {{ {shown} }};\n"
    ));
    let every = match (&show, arguments.every, arguments.seconds) {
        (_, Some(seconds), _) => Some(seconds),
        (Show::Stream, ..) => Some(WATCH_INTERVAL_SECONDS),
        // In a file only the last table is needed. `--for` prints that table.
        (_, None, Some(_)) if terminal.is_none() => None,
        _ => Some(1.0),
    };
    if let Some(every) = every {
        writer.add(&format!("every({every:?}, || show.call());\n"));
    }
    if let Some(seconds) = arguments.seconds {
        writer.add(&format!(
            "after({seconds:?}, || {{ show.call(); found.call(); h.detach(); print(\"\\u0004\"); }});\n"
        ));
    }
    writer.plan
}

/// The form in which a plan prints its results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    /// The table of `h` or `t`.
    Table(&'static str),
    /// One line for each stack frame.
    Stacks,
    Bars,
    Stream,
    /// The figures of `t` by keys and the self times of `own`.
    Calls,
    /// The figures of the timer `h` and the self times of `own`.
    Times,
}

struct PlanWriter<'a> {
    question: &'a Question,
    asked: &'a ParsedQuestion,
    json: bool,
    /// The columns of the terminal that shows the tables.
    width: Option<usize>,
    plan: WrittenPlan,
}

/// A value that code at the exits has from the entry, or computes there.
struct ExitValue {
    option: &'static str,
    typed: String,
    /// The position of the part in `typed`, in characters.
    offset: usize,
    part: String,
    /// Whether the part depends on the end of the call.
    at_exit: bool,
    /// Whether an object is shown as text.
    is_described: bool,
}

/// An expression whose value is kept from the entry to the exits.
struct KeptValue {
    option: &'static str,
    typed: String,
    offset: usize,
    part: String,
    /// Whether an object is kept as text.
    is_described: bool,
}

/// The code that measures a call which has ended.
struct ExitCode {
    /// The update of the table `t`.
    give: String,
    /// The last arguments of the update.
    own: Vec<String>,
    is_time: bool,
    conditions: Vec<ExitExpression>,
    inputs: Vec<ExitExpression>,
}

impl PlanWriter<'_> {
    fn add(&mut self, text: &str) {
        self.plan.source.push_str(text);
    }

    /// Adds an expression on a line of its own.
    fn add_expression(
        &mut self,
        option: &'static str,
        (typed, offset): (&str, usize),
        translation: Translation,
    ) {
        self.add("\n");
        let line = self.plan.source.matches('\n').count() + 1;
        let code = translation.code.clone();
        self.plan.expressions.push(PlacedExpression {
            line,
            option,
            typed: typed.to_owned(),
            offset,
            translation,
            is_kept: false,
        });
        self.add(&code);
        self.add("\n");
    }

    /// Adds expressions, separated by commas.
    fn add_list(&mut self, all: &[(&'static str, &String)]) {
        for (n, (option, typed)) in all.iter().enumerate() {
            if n > 0 {
                self.add(",");
            }
            let translation = translate(typed);
            let translation = match option.is_empty() && self.describes() {
                true => translation.described(),
                false => translation,
            };
            self.add_expression(option, (typed, 0), translation);
        }
    }

    /// Whether the values of the question are printed one by one, with objects as text.
    fn describes(&self) -> bool {
        matches!(self.question, Question::Watch(_))
    }

    /// The keys and values of the question with their options.
    fn inputs(&self) -> Vec<(&'static str, &String)> {
        let by = self.question.arguments().by.iter().map(|by| ("--by", by));
        let values = self.asked.values.iter().map(|value| ("", value));
        by.chain(values).collect()
    }

    /// Adds the code that attaches, and returns how the results are printed.
    fn attach(&mut self) -> Show {
        let arguments = self.question.arguments();
        let points = arguments
            .at
            .as_ref()
            .map_or("", |at| at.0.as_str())
            .to_owned();
        let is_plain = arguments.by.is_empty() && arguments.only.is_none();
        match self.question {
            Question::Count(_) if is_plain => {
                self.add(&format!("let h = m{points}.before(counter());\n"));
                return Show::Table("h");
            }
            Question::Time(_) if !points.is_empty() => {
                self.add(&format!("let h = m{points}.around(timer());\n"));
                return Show::Table("h");
            }
            Question::Time(_) if is_plain => {
                self.attach_self_times();
                return Show::Times;
            }
            Question::Time(_) => {
                self.attach_calls("t.add", &["end - start"]);
                return Show::Calls;
            }
            _ => {}
        }
        let stacks = arguments.by.iter().any(|by| by.starts_with("stack("));
        let (table, give, show) = match self.question {
            Question::Count(_) if stacks => (format!("tally({MAX_KEYS})"), "t.count", Show::Stacks),
            Question::Count(_) => (format!("tally({MAX_KEYS})"), "t.count", Show::Table("t")),
            Question::Watch(_) => {
                self.plan.prints_values = true;
                ("last(1000)".into(), "t.put", Show::Stream)
            }
            _ => ("histogram(100)".into(), "t.add", Show::Bars),
        };
        self.add(&format!("let t = {table};\n"));
        if self.asked.measures_calls {
            let latency = self.asked.is_latency(self.question);
            let own: &[&str] = if latency {
                &["(end - start) / 1000"]
            } else {
                &[]
            };
            self.attach_calls(give, own);
            return show;
        }
        self.add(&format!("let h = m{points}.before(|p| {{ "));
        if let Some(only) = &arguments.only {
            self.add("if ");
            self.add_expression(CONDITION, (only, 0), translate(only));
            self.add("{ ");
        }
        self.add(&format!("{give}("));
        let inputs: Vec<(&'static str, String)> = self
            .inputs()
            .into_iter()
            .map(|(o, t)| (o, t.clone()))
            .collect();
        let inputs: Vec<(&'static str, &String)> = inputs.iter().map(|(o, t)| (*o, t)).collect();
        self.add_list(&inputs);
        self.add(")");
        self.add(if arguments.only.is_some() {
            " } });\n"
        } else {
            " });\n"
        });
        show
    }

    /// Adds a timer, and the self times of methods in `own`, a table or `()`.
    ///
    /// `inner` has, for each open call of the thread, the time in calls below it so far. Calls that
    /// are more than 32 deep have no self time; their time belongs to the call above them.
    fn attach_self_times(&mut self) {
        self.plan.prints_calls = true;
        self.add(&format!(
            "let h = m.around(timer());
let own = ();
try {{
    own = sums({MAX_TIMED}); let began = per_thread(0); let inner = per_thread(0);
    m.after(|p| {{
        let end = now_ns(); let start = began.pop(); let below = inner.pop();
        if start > 0 {{
            if began.top() > 0 {{ inner.push(inner.pop() + end - start); }}
            own.add(hash_of_method(), end - start - below);
        }}
    }});
    m.before(|p| {{ inner.push(0); began.push(now_ns()); }});
}} catch (error) {{ own = (); }}
"
        ));
    }

    /// Adds code at the entry and at the exits that measures calls. `give` updates the table `t` with
    /// the keys, the values, and the expressions `own` of the code.
    ///
    /// Code after a method runs on every exit, and reads nothing there but the exception. If the question
    /// reads the result, code before each return does the work, and leaves a start of 0 for the code after
    /// the method. There is no result to give if an exception ends the call.
    fn attach_calls(&mut self, give: &str, own: &[&str]) {
        let is_time = matches!(self.question, Question::Time(_));
        let (conditions, inputs) = self.exit_values();
        let reads_any = |name: &str| {
            conditions
                .iter()
                .chain(&inputs)
                .any(|one| reads(&one.part, name))
        };
        let (has_result, has_exception) = (reads_any(RESULT), reads_any(EXCEPTION));
        let mut kept: Vec<KeptValue> = Vec::new();
        let code = ExitCode {
            give: give.to_owned(),
            own: own.iter().map(ToString::to_string).collect(),
            is_time,
            conditions: translated(&conditions, has_result, &mut kept),
            inputs: translated(&inputs, has_result, &mut kept),
        };
        if is_time {
            self.plan.prints_calls = true;
            self.add(&format!(
                "let t = sums({MAX_TIMED}); let own = sums({MAX_TIMED}); let inner = per_thread(0);\n"
            ));
        }
        self.add("let began = per_thread(0);\n");
        for n in 0..kept.len() {
            self.add(&format!("let k{n} = per_call();\n"));
        }
        let at_return = "let exception = false; ";
        let at_exit = "let exception = p[\"exception\"] != (); ";
        if !has_result {
            self.add("let h = m.after(|p| { let end = now_ns(); let start = began.pop(); ");
            self.add_pops(&kept, is_time);
            self.add("if start > 0 { ");
            self.add_exit(&code, if has_exception { at_exit } else { "" });
            self.add("} });\n");
            return self.add_entry(&kept, is_time);
        }
        self.add("m.after(|p| { let end = now_ns(); let start = began.pop(); if start > 0 { ");
        self.add_pops(&kept, is_time);
        if is_time {
            self.add("if began.top() > 0 { inner.push(inner.pop() + end - start); } ");
        }
        self.add("} });\n");
        self.add("let h = m.exits().before(|p| { let end = now_ns(); let start = began.pop(); ");
        self.add_pops(&kept, is_time);
        self.add("if start > 0 { ");
        self.add_exit(&code, if has_exception { at_return } else { "" });
        self.add("} began.push(0); });\n");
        self.add_entry(&kept, is_time);
    }

    /// Adds the code at the entry, which is attached last. A value that no exit takes off would stay, and
    /// a thread that calls a method often would soon have no room for more.
    fn add_entry(&mut self, kept: &[KeptValue], is_time: bool) {
        self.add("m.before(|p| { ");
        for (n, value) in kept.iter().enumerate() {
            self.add(&format!("k{n}.push("));
            self.add_kept(value);
            self.add("); ");
        }
        self.add(if is_time { "inner.push(0); " } else { "" });
        self.add("began.push(now_ns()); });\n");
    }

    fn add_kept(&mut self, value: &KeptValue) {
        let typed = (value.typed.as_str(), value.offset);
        let translation = translate(&value.part);
        let translation = match value.is_described {
            true => translation.described(),
            false => translation,
        };
        self.add_expression(value.option, typed, translation);
        if let Some(expression) = self.plan.expressions.last_mut() {
            expression.is_kept = true;
        }
    }

    /// Adds the code that pops the kept values.
    fn add_pops(&mut self, kept: &[KeptValue], is_time: bool) {
        self.add(if is_time {
            "let below = inner.pop(); "
        } else {
            ""
        });
        for (n, value) in kept.iter().enumerate() {
            self.add(&format!("let v{n} = k{n}.pop("));
            self.add_kept(value);
            self.add("); ");
        }
    }

    /// Adds the code that measures a call which has ended.
    fn add_exit(&mut self, code: &ExitCode, declarations: &str) {
        if code.is_time {
            self.add("if began.top() > 0 { inner.push(inner.pop() + end - start); } ");
        }
        self.add(declarations);
        self.add(&format!(
            "let {ELAPSED} = to_float(end - start) / 1000000.0; "
        ));
        for (option, typed, offset, translation) in &code.conditions {
            self.add("if ");
            self.add_expression(option, (typed, *offset), translation.clone());
            self.add("{ ");
        }
        self.add(&format!("{}(", code.give));
        let has_keys = self.add_keys(code);
        for (n, expression) in code.own.iter().enumerate() {
            self.add(if has_keys || n > 0 { ", " } else { "" });
            self.add(expression);
        }
        self.add("); ");
        if code.is_time {
            self.add("own.add(");
            self.add_keys(code);
            self.add(", end - start - below); ");
        }
        self.add(&"} ".repeat(code.conditions.len()));
    }

    /// Adds the keys of a row, and returns whether there are any. Without a key, a row of times is a
    /// method.
    fn add_keys(&mut self, code: &ExitCode) -> bool {
        for (n, (option, typed, offset, translation)) in code.inputs.iter().enumerate() {
            self.add(if n > 0 { "," } else { "" });
            self.add_expression(option, (typed, *offset), translation.clone());
        }
        let is_method = code.is_time && code.inputs.is_empty();
        self.add(if is_method { "hash_of_method()" } else { "" });
        is_method || !code.inputs.is_empty()
    }

    /// The parts of the condition, and the keys and values.
    fn exit_values(&self) -> (Vec<ExitValue>, Vec<ExitValue>) {
        let only = self
            .question
            .arguments()
            .only
            .as_deref()
            .unwrap_or_default();
        let mut conditions = Vec::new();
        for part in conjuncts(only).into_iter().filter(|part| !part.is_empty()) {
            // `part` is a slice of `only`.
            let begin = part.as_ptr() as usize - only.as_ptr() as usize;
            let offset = only.get(..begin).map_or(0, |before| before.chars().count());
            conditions.push(ExitValue {
                option: CONDITION,
                typed: only.to_owned(),
                offset,
                part: part.to_owned(),
                at_exit: reads_exit(part),
                is_described: false,
            });
        }
        let inputs = self.inputs().into_iter().map(|(option, typed)| ExitValue {
            option,
            typed: typed.clone(),
            offset: 0,
            part: typed.clone(),
            at_exit: reads_exit(typed),
            is_described: self.describes(),
        });
        (conditions, inputs.collect())
    }

    /// The code that prints the results.
    fn show(&self, show: &Show) -> String {
        let rows = self.question.arguments().rows.unwrap_or(DEFAULT_ROWS);
        match (show, self.json) {
            (Show::Table(of), false) => match self.width {
                Some(width) => format!("print({of}.table({rows}, {width}));"),
                None => format!("print({of}.table({rows}));"),
            },
            (Show::Table(of), true) => format!("print(#{{rows: {of}.rows()}}.to_json());"),
            (Show::Stacks, false) => format!("print(t.stacks({rows}));"),
            (Show::Stacks | Show::Bars, true) => "print(#{rows: t.rows()}.to_json());".into(),
            (Show::Bars, false) => {
                let unit = if self.asked.is_latency(self.question) {
                    " + \" (µs)\""
                } else {
                    ""
                };
                format!("print(t.bars({rows}){unit});")
            }
            (Show::Stream, json) => self.stream(json),
            (Show::Times, json) => format!(
                "let places = h.rows(); let methods = places.len(); {} let selves = []; \
                 if own != () {{ selves = own.rows(); }} \
                 print(#{{places: places, methods: methods, selves: selves}}.to_json());",
                if json {
                    String::new()
                } else {
                    most_rows("count", "total_ns")
                }
            ),
            (Show::Calls, _) => format!(
                "let places = []; {} print(#{{places: places, calls: t.rows(), selves: own.rows()}}.to_json());",
                // Without a key, the rows need the names of the methods.
                match self.inputs().is_empty() {
                    true => format!("places = h.rows(); {}", most_rows("hits", "hits")),
                    false => String::new(),
                }
            ),
        }
    }

    /// Returns plan code that prints the rows of `last(…)` that were not printed before, as JSON. Unless
    /// the output is JSON too, the code also tells this command how many rows were lost in between.
    fn stream(&self, json: bool) -> String {
        let lost = match json {
            true => "",
            false => {
                "let lost = row.number - seen[0] - 1; if lost > 0 { print(\"\\u0004\" + #{lost: lost}.to_json()); }"
            }
        };
        let print = "row.unix_time = start + row.time_ns.to_float() / 1e9; print(row.to_json());";
        let body = format!("if row.number > seen[0] {{ {lost} seen[0] = row.number; {print} }}");
        match self.question.arguments().number {
            None => format!("let start = start_time(); for row in t.rows() {{ {body} }}"),
            // The plan goes on until the command sees the end, and prints nothing more.
            Some(most) => format!(
                "let start = start_time(); for row in t.rows() {{ if seen.len() <= {most} {{ {} }} }} if seen.len() > {most} {{ found.call(); print(\"\\u0004\"); }}",
                body.replace(
                    "seen[0] = row.number;",
                    "seen[0] = row.number; seen.push(0);"
                )
            ),
        }
    }
}

/// Plan code that keeps the rows of `places` with `count`, at most [`MAX_TIMED`] of them with the largest
/// `weight`. A text of a plan has at most 1 MiB.
fn most_rows(count: &str, weight: &str) -> String {
    format!(
        "places.retain(|r| r.{count} > 0); \
         if places.len() > {MAX_TIMED} {{ places.sort(|a, b| b.{weight} - a.{weight}); places.truncate({MAX_TIMED}); }}"
    )
}

/// An expression in code at the exits: its option, the typed text with the position of the part, and
/// the translation.
type ExitExpression = (&'static str, String, usize, Translation);

/// Translates expressions for code at the exits, and adds what they need from the entry to `kept`.
/// `at_returns`: the code runs at returns only.
fn translated(
    all: &[ExitValue],
    at_returns: bool,
    kept: &mut Vec<KeptValue>,
) -> Vec<ExitExpression> {
    let mut out = Vec::new();
    for value in all {
        let mut keep = |part: &str, offset: usize, is_described: bool| {
            kept.push(KeptValue {
                option: value.option,
                typed: value.typed.clone(),
                offset: value.offset + offset,
                part: part.to_owned(),
                is_described,
            });
            format!("v{}", kept.len() - 1)
        };
        let is_class = value.part.trim() == EXCEPTION && value.option != CONDITION;
        let translation = if is_class {
            Translation {
                code: match at_returns {
                    true => "()".into(),
                    false => format!("class_of(p[\"{EXCEPTION}\"])"),
                },
                marks: vec![(0, 0)],
            }
        } else if value.at_exit {
            let translation = translate_at_exit(&value.part, &mut |path| {
                let before = value.part.find(path).and_then(|at| value.part.get(..at));
                keep(
                    path,
                    before.map_or(0, |before| before.chars().count()),
                    false,
                )
            });
            match value.is_described {
                true => translation.described(),
                false => translation,
            }
        } else {
            let code = keep(&value.part, 0, value.is_described);
            Translation {
                code,
                marks: vec![(0, 0)],
            }
        };
        out.push((value.option, value.typed.clone(), value.offset, translation));
    }
    out
}
