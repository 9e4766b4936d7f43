//! Parses the text form of a pattern. Every error names a column of the text.

use super::class_pattern::{ClassPattern, PackageElement};
use super::glob::Glob;
use super::method_pattern::{MethodPattern, NamePattern};
use super::modifiers::{FLAGS, Modifier, ModifierKind};
use super::types::{Argument, TypePattern};
use std::str::FromStr;

/// An error in a pattern, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pattern `{text}`, column {column}: {fault}")]
pub struct PatternError {
    /// The text of the whole pattern.
    pub text: String,
    /// The column, in characters from 1.
    pub column: usize,
    /// The fault at the column.
    pub fault: PatternFault,
}

/// The errors in patterns. Each message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// The text is empty or blank.
    #[error("the pattern is empty: write for example `com.acme..*::*(..)`")]
    Empty,
    /// A class or package name is empty.
    #[error("a class name is missing here: write a name, or `*` for any")]
    NoSegment,
    /// The pattern begins with `..`.
    #[error("a pattern cannot begin with `..`: write `*..` for any package")]
    LeadingGap,
    /// The class name ends with `..`.
    #[error("`..` must be followed by a class name: write `..*` for all classes below")]
    TrailingGap,
    /// Three or more dots are adjacent.
    #[error("more than two dots: write `..` for any number of packages")]
    ManyDots,
    /// The packages are separated by `/`.
    #[error("`/` separates packages in class files only: write `.`")]
    Slash,
    /// A name contains a space.
    #[error(
        "a name has no spaces: several patterns go into an array, `[\"a.B\", \"c.D\"]`; before a class stand only flags such as `static`, and annotations"
    )]
    Space,
    /// A name contains this character.
    #[error("`{0}` cannot stand in a name")]
    Character(char),
    /// A colon is not doubled.
    #[error("`:` must be doubled: write `Class::method`")]
    SingleColon,
    /// No method name follows `::`.
    #[error("a method name is missing after `::`: write a name, or `*` for any")]
    NoMethod,
    /// `<` or `>` does not belong to `<init>` or `<clinit>`.
    #[error(
        "`<` and `>` stand only in `<init>` (constructors) and `<clinit>` (static initialisers)"
    )]
    AngleBracket,
    /// Arguments follow a class name.
    #[error("arguments need a method: write `Class::method(…)`")]
    NoMethodBeforeArguments,
    /// The argument list has no `)`.
    #[error("the argument list is not closed: write `)`")]
    Unclosed,
    /// An argument type is empty.
    #[error(
        "a type is missing here: write a type such as `int`, `*` for any one type, or `..` for any number"
    )]
    NoType,
    /// A `[` has no `]`.
    #[error("`[` must be followed by `]`")]
    Bracket,
    /// An argument has the type `void`.
    #[error("void is no argument type: write `()` for no arguments")]
    Void,
    /// Another character follows an argument type.
    #[error("expected `,` or `)` here")]
    NoComma,
    /// Text follows the argument list and is no result.
    #[error("nothing may follow the argument list but the type of the result: write `-> int`")]
    Trailing,
    /// A result follows a class name.
    #[error("a result needs a method: write `Class::method(..) -> int`")]
    NoMethodBeforeResult,
    /// No type follows `->`.
    #[error("a type is missing after `->`: write a type such as `int` or `void`, or `*` for any")]
    NoResult,
    /// Text follows the type of the result.
    #[error("nothing may follow the type of the result")]
    TrailingResult,
    /// The result is an array of `void`.
    #[error("void has no arrays: write `void`")]
    VoidArray,
    /// `+` follows a type that is not the class of the methods.
    #[error("`+` stands behind the class of the methods only, as in `a.B+::m(..)`")]
    SubtypesOfType,
    /// No annotation name follows `@`.
    #[error("an annotation is missing here: write `@a.B`, or `@*..B` in any package")]
    NoAnnotation,
    /// The pattern ends after the annotations or flags.
    #[error("a class must follow: write `@a.B *..*` for methods of all classes")]
    NoClassAfterMark,
    /// Text that is no class follows `except`.
    #[error("only classes stand after `except`: write `except a.b..*, c.D`")]
    AfterExcept,
    /// The word before the class is no flag.
    #[error(
        "`{0}` is no flag: write public, private, protected, static, final, synchronized, bridge, varargs, strictfp or synthetic"
    )]
    Flag(String),
}

