//! Parses the positional arguments `PID… PATTERN [EXPR…]` of `count`, `time`, `watch` and `hist`.

use anyhow::{Result, bail};
use thiserror::Error;

use super::expression::{ELAPSED, EXCEPTION, RESULT, reads};
use super::method_pattern::{self, PatternRefusal};
use crate::cli::{PointArguments, Question};
use crate::targets;

/// Maximum number of rows in a table, unless the user names another one.
pub const DEFAULT_ROWS: u32 = 20;

/// Why an option of a question has no meaning for its command. The text ends with a stable name.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionRefusal {
    #[error(
        "`time --at` measures from one point to another, which has no values of a call: leave {option} away, or leave --at away (PointsHaveNoCalls)"
    )]
    PointsHaveNoCalls { option: &'static str },
    #[error(
        "`watch` prints each value by itself and groups nothing: write the expression of --by among the values (ValuesAreNotGrouped)"
    )]
    ValuesAreNotGrouped,
    #[error("`watch` prints values and no table: leave {option} away (NoTable)")]
    NoTable { option: &'static str },
    #[error("-n is for `watch`: a table has no first values; end it with --for SECONDS (NoValues)")]
    NoValues,
    #[error(
        "the durations of calls have no points: leave --at away, or name a value (CallsHaveNoPoints)"
    )]
    CallsHaveNoPoints,
}

/// The positional arguments of a question, parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct ParsedQuestion {
    pub pids: Vec<u32>,
    /// The pattern of the methods to measure.
    pub pattern: String,
    /// The pattern as the user typed it, if it is read as another one.
    pub typed_pattern: Option<String>,
    /// The expressions that `watch` and `hist` read at each call; empty for `count`, for `time`, and
    /// for a `hist` of the durations of calls.
    pub values: Vec<String>,
    /// Whether the values are known at the end of a call only.
    pub measures_calls: bool,
}

impl ParsedQuestion {
    /// Parses the arguments. Numbers before the pattern are process ids.
    ///
    /// # Errors
    /// An argument is missing or superfluous, an option has no meaning for the command, no JVM
    /// matches `--match`, or the classes of the pattern are never armed ([`PatternRefusal`]).
    pub fn parse(question: &Question) -> Result<ParsedQuestion> {
        let arguments = question.arguments();
        let words = &arguments.words;
        let numbers = words.iter().take_while(|word| word.parse::<u32>().is_ok());
        let (front, rest) = words.split_at(numbers.count());
        let front: Vec<u32> = front.iter().filter_map(|word| word.parse().ok()).collect();
        let name = question.name();
        if front.is_empty() && arguments.matching.is_none() {
            bail!("name a process id, or --match MAIN; `veneer ps` shows the JVMs that run");
        }
        let Some((pattern, values)) = rest.split_first() else {
            bail!("name the methods: veneer {name} PID 'a.b.C::m(..)'");
        };
        let (least, most) = question.value_count_range();
        if !(least..=most).contains(&values.len()) {
            bail!(match (name, most) {
                (_, 0) => format!(
                    "`{}` is one word too many; quote the pattern",
                    values.join(" ")
                ),
                ("hist", _) => "name one number, or none for the durations of calls: veneer hist PID PATTERN EXPR".into(),
                _ => format!("name one to {most} values: veneer {name} PID PATTERN EXPR…"),
            });
        }
        check_options(question)?;
        let read = method_pattern::read(pattern);
        let pids = targets::pids(&front, arguments.matching.as_deref())?;
        let first = pids.first().copied().unwrap_or_default();
        method_pattern::check_armable(&read, name, first)?;
        Ok(ParsedQuestion {
            pids,
            typed_pattern: (read != *pattern).then(|| pattern.clone()),
            pattern: read,
            values: values.to_vec(),
            measures_calls: measures_calls(question, values)?,
        })
    }
}

impl ParsedQuestion {
    /// Whether the question is for the durations of calls: a `hist` without a value.
    pub fn is_latency(&self, question: &Question) -> bool {
        matches!(question, Question::Hist(_)) && self.values.is_empty()
    }
}

/// Whether the error is that nothing of the pattern can be measured.
pub fn is_pattern_refusal(error: &anyhow::Error) -> bool {
    error.downcast_ref::<PatternRefusal>().is_some()
}

