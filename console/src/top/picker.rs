//! Choosing what a watch shows: live variables, and expressions that are typed.

use super::figures::Variable;
use super::keys::Key;
use super::place::Place;

/// Values of one pass at most, as a table of the agent keeps them.
pub const MOST: usize = 4;

/// Something that can be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// A variable's name, or an expression.
    pub text: String,
    /// Its type; empty for an expression.
    pub of: String,
    /// Whether it is chosen.
    pub chosen: bool,
}

/// See the module documentation.
#[derive(Debug, Clone, PartialEq)]
pub struct Picker {
    /// Where the watch will stand.
    pub place: Place,
    /// What there is.
    pub choices: Vec<Choice>,
    /// The selected one.
    pub cursor: usize,
    /// The expression that is being typed.
    pub typed: Option<String>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picked {
    /// Nothing is to be watched.
    Nothing,
    /// These are.
    Values(Vec<String>),
}

impl Picker {
    /// Among these variables, none of them chosen.
    pub fn new(place: Place, variables: Vec<Variable>) -> Picker {
        let choice = |v: Variable| Choice {
            text: v.name,
            of: v.of,
            chosen: false,
        };
        let choices: Vec<Choice> = variables.into_iter().map(choice).collect();
        Picker {
            place,
            // Where there is no variable there may be something to type: `thread_name()`.
            typed: choices.is_empty().then(String::new),
            choices,
            cursor: 0,
        }
    }

    /// So many are chosen.
    pub fn chosen(&self) -> usize {
        self.choices.iter().filter(|c| c.chosen).count()
    }

    /// Takes a key; tells when it has ended.
    pub fn key(&mut self, key: Key) -> Option<Picked> {
        if self.typed.is_some() {
            return self.type_key(key);
        }
        match key {
            Key::Escape | Key::Letter('q') => return Some(Picked::Nothing),
            Key::Up | Key::Letter('k') => self.cursor = self.cursor.saturating_sub(1),
            Key::Down | Key::Letter('j') => {
                let last = self.choices.len().saturating_sub(1);
                self.cursor = (self.cursor + 1).min(last);
            }
            Key::Letter(' ') => {
                let room = self.chosen() < MOST;
                if let Some(choice) = self.choices.get_mut(self.cursor) {
                    choice.chosen = !choice.chosen && room;
                }
            }
            Key::Letter('e') => self.typed = Some(String::new()),
            Key::Enter => return Some(self.picked()),
            _ => {}
        }
        None
    }

    fn type_key(&mut self, key: Key) -> Option<Picked> {
        let text = self.typed.as_mut()?;
        match key {
            Key::Letter(letter) => text.push(letter),
            Key::Backspace => {
                text.pop();
            }
            Key::Escape => {
                self.typed = None;
                return self.choices.is_empty().then_some(Picked::Nothing);
            }
            Key::Enter => {
                let text = text.trim().to_owned();
                self.typed = None;
                if !text.is_empty() {
                    let chosen = self.chosen() < MOST;
                    self.cursor = self.choices.len();
                    self.choices.push(Choice {
                        text,
                        of: String::new(),
                        chosen,
                    });
                }
                return self.choices.is_empty().then_some(Picked::Nothing);
            }
            _ => {}
        }
        None
    }

    /// The chosen ones; where there are none, the selected one.
    fn picked(&self) -> Picked {
        let chosen = self.choices.iter().filter(|c| c.chosen);
        let mut values: Vec<String> = chosen.map(|c| c.text.clone()).collect();
        if values.is_empty() {
            values.extend(self.choices.get(self.cursor).map(|c| c.text.clone()));
        }
        match values.is_empty() {
            true => Picked::Nothing,
            false => Picked::Values(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(names: &[&str]) -> Picker {
        let variable = |name: &&str| Variable {
            name: (*name).into(),
            of: "int".into(),
        };
        let place = Place {
            class: "a.B".into(),
            method: "m()V".into(),
            fragment: None,
        };
        Picker::new(place, names.iter().map(variable).collect())
    }

    fn press(picker: &mut Picker, keys: &str) -> Option<Picked> {
        keys.chars()
            .map(|letter| match letter {
                '\n' => Key::Enter,
                letter => Key::Letter(letter),
            })
            .find_map(|key| picker.key(key))
    }

    #[test]
    fn variables_are_chosen_and_expressions_typed() {
        let mut one = picker(&["a", "b", "c"]);
        let values =
            |names: &[&str]| Some(Picked::Values(names.iter().map(|n| (*n).into()).collect()));
        assert_eq!(
            press(&mut one, "j j ee.user.name\n\n"),
            values(&["b", "c", "e.user.name"])
        );
        assert_eq!(press(&mut picker(&["a", "b"]), "j\n"), values(&["b"]));
        assert_eq!(press(&mut picker(&["a"]), "q"), Some(Picked::Nothing));
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
        assert_eq!(picker(&[]).key(Key::Escape), Some(Picked::Nothing));
    }
}
