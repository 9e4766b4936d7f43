//! The methods that a question was attached to, as the plan reports them.

use serde::Deserialize;

/// The report of the plan about its instrument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Attachment {
    /// The number of methods with points.
    pub methods: u64,
    /// The number of classes with points.
    pub classes: u64,
    /// The number of methods that the pattern selected, with points or without.
    pub matched: u64,
    /// The number of points.
    pub points: u64,
}

/// A text of the plan for this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlText {
    /// The methods that the question was attached to.
    Attached(Attachment),
    /// The number of values that the table has lost before the next one.
    Lost(u64),
}

impl ControlText {
    /// Reads the JSON text of the plan.
    pub fn read(text: &str) -> Option<ControlText> {
        serde_json::from_str(text).ok()
    }
}

impl Attachment {
    /// One line for the user. `at`: whether the question names points inside methods.
    pub fn describe(self, at: bool) -> String {
        let Attachment {
            methods,
            classes,
            matched,
            points,
        } = self;
        if points == 0 && matched > 0 {
            let (have, none) = match matched {
                1 => ("1 method matches".to_owned(), "it has"),
                n => (format!("{n} methods match"), "none has"),
            };
            let no = if matched == 1 {
                "no such point"
            } else {
                "such a point"
            };
            return format!("attached: nothing; {have}, and {none} {no}");
        }
        let several = |n: u64, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let methods = several(methods, "method", "methods");
        let classes = several(classes, "class", "classes");
        match at {
            true => format!(
                "attached: {} in {methods} in {classes}",
                several(points, "point", "points")
            ),
            false => format!("attached: {methods} in {classes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_described_in_one_line() {
        let text = r#"{"attached":{"attached":true,"classes":7,"id":"i1","kind":"timer","matched":26,"methods":26,"points":26}}"#;
        let Some(ControlText::Attached(found)) = ControlText::read(text) else {
            panic!("{text} is no report");
        };
        assert_eq!(found.describe(false), "attached: 26 methods in 7 classes");
        let one = Attachment {
            methods: 1,
            classes: 1,
            matched: 1,
            points: 4,
        };
        assert_eq!(
            one.describe(true),
            "attached: 4 points in 1 method in 1 class"
        );
        let none = Attachment {
            matched: 3,
            ..Attachment::default()
        };
        assert_eq!(
            none.describe(true),
            "attached: nothing; 3 methods match, and none has such a point"
        );
        assert_eq!(
            Attachment::default().describe(false),
            "attached: 0 methods in 0 classes"
        );
        assert_eq!(ControlText::read("{}"), None);
        assert_eq!(
            ControlText::read(r#"{"lost":7}"#),
            Some(ControlText::Lost(7))
        );
    }
}
