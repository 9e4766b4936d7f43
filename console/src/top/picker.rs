//! The selection of the values of a watch: live variables, and expressions that the user types.

use super::keys::PressedKey;
use super::location::MethodLocation;
use crate::flow_counts::Variable;

/// Maximum number of values of a watch. The agent's table has at most four values in a row.
pub const MAX_VALUES: usize = 4;

/// A variable or an expression that can be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The name of a variable, or an expression.
    pub text: String,
    /// The type of a variable. Empty for an expression.
    pub type_name: String,
    pub chosen: bool,
}

/// The state of the selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Picker {
    /// The location that the watch will be attached to.
    pub location: MethodLocation,
    pub choices: Vec<Choice>,
    /// The index of the highlighted choice.
    pub cursor: usize,
    /// The expression that is being typed, if any.
    pub typed: Option<String>,
}

/// The result of the selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerResult {
    /// The user cancelled.
    Nothing,
    /// Watch these variables and expressions.
    Values(Vec<String>),
}

impl Picker {
    /// Creates a selection among these variables. None of them is chosen.
    pub fn new(location: MethodLocation, variables: Vec<Variable>) -> Picker {
        let choice = |v: Variable| Choice {
            text: v.name,
            type_name: v.type_name,
            chosen: false,
        };
        let choices: Vec<Choice> = variables.into_iter().map(choice).collect();
        Picker {
            location,
            // Even without variables there are expressions to type, such as `thread_name()`.
            typed: choices.is_empty().then(String::new),
            choices,
            cursor: 0,
        }
    }

    /// Returns the selection in the state before Enter. The last typed expression is being typed
    /// again, so the user can correct it.
    pub fn reopened(mut self) -> Picker {
        if let Some(last) = self.choices.pop_if(|choice| choice.type_name.is_empty()) {
            self.typed = Some(last.text);
        }
        self
    }

    /// Number of chosen values.
    pub fn chosen_count(&self) -> usize {
        self.choices.iter().filter(|c| c.chosen).count()
    }

    /// Processes a key. Returns the result when the selection has ended.
    pub fn key(&mut self, key: PressedKey) -> Option<PickerResult> {
        if self.typed.is_some() {
            return self.type_key(key);
        }
        match key {
            PressedKey::Escape | PressedKey::Letter('q') => return Some(PickerResult::Nothing),
            PressedKey::Up | PressedKey::Letter('k') => self.cursor = self.cursor.saturating_sub(1),
            PressedKey::Down | PressedKey::Letter('j') => {
                let last = self.choices.len().saturating_sub(1);
                self.cursor = (self.cursor + 1).min(last);
            }
            PressedKey::Letter(' ') => {
                let room = self.chosen_count() < MAX_VALUES;
                if let Some(choice) = self.choices.get_mut(self.cursor) {
                    choice.chosen = !choice.chosen && room;
                }
            }
            PressedKey::Letter('e') => self.typed = Some(String::new()),
            PressedKey::Enter => return Some(self.result()),
            _ => {}
        }
        None
    }

    fn type_key(&mut self, key: PressedKey) -> Option<PickerResult> {
        let text = self.typed.as_mut()?;
        match key {
            PressedKey::Letter(letter) => text.push(letter),
            PressedKey::Backspace => {
                text.pop();
            }
            PressedKey::Escape => {
                self.typed = None;
                return self.choices.is_empty().then_some(PickerResult::Nothing);
            }
            PressedKey::Enter => {
                let text = text.trim().to_owned();
                self.typed = None;
                if !text.is_empty() {
                    let chosen = self.chosen_count() < MAX_VALUES;
                    self.cursor = self.choices.len();
                    self.choices.push(Choice {
                        text,
                        type_name: String::new(),
                        chosen,
                    });
                }
                return self.choices.is_empty().then_some(PickerResult::Nothing);
            }
            _ => {}
        }
        None
    }

    /// The chosen values. If none was chosen, the highlighted value.
    fn result(&self) -> PickerResult {
        let chosen = self.choices.iter().filter(|c| c.chosen);
        let mut values: Vec<String> = chosen.map(|c| c.text.clone()).collect();
        if values.is_empty() {
            values.extend(self.choices.get(self.cursor).map(|c| c.text.clone()));
        }
        match values.is_empty() {
            true => PickerResult::Nothing,
            false => PickerResult::Values(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(names: &[&str]) -> Picker {
        let variable = |name: &&str| Variable {
            name: (*name).into(),
            type_name: "int".into(),
        };
        let location = MethodLocation {
            class: "a.B".into(),
            method: "m()V".into(),
            fragment: None,
        };
        Picker::new(location, names.iter().map(variable).collect())
    }

    fn press(picker: &mut Picker, keys: &str) -> Option<PickerResult> {
        keys.chars()
            .map(|letter| match letter {
                '\n' => PressedKey::Enter,
                letter => PressedKey::Letter(letter),
            })
            .find_map(|key| picker.key(key))
    }

    #[test]
    fn variables_are_chosen_and_expressions_typed() {
        let mut one = picker(&["a", "b", "c"]);
        let values = |names: &[&str]| {
            Some(PickerResult::Values(
                names.iter().map(|n| (*n).into()).collect(),
            ))
        };
        assert_eq!(
            press(&mut one, "j j ee.user.name\n\n"),
            values(&["b", "c", "e.user.name"])
        );
        assert_eq!(press(&mut picker(&["a", "b"]), "j\n"), values(&["b"]));
        assert_eq!(press(&mut picker(&["a"]), "q"), Some(PickerResult::Nothing));
        let mut many = picker(&["a", "b", "c", "d", "e"]);
        assert_eq!(
            press(&mut many, " j j j j \n"),
            values(&["a", "b", "c", "d"])
        );
        let mut none = picker(&[]);
        assert_eq!(
            press(&mut none, "thread_name()\n\n"),
            values(&["thread_name()"])
        );
        assert_eq!(
            picker(&[]).key(PressedKey::Escape),
            Some(PickerResult::Nothing)
        );
    }
}
