//! The linker: combines a plan and its modules into one program.
//!
//! ```text
//!   lib/desks.rhai   fn watch(m) { show(m) }      ──▶  fn veneer_m1_watch(m) { veneer_m1_show(m) }
//!   hot.rhai         import "lib/desks" as desks; ──▶  import "veneer_m1" as veneer_m1;
//!                    desks::watch(x)              ──▶  veneer_m1::watch(x)
//! ```
//!
//! All functions are in one list. The engine's module `veneer_m1` has the same function under its
//! original name, `watch`.
//!
//! The engine has modules of its own, but they have three defects:
//!
//! * A function in a module is found by its bare name in any program that ran before.
//! * A closure is lost when the module's function has returned.
//! * Imports are unknown in callbacks.
//!
//! The linker therefore makes all names unique while the texts are parsed. The linker replaces
//! single tokens, which changes no position. All files share one sequence of line numbers (see
//! [`crate::source_map`]), so the names of two closures differ and the position of an error
//! identifies the file.
//!
//! Each module runs once, before the plan, in the order of the imports.
//!
//! **Invariant:** a name generated here occurs in none of the texts.

mod evaluated;
mod exports;
mod program;
mod renaming;

pub(crate) use evaluated::{EvaluatedModules, ModuleRegistry};
pub(crate) use program::{ExistingState, InputText, LinkedModules, LinkedProgram};

use crate::error::{PlanError, PlanStage};
use crate::limits;
use crate::modules::resolve;
use crate::parser_engine;
use crate::source_map::SourceMap;
use exports::{callable_functions, constants, exports, is_closure};
use parking_lot::Mutex;
use program::ParsedModule;
use renaming::Renaming;
use rhai::{AST, ASTNode, Expr, Module, Position, Scope, Shared, Stmt, Token};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use veneer_instruments::table::format_count;

type Tokens = Vec<(Token, Position)>;

/// Parses a text and the modules that it imports.
pub(crate) fn link(text: &InputText, before: &ExistingState) -> Result<LinkedProgram, PlanError> {
    let first = before
        .source_map
        .with_text(text.name, text.source, text.shown);
    let bytes: usize = text.modules.values().map(String::len).sum();
    if text.modules.len() > limits::MAX_MODULES || bytes > limits::MAX_MODULE_BYTES {
        let message = format!(
            "{} modules of {} bytes in all came with this plan: {} of {} bytes are the limit",
            text.modules.len(),
            format_count(bytes as u64),
            limits::MAX_MODULES,
            format_count(limits::MAX_MODULE_BYTES as u64)
        );
        return Err(PlanError::new(
            PlanStage::Limit,
            &first,
            Position::NONE,
            message,
        ));
    }
    let alone = |tree: &AST| LinkedProgram {
        tree: before.functions.merge(tree),
        source_map: first.clone(),
        linked: before.linked.clone(),
    };
    if before.linked.aliases.is_empty() && !text.source.contains("import") {
        let tree = parser_engine::new().compile_with_scope(before.variables, first.padded_text());
        let tree = tree.map_err(|error| PlanError::compile(&first, &error))?;
        return Ok(alone(&tree));
    }
    let aliases = before.linked.aliases.keys();
    let (tree, tokens) =
        parse_with_tokens(&first, &first.padded_text(), before.variables, aliases)?;
    let imports = find_imports(&tree, &tokens, &first)?;
    if before.linked.aliases.is_empty() && imports.is_empty() {
        return Ok(alone(&tree));
    }
    let directory = text.name.rfind('/').map_or("", |end| &text.name[..=end]);
    let mut linker = Linker {
        given: text.modules,
        directory,
        name_prefix: name_prefix(text),
        source_map: before.source_map.clone(),
        functions: before.functions.clone(),
        linked: before.linked.clone(),
        open: Vec::new(),
    };
    let mut aliases = before.linked.aliases.clone();
    let paths = linker.link_imports("", &imports, &first, &mut aliases)?;
    let source_map = linker
        .source_map
        .with_text(text.name, text.source, text.shown);
    linker.check_line_count(&source_map)?;
    // The modules precede the text in the sequence of lines, so its tokens have moved down.
    let moved = source_map.next_line() - first.next_line();
    let renaming = Renaming {
        own: None,
        aliases: &aliases,
        paths: paths
            .into_iter()
            .map(|(at, id)| (shift_lines(at, moved), id))
            .collect(),
    };
    let tokens: Tokens = tokens
        .into_iter()
        .map(|(token, at)| (token, shift_lines(at, moved)))
        .collect();
    let replacements = renaming.replacements(&tokens, &source_map)?;
    let parsed = parse_with_replacements(
        &source_map,
        &source_map.padded_text(),
        before.variables,
        replacements,
        linker.linked.ids(),
    )?;
    let tree = linker.functions.merge(&parsed);
    if tree.iter_functions().count() > limits::MAX_FUNCTIONS {
        let message = format!(
            "this plan and its modules define more than {} functions, the limit of a plan",
            format_count(limits::MAX_FUNCTIONS as u64)
        );
        return Err(PlanError::new(
            PlanStage::Limit,
            &source_map,
            Position::NONE,
            message,
        ));
    }
    Ok(LinkedProgram {
        source_map,
        tree,
        linked: LinkedModules {
            modules: linker.linked.modules,
            aliases,
        },
    })
}

