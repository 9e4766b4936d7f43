//! Parses the positional arguments `PID… PATTERN [EXPR…]` of `count`, `time`, `watch` and `hist`.

use anyhow::{Result, bail};

use crate::cli::Question;
use crate::targets;

/// The positional arguments of a question, parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct ParsedQuestion {
    pub pids: Vec<u32>,
    /// The pattern of the methods to measure.
    pub pattern: String,
    /// The expressions that `watch` and `hist` read at each call; empty for `count` and `time`.
    pub values: Vec<String>,
}

impl ParsedQuestion {
    /// Parses the arguments. Numbers before the pattern are process ids.
    ///
    /// # Errors Fails if an argument is missing or superfluous, or if no JVM matches `--match`.
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
                ("hist", _) => "name one number: veneer hist PID PATTERN EXPR".into(),
                _ => format!("name one to {most} values: veneer {name} PID PATTERN EXPR…"),
            });
        }
        Ok(ParsedQuestion {
            pids: targets::pids(&front, arguments.matching.as_deref())?,
            pattern: pattern.clone(),
            values: values.to_vec(),
        })
    }
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
    fn missing_and_superfluous_arguments_are_reported() {
        for (words, error) in [
            ("count a.B::m(..)", "name a process id"),
            ("count 1", "name the methods"),
            ("count 1 a.B::m(..) n", "one word too many"),
            ("hist 1 a.B::m(..)", "name one number"),
            ("hist 1 a.B::m(..) a b", "name one number"),
            ("watch 1 a.B::m(..)", "one to 4 values"),
            ("watch 1 a.B::m(..) a b c d e", "one to 4 values"),
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
