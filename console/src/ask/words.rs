//! The words of a question: `PID… PATTERN [EXPR…]`, as people type them.

use anyhow::{Result, bail};

use crate::cli::Question;
use crate::which;

/// A question with its words sorted out.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// Whom.
    pub pids: Vec<u32>,
    /// Which methods.
    pub pattern: String,
    /// Of `watch` and `hist`: what is wanted of each call.
    pub values: Vec<String>,
}

impl Asked {
    /// Sorts them: numbers in front are process ids.
    ///
    /// # Errors
    /// Where something is missing, or too much.
    pub fn of(question: &Question) -> Result<Asked> {
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
        let (least, most) = question.values();
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
        Ok(Asked {
            pids: which::pids(&front, arguments.matching.as_deref())?,
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

    fn asked(words: &str) -> Result<Asked> {
        let words = format!("veneer {words}");
        match Cli::parse_from(words.split(' ')).command {
            Command::Ask(question) => Asked::of(&question),
            _ => panic!("no question"),
        }
    }

    #[test]
    fn numbers_in_front_are_processes() {
        let all = asked("watch 1 2 a.B::m(..) n 3").unwrap();
        assert_eq!(all.pids, [1, 2]);
        assert_eq!(
            (all.pattern.as_str(), all.values),
            ("a.B::m(..)", vec!["n".into(), "3".into()])
        );
    }

    #[test]
    fn what_is_missing_or_too_much_is_said() {
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
            let said = asked(words).unwrap_err().to_string();
            assert!(said.contains(error), "{words}: {said}");
        }
    }
}
