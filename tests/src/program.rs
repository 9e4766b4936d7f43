//! A Java program of `tests/java/counts` with the expectations in its comments.

use std::path::{Path, PathBuf};

use crate::expectation::{Expectation, ExpectationError, Measure, parse_line};

/// The measures, in the order in which the plan attaches their instruments.
pub const MEASURES: [Measure; 4] = [
    Measure::Blocks,
    Measure::Entries,
    Measure::Exits,
    Measure::Timer,
];

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// A comment is not a well-formed expectation.
    #[error("{0}:{1}: {2}")]
    Malformed(PathBuf, u32, ExpectationError),
}

/// A program: one source file whose main class has the name of the file.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    /// The pattern that selects the methods to be measured.
    pub methods: String,
    /// Names of the methods without expectations, because their counts depend on the JDK.
    pub loose: Vec<String>,
    /// The expectations in the order of their lines.
    pub expectations: Vec<Expectation>,
}

impl Program {
    /// Reads a source. Its first comment block (`//!`) may contain `loose: name, name` and
    /// `methods: PATTERN`. Without `methods:`, the pattern selects all methods of the class and of
    /// the classes nested in it.
    pub fn read(path: &Path) -> Result<Self, ProgramError> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| ProgramError::Unreadable(path.to_path_buf(), cause))?;
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut program = Self {
            methods: format!("{name}*::*(..)"),
            name,
            path: path.to_path_buf(),
            loose: Vec::new(),
            expectations: Vec::new(),
        };
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(heading) = line.strip_prefix("//! ") {
                program.directive(heading);
                continue;
            }
            let found = parse_line(number, line)
                .map_err(|fault| ProgramError::Malformed(path.to_path_buf(), number, fault))?;
            program.expectations.extend(found);
        }
        Ok(program)
    }

    fn directive(&mut self, heading: &str) {
        if let Some(names) = heading.strip_prefix("loose:") {
            self.loose
                .extend(names.split(',').map(|name| name.trim().to_string()));
        } else if let Some(pattern) = heading.strip_prefix("methods:") {
            self.methods = pattern.trim().to_string();
        }
    }

    /// The plan that measures everything that the expectations are about. It attaches one
    /// instrument per line, in the order of [`MEASURES`].
    pub fn plan(&self) -> String {
        format!(
            "let m = methods(\"{}\");\n\
             m.blocks().before(counter());\n\
             m.before(counter());\n\
             m.after(counter());\n\
             m.around(timer());\n",
            self.methods
        )
    }

    /// Returns the expectations of a measure that apply to a JDK. If a line has several, the one
    /// with the highest version up to `jdk` applies.
    pub fn expected(&self, measure: Measure, jdk: u32) -> Vec<&Expectation> {
        let mut chosen: Vec<&Expectation> = Vec::new();
        for one in &self.expectations {
            if one.measure != measure || one.since > jdk {
                continue;
            }
            match chosen.iter_mut().find(|other| other.line == one.line) {
                Some(other) if other.since < one.since => *other = one,
                Some(_) => {}
                None => chosen.push(one),
            }
        }
        chosen
    }

    /// A position in the source in the form that editors understand.
    pub fn place(&self, line: u32) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("tests/java/counts/{file}:{line}")
    }
}