/// Returns a prefix that occurs in none of the texts.
fn name_prefix(text: &InputText) -> String {
    let mut name_prefix = "veneer_m".to_owned();
    let texts = || text.modules.values().map(String::as_str);
    while texts()
        .chain([text.source])
        .any(|t| t.contains(&name_prefix))
    {
        name_prefix.push('_');
    }
    name_prefix
}

fn shift_lines(at: Position, lines: usize) -> Position {
    let small = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    match (at.line(), at.position()) {
        (Some(line), column) => Position::new(small(line + lines), small(column.unwrap_or(0))),
        (None, _) => Position::NONE,
    }
}

/// Parses a text without changes. Returns the tree and the tokens.
fn parse_with_tokens<'a>(
    within: &SourceMap,
    text: &str,
    variables: &Scope<'static>,
    aliases: impl Iterator<Item = &'a String>,
) -> Result<(AST, Tokens), PlanError> {
    let seen = Arc::new(Mutex::new(Tokens::new()));
    let mut engine = parser_engine::new();
    for alias in aliases {
        engine.register_static_module(alias, Shared::new(Module::new()));
    }
    let sink = seen.clone();
    // The engine marks this function "deprecated" because it may change. The engine's version is
    // fixed.
    #[allow(deprecated)]
    engine.on_parse_token(move |token, at, _| {
        sink.lock().push((token.clone(), at));
        token
    });
    let tree = engine
        .compile_with_scope(variables, text)
        .map_err(|error| PlanError::compile(within, &error))?;
    let tokens = std::mem::take(&mut *seen.lock());
    Ok((tree, tokens))
}

/// Parses a text with some of its tokens replaced. `words` has the new words by position.
fn parse_with_replacements(
    within: &SourceMap,
    text: &str,
    variables: &Scope<'static>,
    words: HashMap<Position, String>,
    modules: impl Iterator<Item = String>,
) -> Result<AST, PlanError> {
    let mut engine = parser_engine::new();
    for id in modules {
        for name in [&id, &format!("{id}_global")] {
            engine.register_static_module(name, Shared::new(Module::new()));
        }
    }
    #[allow(deprecated)]
    engine.on_parse_token(move |token, at, _| match (words.get(&at), &token) {
        (Some(word), Token::Identifier(_)) => Token::Identifier(Box::new(word.as_str().into())),
        (Some(word), Token::StringConstant(_)) => {
            Token::StringConstant(Box::new(word.as_str().into()))
        }
        _ => token,
    });
    let tree = engine.compile_with_scope(variables, text);
    tree.map_err(|error| PlanError::compile(within, &error))
}

/// An `import` statement.
struct ImportStatement {
    path: String,
    /// The position of the path.
    at: Position,
    /// Empty if the import has no alias.
    alias: String,
}

/// Returns the imports of a text. Imports must be at the top level and have constant strings.
fn find_imports(
    tree: &AST,
    tokens: &[(Token, Position)],
    within: &SourceMap,
) -> Result<Vec<ImportStatement>, PlanError> {
    let no = |at, message: &str| {
        Err(PlanError::new(
            PlanStage::Compile,
            within,
            at,
            message.to_owned(),
        ))
    };
    let mut out: Vec<ImportStatement> = Vec::new();
    let mut top = BTreeSet::new();
    for one in tree.statements() {
        let Stmt::Import(import, at) = one else {
            continue;
        };
        top.insert(*at);
        let (path, alias) = &**import;
        let plain = |text: &str, at: Position| {
            let is = |t: &Token| matches!(t, Token::StringConstant(word) if word.as_str() == text);
            tokens
                .iter()
                .any(|(token, place)| *place == at && is(token))
        };
        let Expr::StringConstant(text, place) = path else {
            return no(
                path.position(),
                "import takes a plain string: import \"lib/desks\" as desks;",
            );
        };
        if !plain(text, *place) {
            return no(
                *place,
                "import takes a plain string: import \"lib/desks\" as desks;",
            );
        }
        if alias.as_str() == "global" {
            return no(
                alias.pos,
                "`global` is the plan's own constants: choose another name",
            );
        }
        out.push(ImportStatement {
            path: text.to_string(),
            at: *place,
            alias: alias.as_str().to_owned(),
        });
    }
    let mut elsewhere = None;
    tree.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(_, at))) = path.last()
            && !top.contains(at)
        {
            elsewhere = elsewhere.or(Some(*at));
        }
        true
    });
    match elsewhere {
        Some(at) => no(
            at,
            "import stands at the top level of a file, and in no function or block",
        ),
        None => Ok(out),
    }
}

