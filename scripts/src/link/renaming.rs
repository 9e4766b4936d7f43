//! Decides which tokens of a text are replaced, and by which words.

use crate::error::{PlanError, PlanStage};
use crate::source_map::SourceMap;
use rhai::{Position, Token};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The renaming rules for one text.
pub(super) struct Renaming<'a> {
    /// For a module: its name in the engine, and the names of its functions.
    pub(super) own: Option<(&'a str, BTreeSet<String>)>,
    /// The aliases of modules in the text.
    pub(super) aliases: &'a BTreeMap<String, String>,
    /// The new import paths, by position.
    pub(super) paths: HashMap<Position, String>,
}

impl Renaming<'_> {
    /// Returns the new words, by position.
    pub(super) fn replacements(
        &self,
        tokens: &[(Token, Position)],
        within: &SourceMap,
    ) -> Result<HashMap<Position, String>, PlanError> {
        let mut out = self.paths.clone();
        let mut importing = false;
        for (n, (token, at)) in tokens.iter().enumerate() {
            // The engine counts columns only up to 65,535.
            if at
                .position()
                .is_some_and(|column| column >= usize::from(u16::MAX))
            {
                let message = "this line is too long for a plan with modules".to_owned();
                return Err(PlanError::new(PlanStage::Limit, within, *at, message));
            }
            let before = n.checked_sub(1).and_then(|n| tokens.get(n)).map(|t| &t.0);
            let after = tokens.get(n + 1).map(|t| &t.0);
            match token {
                Token::Import => importing = true,
                Token::SemiColon => importing = false,
                Token::Identifier(word) => {
                    let alias = importing && matches!(before, Some(Token::As));
                    if let Some(new) = self.replacement(word, before, after, alias) {
                        out.insert(*at, new);
                    }
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// Returns the new word, or `None` if the word is unchanged.
    fn replacement(
        &self,
        word: &str,
        before: Option<&Token>,
        after: Option<&Token>,
        alias: bool,
    ) -> Option<String> {
        // A member of an object, or a name in another module.
        if let Some(Token::Period | Token::Elvis | Token::DoubleColon) = before {
            return None;
        }
        if alias || matches!(after, Some(Token::DoubleColon)) {
            return match &self.own {
                Some((id, _)) if word == "global" => Some(format!("{id}_global")),
                _ => self.aliases.get(word).cloned(),
            };
        }
        // The name of a property in a map, or the type before a method.
        let typed = matches!((before, after), (Some(Token::Fn), Some(Token::Period)));
        if typed || matches!(after, Some(Token::Colon)) {
            return None;
        }
        let (id, functions) = self.own.as_ref()?;
        functions.contains(word).then(|| format!("{id}_{word}"))
    }
}
