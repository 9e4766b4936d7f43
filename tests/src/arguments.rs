//! Errors in the arguments of the commands `bench` and `trust`.

/// Why the arguments of a command are not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    #[error("{option} needs {needed}")]
    MissingValue {
        option: String,
        /// The missing value, such as `a version`.
        needed: &'static str,
    },
    #[error("{option} {value}: not a number")]
    NoNumber { option: String, value: String },
    #[error("{word} is no part ({}), nor {options}", parts.join(", "))]
    UnknownPart {
        word: String,
        /// The names of all parts.
        parts: Vec<&'static str>,
        /// The options of the command.
        options: &'static str,
    },
    /// No installed JDK has the wanted version.
    #[error("no such JDK: {}", Self::JDK_REMEDY)]
    NoJdk,
}

impl ArgumentError {
    const JDK_REMEDY: &str = "see VENEER_JDKS";

    /// An action of the user that solves the problem, if the problem does not already name it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NoJdk => Some(Self::JDK_REMEDY),
            Self::MissingValue { .. } | Self::NoNumber { .. } | Self::UnknownPart { .. } => None,
        }
    }

    /// Parses the number that follows an option.
    pub fn number(
        option: &str,
        value: Option<String>,
        needed: &'static str,
    ) -> Result<u32, ArgumentError> {
        let option = option.to_string();
        let Some(value) = value else {
            return Err(Self::MissingValue { option, needed });
        };
        match value.parse() {
            Ok(number) => Ok(number),
            Err(_) => Err(Self::NoNumber { option, value }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_follows_its_option() {
        let number = |value: Option<&str>| {
            ArgumentError::number("--jdk", value.map(String::from), "a version")
        };
        assert_eq!(number(Some("17")), Ok(17));
        let text = |value| number(value).map_err(|e| e.to_string());
        assert_eq!(text(None), Err("--jdk needs a version".into()));
        assert_eq!(text(Some("x")), Err("--jdk x: not a number".into()));
    }

    #[test]
    fn a_missing_jdk_has_a_remedy() {
        let remedy = ArgumentError::NoJdk.remedy();
        assert_eq!(remedy, Some("see VENEER_JDKS"));
        assert_eq!(
            ArgumentError::NoJdk.to_string(),
            "no such JDK: see VENEER_JDKS"
        );
    }
}