/// Refuses options that have no effect on the command.
fn check_options(question: &Question) -> Result<(), OptionRefusal> {
    let arguments = question.arguments();
    match question {
        Question::Watch(_) => {
            if !arguments.by.is_empty() {
                return Err(OptionRefusal::ValuesAreNotGrouped);
            }
            if arguments.rows.is_some() {
                return Err(OptionRefusal::NoTable { option: "--rows" });
            }
            if arguments.merge {
                return Err(OptionRefusal::NoTable { option: "--merge" });
            }
        }
        _ if arguments.number.is_some() => return Err(OptionRefusal::NoValues),
        Question::Time(_) if arguments.at.is_some() => {
            let option = match (arguments.by.is_empty(), &arguments.only) {
                (false, _) => Some("--by"),
                (_, Some(_)) => Some("--if"),
                _ => None,
            };
            if let Some(option) = option {
                return Err(OptionRefusal::PointsHaveNoCalls { option });
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether the question needs code at the entry and at the exits. At other points than the exits,
/// `elapsed` and `result` are variables of the method.
fn measures_calls(question: &Question, values: &[String]) -> Result<bool, OptionRefusal> {
    let arguments = question.arguments();
    let at_exits = |at: &PointArguments| at.0 == ".exits()";
    if matches!(question, Question::Hist(_)) && values.is_empty() {
        return match &arguments.at {
            None => Ok(true),
            Some(_) => Err(OptionRefusal::CallsHaveNoPoints),
        };
    }
    let all: Vec<&String> = arguments
        .by
        .iter()
        .chain(&arguments.only)
        .chain(values)
        .collect();
    let any = |name: &str| all.iter().any(|expression| reads(expression, name));
    Ok(match &arguments.at {
        None => any(ELAPSED) || any(EXCEPTION) || any(RESULT),
        // The result alone can be read together with the variables at the exit.
        Some(at) => at_exits(at) && (any(ELAPSED) || any(EXCEPTION)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn asked(words: &str) -> Result<ParsedQuestion> {
        let words = format!("veneer {words}");
        match Cli::parse_from(words.split(' ')).command {
            Command::Ask(question) => ParsedQuestion::parse(&question),
            _ => panic!("no question"),
        }
    }

    #[test]
    fn leading_numbers_are_process_ids() {
        let all = asked("watch 1 2 a.B::m(..) n 3").unwrap();
        assert_eq!(all.pids, [1, 2]);
        assert_eq!(
            (all.pattern.as_str(), all.values),
            ("a.B::m(..)", vec!["n".into(), "3".into()])
        );
    }

    #[test]
    fn a_pattern_is_read_as_what_it_means() {
        let all = asked("count 1 com.shop.Pricing#factor").unwrap();
        assert_eq!(all.pattern, "com.shop.Pricing::factor");
        assert_eq!(
            all.typed_pattern.as_deref(),
            Some("com.shop.Pricing#factor")
        );
        assert_eq!(asked("count 1 a.B::m(..)").unwrap().typed_pattern, None);
    }

    #[test]
    fn a_question_about_the_end_of_a_call_measures_calls() {
        for (words, expected) in [
            ("hist 1 a.B::m(..)", true),
            ("hist 1 a.B::m(..) n", false),
            ("watch 1 a.B::m(..) n --if elapsed>3", true),
            ("count 1 a.B::m(..) --by elapsed --at exits", true),
            ("count 1 a.B::m(..) --by n --at loops", false),
            ("watch 1 a.B::m(..) result", true),
            ("watch 1 a.B::m(..) result cost --at exits", false),
            ("watch 1 a.B::m(..) result elapsed --at line:7", false),
        ] {
            assert_eq!(asked(words).unwrap().measures_calls, expected, "{words}");
        }
    }

    #[test]
    fn missing_and_superfluous_arguments_are_reported() {
        for (words, error) in [
            ("count a.B::m(..)", "name a process id"),
            ("count 1", "name the methods"),
            ("count 1 a.B::m(..) n", "one word too many"),
            ("hist 1 a.B::m(..) a b", "name one number"),
            ("watch 1 a.B::m(..)", "one to 4 values"),
            ("watch 1 a.B::m(..) a b c d e", "one to 4 values"),
            ("time 1 a.B::m(..) --at loops --by n", "(PointsHaveNoCalls)"),
            ("time 1 a.B::m(..) --at loops --if n", "leave --if away"),
            ("watch 1 a.B::m(..) n --by n", "(ValuesAreNotGrouped)"),
            ("watch 1 a.B::m(..) n --rows 3", "(NoTable)"),
            ("watch 1 2 a.B::m(..) n --merge", "leave --merge away"),
            ("count 1 a.B::m(..) -n 3", "(NoValues)"),
            ("hist 1 a.B::m(..) --at loops", "(CallsHaveNoPoints)"),
            ("count 1 java.lang.String::substring(..)", "(OnCellPath)"),
            (
                "time --match NoSuchMain a.B::m(..)",
                "no JVM that you may attach to",
            ),
        ] {
            let error_text = asked(words).unwrap_err().to_string();
            assert!(error_text.contains(error), "{words}: {error_text}");
        }
    }
}