impl MethodPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The error names the fault and its column in the text.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        parse(text)
    }

    /// Adds a class pattern after `except`: the methods of its classes are not selected.
    ///
    /// # Errors
    /// The text is no class pattern. The error names the fault and its column in the text.
    pub fn add_exception(&mut self, class: &str) -> Result<(), PatternError> {
        let mut cursor = Cursor::new(class);
        let parsed = cursor.exceptions();
        self.except
            .extend(parsed.map_err(|fault| fault.in_text(class))?);
        Ok(())
    }
}

impl FromStr for MethodPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for MethodPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        Self::parse(&text)
    }
}

fn parse(text: &str) -> Result<MethodPattern, PatternError> {
    Cursor::new(text)
        .pattern()
        .map_err(|fault| fault.in_text(text))
}

/// A fault with its position, in characters from 0.
struct Fault(usize, PatternFault);

impl Fault {
    fn in_text(self, text: &str) -> PatternError {
        let Fault(at, fault) = self;
        PatternError {
            text: text.to_owned(),
            column: at + 1,
            fault,
        }
    }
}

/// The word before the classes whose methods are not selected.
const EXCEPT: &str = "except";

struct Cursor {
    characters: Vec<char>,
    at: usize,
}

impl Cursor {
    fn new(text: &str) -> Self {
        Cursor {
            characters: text.chars().collect(),
            at: 0,
        }
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        let rest = self.characters.iter().skip(self.at).copied();
        rest.take(text.chars().count()).eq(text.chars())
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, fault: PatternFault) -> Result<T, Fault> {
        Err(Fault(self.at, fault))
    }

    fn pattern(&mut self) -> Result<MethodPattern, Fault> {
        self.spaces();
        if self.peek().is_none() {
            return self.fault(PatternFault::Empty);
        }
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.modifier()? {
            modifiers.push(modifier);
        }
        if !modifiers.is_empty() && matches!(self.peek(), None | Some(':')) {
            return self.fault(PatternFault::NoClassAfterMark);
        }
        let mut class = self.class(PatternFault::NoSegment)?;
        let subtypes = self.take_plus(&mut class)?;
        let space = self.at;
        self.spaces();
        let method = match self.peek() {
            None => None,
            Some(_) if self.at > space && self.is_at_except() => None,
            Some(':') if self.eat("::") => Some(self.method()?),
            Some(':') => return self.fault(PatternFault::SingleColon),
            Some('(') => return self.fault(PatternFault::NoMethodBeforeArguments),
            Some('-') if self.looking_at("->") => {
                return self.fault(PatternFault::NoMethodBeforeResult);
            }
            Some(_) if self.at > space => return Err(Fault(space, PatternFault::Space)),
            Some(other) => return self.fault(PatternFault::Character(other)),
        };
        let except = match self.is_at_except() && self.eat(EXCEPT) {
            true => self.exceptions()?,
            false => Vec::new(),
        };
        Ok(MethodPattern {
            modifiers,
            class,
            subtypes,
            method,
            except,
        })
    }

    /// Whether the word `except` begins here.
    fn is_at_except(&self) -> bool {
        let after = self.characters.get(self.at + EXCEPT.len());
        self.looking_at(EXCEPT) && after.is_some_and(|c| c.is_whitespace())
    }