struct Linker<'a> {
    given: &'a BTreeMap<String, String>,
    /// The directory of the plan's file with a trailing slash; empty if the file has no directory.
    directory: &'a str,
    name_prefix: String,
    source_map: SourceMap,
    functions: AST,
    linked: LinkedModules,
    /// The modules that are being parsed, to detect circular imports.
    open: Vec<String>,
}

impl Linker<'_> {
    /// Links the imports of a text. Adds the aliases to `aliases`. Returns the new import paths by
    /// position.
    fn link_imports(
        &mut self,
        from: &str,
        imports: &[ImportStatement],
        within: &SourceMap,
        aliases: &mut BTreeMap<String, String>,
    ) -> Result<HashMap<Position, String>, PlanError> {
        let mut paths = HashMap::new();
        let mut here = BTreeMap::new();
        for import in imports {
            let no = |message| PlanError::new(PlanStage::Compile, within, import.at, message);
            let key = resolve(from, &import.path).map_err(|error| no(error.to_string()))?;
            let id = self.module(&key, within, import.at)?;
            if !import.alias.is_empty() {
                if here
                    .insert(&import.alias, id.clone())
                    .is_some_and(|other| other != id)
                {
                    return Err(no(format!(
                        "two modules are called `{}` here: choose another name behind `as`",
                        import.alias
                    )));
                }
                aliases.insert(import.alias.clone(), id.clone());
            }
            paths.insert(import.at, id);
        }
        Ok(paths)
    }

    /// Parses a module unless it was parsed before. Returns the engine's name of the module.
    fn module(&mut self, key: &str, within: &SourceMap, at: Position) -> Result<String, PlanError> {
        let no = |stage, message| Err(PlanError::new(stage, within, at, message));
        if self.open.iter().any(|open| open == key) {
            let circle = self.open.join(" imports ");
            return no(
                PlanStage::Compile,
                format!("modules import each other in a circle: {circle} imports {key}"),
            );
        }
        let Some(text) = self.given.get(key) else {
            return no(
                PlanStage::Compile,
                format!(
                    "no module `{key}` came with this plan: a plan's modules are sent by the `veneer` command"
                ),
            );
        };
        let same = |module: &&Arc<ParsedModule>| module.key == key && module.text == *text;
        if let Some(known) = self.linked.modules.iter().find(same) {
            return Ok(known.id.clone());
        }
        let number = self.linked.modules.len() + self.open.len() + 1;
        let id = format!("{}{number}", self.name_prefix);
        let file = format!("{}{key}.rhai", self.directory);
        let own = self.source_map.with_module(&file, text, &id);
        self.check_line_count(&own)?;
        let moved = own.padded_text();
        self.source_map = own.clone();
        self.open.push(key.to_owned());

        let none = Scope::new();
        let (tree, tokens) = parse_with_tokens(&own, &moved, &none, std::iter::empty())?;
        let imports = find_imports(&tree, &tokens, &own)?;
        let mut aliases = BTreeMap::new();
        let paths = self.link_imports(key, &imports, &own, &mut aliases)?;
        let functions = tree.iter_functions().filter(|f| f.this_type.is_none());
        let functions = functions
            .map(|f| f.name.to_owned())
            .filter(|name| !is_closure(name));
        let renaming = Renaming {
            own: Some((&id, functions.collect())),
            aliases: &aliases,
            paths,
        };
        let words = renaming.replacements(&tokens, &own)?;
        let ids = self.linked.ids().chain([id.clone()]);
        let parsed = parse_with_replacements(&own, &moved, &none, words, ids)?;
        self.open.pop();

        let all = self.functions.merge(&parsed);
        self.functions = all.clone_functions_only();
        let module = ParsedModule {
            key: key.to_owned(),
            text: text.clone(),
            functions: callable_functions(&parsed, &id),
            constants: constants(&parsed),
            exports: exports(&parsed, &id),
            tree: all,
            id: id.clone(),
        };
        self.linked.modules.push(Arc::new(module));
        Ok(id)
    }

    /// Checks the number of lines, because the engine counts lines only up to a limit.
    fn check_line_count(&self, source_map: &SourceMap) -> Result<(), PlanError> {
        if source_map.next_line() <= limits::MAX_LINES {
            return Ok(());
        }
        let message = format!(
            "a plan and its modules have {} lines together at most",
            format_count(limits::MAX_LINES as u64)
        );
        Err(PlanError::new(
            PlanStage::Limit,
            source_map,
            Position::NONE,
            message,
        ))
    }
}