    /// Parses the classes after `except`, up to the end of the text.
    fn exceptions(&mut self) -> Result<Vec<ClassPattern>, Fault> {
        let mut classes = Vec::new();
        loop {
            self.spaces();
            classes.push(self.type_name(PatternFault::NoSegment)?);
            self.spaces();
            match self.peek() {
                None => return Ok(classes),
                Some(_) if self.eat(",") => {}
                Some(_) => return self.fault(PatternFault::AfterExcept),
            }
        }
    }

    /// Parses the next flag or annotation and the spaces after it. Returns `None` if the class
    /// begins here.
    fn modifier(&mut self) -> Result<Option<Modifier>, Fault> {
        let begin = self.at;
        let negated = self.eat("!");
        self.spaces();
        let kind = if self.eat("@") {
            let of_class = self.eat("@");
            let annotation = self.type_name(PatternFault::NoAnnotation)?;
            match of_class {
                true => ModifierKind::Class(annotation),
                false => ModifierKind::Method(annotation),
            }
        } else {
            let at = self.at;
            let word = self.word();
            let known = FLAGS.iter().position(|flag| flag.0 == word);
            let ends = self.peek().is_some_and(char::is_whitespace);
            match known {
                Some(flag) if ends || negated => ModifierKind::Flag(flag),
                _ if negated => return Err(Fault(at, PatternFault::Flag(word))),
                // The word is the class itself.
                _ => {
                    self.at = begin;
                    return Ok(None);
                }
            }
        };
        match self.peek() {
            None => {}
            Some(c) if c.is_whitespace() => self.spaces(),
            Some('/') => return self.fault(PatternFault::Slash),
            Some(':') => return self.fault(PatternFault::NoClassAfterMark),
            Some(other) => return self.fault(PatternFault::Character(other)),
        }
        Ok(Some(Modifier { negated, kind }))
    }

    /// Removes the `+` at the end of a name, and returns whether there was one.
    fn take_plus(&self, class: &mut ClassPattern) -> Result<bool, Fault> {
        let Some(PackageElement::Segment(last)) = class.elements.last_mut() else {
            return Ok(false);
        };
        let Some(name) = last.text().strip_suffix('+') else {
            return Ok(false);
        };
        if name.is_empty() {
            return Err(Fault(self.at.saturating_sub(1), PatternFault::NoSegment));
        }
        *last = Glob::new(name);
        Ok(true)
    }

    /// Parses the name of a type, which must not have `+`. `missing` is as for [`Cursor::class`].
    fn type_name(&mut self, missing: PatternFault) -> Result<ClassPattern, Fault> {
        let mut name = self.class(missing)?;
        match self.take_plus(&mut name)? {
            true => Err(Fault(self.at - 1, PatternFault::SubtypesOfType)),
            false => Ok(name),
        }
    }

    /// Parses a dotted name. `missing` is the fault to report if a segment is empty.
    fn class(&mut self, missing: PatternFault) -> Result<ClassPattern, Fault> {
        let mut steps = Vec::new();
        if self.looking_at("..") {
            return self.fault(PatternFault::LeadingGap);
        }
        loop {
            let word = self.word();
            match self.peek() {
                Some('/') => return self.fault(PatternFault::Slash),
                _ if word.is_empty() => return self.fault(missing),
                _ => {}
            }
            if steps.is_empty() && word == "*" && self.looking_at("..") {
                // `*..X` is X in any package or none. The code below adds the gap.
            } else {
                steps.push(PackageElement::Segment(Glob::new(&word)));
            }
            let dots = self.at;
            if self.eat("..") {
                if self.peek() == Some('.') {
                    return Err(Fault(dots, PatternFault::ManyDots));
                }
                if self.peek().is_none_or(|c| matches!(c, ':' | ',' | ')')) {
                    return Err(Fault(dots, PatternFault::TrailingGap));
                }
                steps.push(PackageElement::Gap);
            } else if !self.eat(".") {
                return Ok(ClassPattern { elements: steps });
            }
        }
    }

    /// Reads characters up to one that is special in patterns or is not allowed in a JVM name (JVMS
    /// 4.2.2).
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            if c.is_whitespace() || ".:/;[]()<>,".contains(c) || self.looking_at("->") {
                break;
            }
            word.push(c);
            self.at += 1;
        }
        word
    }

    fn method(&mut self) -> Result<NamePattern, Fault> {
        let name = self.method_name()?;
        self.spaces();
        let arguments = match self.peek() {
            None => None,
            Some(_) if self.is_at_except() => None,
            Some('(') => Some(self.arguments()?),
            Some('-') if self.looking_at("->") => None,
            Some('/') => return self.fault(PatternFault::Slash),
            Some('<' | '>') => return self.fault(PatternFault::AngleBracket),
            Some(other) => return self.fault(PatternFault::Character(other)),
        };
        let result = match self.peek() {
            Some(_) if !self.is_at_except() => Some(self.result()?),
            _ => None,
        };
        Ok(NamePattern {
            name,
            arguments,
            result,
        })
    }

    /// Parses `-> type`, up to `except` or the end of the text.
    fn result(&mut self) -> Result<TypePattern, Fault> {
        if !self.eat("->") {
            return self.fault(PatternFault::Trailing);
        }
        self.spaces();
        let begin = self.at;
        let found = self.array_type(PatternFault::NoResult)?;
        if found.dimensions > 0 && found.element.to_string() == "void" {
            return Err(Fault(begin, PatternFault::VoidArray));
        }
        self.spaces();
        match self.peek() {
            None => Ok(found),
            Some(_) if self.is_at_except() => Ok(found),
            Some('/') => self.fault(PatternFault::Slash),
            Some(_) => self.fault(PatternFault::TrailingResult),
        }
    }

    fn method_name(&mut self) -> Result<Glob, Fault> {
        for special in ["<init>", "<clinit>"] {
            if self.eat(special) {
                return Ok(Glob::new(special));
            }
        }
        let name = self.word();
        match self.peek() {
            Some('<' | '>') => self.fault(PatternFault::AngleBracket),
            None | Some('(' | '-') if name.is_empty() => self.fault(PatternFault::NoMethod),
            Some(other) if name.is_empty() => self.fault(PatternFault::Character(other)),
            _ => Ok(Glob::new(&name)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Fault> {
        let open = self.at;
        let mut arguments = Vec::new();
        self.eat("(");
        self.spaces();
        if !self.eat(")") {
            loop {
                self.spaces();
                if self.peek().is_none() {
                    return Err(Fault(open, PatternFault::Unclosed));
                }
                arguments.push(self.argument()?);
                self.spaces();
                if self.eat(")") {
                    break;
                }
                if !self.eat(",") {
                    return match self.peek() {
                        None => Err(Fault(open, PatternFault::Unclosed)),
                        Some('/') => self.fault(PatternFault::Slash),
                        Some(_) => self.fault(PatternFault::NoComma),
                    };
                }
            }
        }
        self.spaces();
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Argument, Fault> {
        let begin = self.at;
        if self.eat("..") {
            return match self.peek() {
                Some('.') => Err(Fault(begin, PatternFault::ManyDots)),
                _ => Ok(Argument::Any),
            };
        }
        let found = self.array_type(PatternFault::NoType)?;
        if found.element.to_string() == "void" {
            return Err(Fault(begin, PatternFault::Void));
        }
        Ok(Argument::Type(found))
    }

    /// Parses a type. `missing` is as for [`Cursor::class`].
    fn array_type(&mut self, missing: PatternFault) -> Result<TypePattern, Fault> {
        let element = self.type_name(missing)?;
        let mut dimensions = 0;
        while self.peek() == Some('[') {
            if !self.eat("[]") {
                return self.fault(PatternFault::Bracket);
            }
            dimensions += 1;
        }
        Ok(TypePattern {
            element,
            dimensions,
        })
    }
}
