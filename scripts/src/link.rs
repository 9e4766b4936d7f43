//! A plan and its modules made one program.
//!
//! ```text
//!   lib/desks.rhai   fn watch(m) { show(m) }      ──▶  fn veneer_m1_watch(m) { veneer_m1_show(m) }     in one list of functions
//!   hot.rhai         import "lib/desks" as desks; ──▶  import "veneer_m1" as veneer_m1;
//!                    desks::watch(x)              ──▶  veneer_m1::watch(x)                             the same function, by its plain name
//! ```
//!
//! The engine has modules of its own, but there a function is looked for by its name alone in whatever ran before, a closure is lost
//! when the module's function has returned, and imports are unknown in callbacks. So the names are made unique while the texts are read, by
//! exchanging single words, which leaves every place where it was. All files share one sequence of lines (see [`crate::transcript`]),
//! so two closures are never one, and an error's place says which file it is in.
//!
//! Each module runs once, before the plan does, in the order of the imports.
//!
//! **Invariant:** a name made here is in none of the texts.

use crate::context::lock;
use crate::engine;
use crate::error::{PlanError, Stage};
use crate::limits;
use crate::modules::resolve;
use crate::transcript::Transcript;
use rhai::{
    AST, ASTFlags, ASTNode, Engine, EvalAltResult, Expr, FnAccess, Module, ModuleResolver,
    Position, Scope, Shared, Stmt, Token,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use veneer_instruments::table::count;

/// A module that has been read.
#[derive(Debug)]
pub(crate) struct Read {
    /// Its path from the plan's directory.
    key: String,
    text: String,
    /// What the engine calls it.
    id: String,
    /// What is to run, with all functions that it may call.
    tree: AST,
    /// What others may call.
    functions: Module,
    /// `global::NAME` in it.
    constants: Module,
    /// Variables that others may read, and under which names.
    exports: Vec<(String, String)>,
}

/// Modules that have run, by what the engine calls them.
pub(crate) type Ready = BTreeMap<String, Shared<Module>>;

/// The modules of a plan, or of a prompt so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linked {
    /// In the order in which they run.
    modules: Vec<Arc<Read>>,
    /// What the plan's own text calls them.
    aliases: BTreeMap<String, String>,
}

impl Linked {
    /// What the engine calls the modules.
    fn ids(&self) -> impl Iterator<Item = String> {
        self.modules.iter().map(|module| module.id.clone())
    }
}

/// What is there already when a text is read.
pub(crate) struct Before<'a> {
    pub(crate) transcript: &'a Transcript,
    pub(crate) functions: &'a AST,
    pub(crate) variables: &'a Scope<'static>,
    pub(crate) linked: &'a Linked,
}

/// A text with what it may import.
pub(crate) struct Text<'a> {
    /// Its file's name; modules lie in the same directory.
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    /// The number of its first line for people.
    pub(crate) shown: Option<usize>,
    /// Texts of modules by their paths.
    pub(crate) modules: &'a BTreeMap<String, String>,
}

/// A text as a program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) transcript: Transcript,
    pub(crate) tree: AST,
    pub(crate) linked: Linked,
}

type Tokens = Vec<(Token, Position)>;

/// Reads a text and the modules that it imports.
pub(crate) fn read(text: &Text, before: &Before) -> Result<Program, PlanError> {
    let first = before.transcript.with(text.name, text.source, text.shown);
    let bytes: usize = text.modules.values().map(String::len).sum();
    if text.modules.len() > limits::MODULES || bytes > limits::MODULE_BYTES {
        let message = format!(
            "{} modules of {} bytes in all came with this plan: {} of {} bytes are the limit",
            text.modules.len(),
            count(bytes as u64),
            limits::MODULES,
            count(limits::MODULE_BYTES as u64)
        );
        return Err(refuse(Stage::Limit, &first, Position::NONE, message));
    }
    let alone = |tree: &AST| Program {
        tree: before.functions.merge(tree),
        transcript: first.clone(),
        linked: before.linked.clone(),
    };
    if before.linked.aliases.is_empty() && !text.source.contains("import") {
        let tree = engine::for_reading().compile_with_scope(before.variables, first.in_place());
        let tree = tree.map_err(|error| PlanError::compile(&first, &error))?;
        return Ok(alone(&tree));
    }
    let aliases = before.linked.aliases.keys();
    let (tree, tokens) = look(&first, &first.in_place(), before.variables, aliases)?;
    let imports = found(&tree, &tokens, &first)?;
    if before.linked.aliases.is_empty() && imports.is_empty() {
        return Ok(alone(&tree));
    }
    let directory = text.name.rfind('/').map_or("", |end| &text.name[..=end]);
    let mut linker = Linker {
        given: text.modules,
        directory,
        tag: tag(text),
        transcript: before.transcript.clone(),
        functions: before.functions.clone(),
        linked: before.linked.clone(),
        open: Vec::new(),
    };
    let mut aliases = before.linked.aliases.clone();
    let paths = linker.follow("", &imports, &first, &mut aliases)?;
    let transcript = linker.transcript.with(text.name, text.source, text.shown);
    linker.fits(&transcript)?;
    // The text stands further down than when it was looked at, so it is looked at again where it stands.
    let moved = transcript.next_line() - first.next_line();
    let names = Names {
        own: None,
        aliases: &aliases,
        paths: paths
            .into_iter()
            .map(|(at, id)| (down(at, moved), id))
            .collect(),
    };
    let tokens: Tokens = tokens
        .into_iter()
        .map(|(token, at)| (token, down(at, moved)))
        .collect();
    let exchanged = names.of(&tokens, &transcript)?;
    let parsed = exchange(
        &transcript,
        &transcript.in_place(),
        before.variables,
        exchanged,
        linker.linked.ids(),
    )?;
    let tree = linker.functions.merge(&parsed);
    if tree.iter_functions().count() > limits::FUNCTIONS {
        let message = format!(
            "this plan and its modules define more than {} functions, the limit of a plan",
            count(limits::FUNCTIONS as u64)
        );
        return Err(refuse(Stage::Limit, &transcript, Position::NONE, message));
    }
    Ok(Program {
        transcript,
        tree,
        linked: Linked {
            modules: linker.linked.modules,
            aliases,
        },
    })
}

fn refuse(stage: Stage, within: &Transcript, at: Position, message: String) -> PlanError {
    PlanError::new(stage, within, at, message)
}

/// A beginning of names that no text has.
fn tag(text: &Text) -> String {
    let mut tag = "veneer_m".to_owned();
    let texts = || text.modules.values().map(String::as_str);
    while texts().chain([text.source]).any(|t| t.contains(&tag)) {
        tag.push('_');
    }
    tag
}

fn down(at: Position, lines: usize) -> Position {
    let small = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    match (at.line(), at.position()) {
        (Some(line), column) => Position::new(small(line + lines), small(column.unwrap_or(0))),
        (None, _) => Position::NONE,
    }
}

/// Reads a text as it is, and gives its words too.
fn look<'a>(
    within: &Transcript,
    text: &str,
    variables: &Scope<'static>,
    aliases: impl Iterator<Item = &'a String>,
) -> Result<(AST, Tokens), PlanError> {
    let seen = Arc::new(Mutex::new(Tokens::new()));
    let mut engine = engine::for_reading();
    for alias in aliases {
        engine.register_static_module(alias, Shared::new(Module::new()));
    }
    let sink = seen.clone();
    // What is meant by "deprecated" there is that it may change; the engine's version is fixed.
    #[allow(deprecated)]
    engine.on_parse_token(move |token, at, _| {
        lock(&sink).push((token.clone(), at));
        token
    });
    let tree = engine
        .compile_with_scope(variables, text)
        .map_err(|error| PlanError::compile(within, &error))?;
    let tokens = std::mem::take(&mut *lock(&seen));
    Ok((tree, tokens))
}

/// Reads a text with some of its words exchanged, by their places.
fn exchange(
    within: &Transcript,
    text: &str,
    variables: &Scope<'static>,
    words: HashMap<Position, String>,
    modules: impl Iterator<Item = String>,
) -> Result<AST, PlanError> {
    let mut engine = engine::for_reading();
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

/// An import in a text.
struct Found {
    path: String,
    /// Of the path.
    at: Position,
    /// Nothing where it has none.
    alias: String,
}

/// The imports of a text: at its top level, with plain strings.
fn found(
    tree: &AST,
    tokens: &[(Token, Position)],
    within: &Transcript,
) -> Result<Vec<Found>, PlanError> {
    let no = |at, message: &str| Err(refuse(Stage::Compile, within, at, message.to_owned()));
    let mut out: Vec<Found> = Vec::new();
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
        out.push(Found {
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

/// What becomes of the words of a text.
struct Names<'a> {
    /// Of a module: what the engine calls it, and its functions.
    own: Option<(&'a str, BTreeSet<String>)>,
    /// What the text calls modules.
    aliases: &'a BTreeMap<String, String>,
    /// Paths of imports, by their places.
    paths: HashMap<Position, String>,
}

impl Names<'_> {
    /// The words to exchange.
    fn of(
        &self,
        tokens: &[(Token, Position)],
        within: &Transcript,
    ) -> Result<HashMap<Position, String>, PlanError> {
        let mut out = self.paths.clone();
        let mut importing = false;
        for (n, (token, at)) in tokens.iter().enumerate() {
            // The engine counts no further.
            if at
                .position()
                .is_some_and(|column| column >= usize::from(u16::MAX))
            {
                let message = "this line is too long for a plan with modules".to_owned();
                return Err(refuse(Stage::Limit, within, *at, message));
            }
            let before = n.checked_sub(1).and_then(|n| tokens.get(n)).map(|t| &t.0);
            let behind = tokens.get(n + 1).map(|t| &t.0);
            match token {
                Token::Import => importing = true,
                Token::SemiColon => importing = false,
                Token::Identifier(word) => {
                    let alias = importing && matches!(before, Some(Token::As));
                    if let Some(new) = self.word(word, before, behind, alias) {
                        out.insert(*at, new);
                    }
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// A new word, where it gets one.
    fn word(
        &self,
        word: &str,
        before: Option<&Token>,
        behind: Option<&Token>,
        alias: bool,
    ) -> Option<String> {
        // A member, or the name of something in another module.
        if let Some(Token::Period | Token::Elvis | Token::DoubleColon) = before {
            return None;
        }
        if alias || matches!(behind, Some(Token::DoubleColon)) {
            return match &self.own {
                Some((id, _)) if word == "global" => Some(format!("{id}_global")),
                _ => self.aliases.get(word).cloned(),
            };
        }
        // The name of a property in a map; a type in front of a method.
        let typed = matches!((before, behind), (Some(Token::Fn), Some(Token::Period)));
        if typed || matches!(behind, Some(Token::Colon)) {
            return None;
        }
        let (id, functions) = self.own.as_ref()?;
        functions.contains(word).then(|| format!("{id}_{word}"))
    }
}

struct Linker<'a> {
    given: &'a BTreeMap<String, String>,
    /// Of the plan's file, with the slash; nothing where it has none.
    directory: &'a str,
    tag: String,
    transcript: Transcript,
    functions: AST,
    linked: Linked,
    /// Modules that are being read.
    open: Vec<String>,
}

impl Linker<'_> {
    /// Reads what a text imports. Adds what it calls the modules to `aliases`, and gives what to write in place of the paths.
    fn follow(
        &mut self,
        from: &str,
        imports: &[Found],
        within: &Transcript,
        aliases: &mut BTreeMap<String, String>,
    ) -> Result<HashMap<Position, String>, PlanError> {
        let mut paths = HashMap::new();
        let mut here = BTreeMap::new();
        for import in imports {
            let no = |message| refuse(Stage::Compile, within, import.at, message);
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

    /// Reads a module, unless that was done, and gives what the engine calls it.
    fn module(
        &mut self,
        key: &str,
        within: &Transcript,
        at: Position,
    ) -> Result<String, PlanError> {
        let no = |stage, message| Err(refuse(stage, within, at, message));
        if self.open.iter().any(|open| open == key) {
            let circle = self.open.join(" imports ");
            return no(
                Stage::Compile,
                format!("modules import each other in a circle: {circle} imports {key}"),
            );
        }
        let Some(text) = self.given.get(key) else {
            return no(
                Stage::Compile,
                format!(
                    "no module `{key}` came with this plan: a plan's modules are sent by the `veneer` command"
                ),
            );
        };
        let same = |module: &&Arc<Read>| module.key == key && module.text == *text;
        if let Some(known) = self.linked.modules.iter().find(same) {
            return Ok(known.id.clone());
        }
        let number = self.linked.modules.len() + self.open.len() + 1;
        let id = format!("{}{number}", self.tag);
        let file = format!("{}{key}.rhai", self.directory);
        let own = self.transcript.with_module(&file, text, &id);
        self.fits(&own)?;
        let moved = own.in_place();
        self.transcript = own.clone();
        self.open.push(key.to_owned());

        let none = Scope::new();
        let (tree, tokens) = look(&own, &moved, &none, std::iter::empty())?;
        let imports = found(&tree, &tokens, &own)?;
        let mut aliases = BTreeMap::new();
        let paths = self.follow(key, &imports, &own, &mut aliases)?;
        let functions = tree.iter_functions().filter(|f| f.this_type.is_none());
        let functions = functions
            .map(|f| f.name.to_owned())
            .filter(|name| !is_closure(name));
        let names = Names {
            own: Some((&id, functions.collect())),
            aliases: &aliases,
            paths,
        };
        let words = names.of(&tokens, &own)?;
        let ids = self.linked.ids().chain([id.clone()]);
        let parsed = exchange(&own, &moved, &none, words, ids)?;
        self.open.pop();

        let all = self.functions.merge(&parsed);
        self.functions = all.clone_functions_only();
        let module = Read {
            key: key.to_owned(),
            text: text.clone(),
            functions: callable(&parsed, &id),
            constants: constants(&parsed),
            exports: exports(&parsed, &id),
            tree: all,
            id: id.clone(),
        };
        self.linked.modules.push(Arc::new(module));
        Ok(id)
    }

    /// The engine counts lines up to a number.
    fn fits(&self, transcript: &Transcript) -> Result<(), PlanError> {
        if transcript.next_line() <= limits::PROMPT_LINES {
            return Ok(());
        }
        let message = format!(
            "a plan and its modules have {} lines together at most",
            count(limits::PROMPT_LINES as u64)
        );
        Err(refuse(Stage::Limit, transcript, Position::NONE, message))
    }
}

/// The engine's name for a function that has none.
fn is_closure(name: &str) -> bool {
    name.starts_with("anon$")
}

/// What others may call, under plain names.
fn callable(parsed: &AST, id: &str) -> Module {
    let mut module = Module::new();
    for function in parsed.iter_fn_def() {
        let plain = function
            .name
            .strip_prefix(id)
            .and_then(|n| n.strip_prefix('_'));
        if let (Some(plain), FnAccess::Public) = (plain, function.access) {
            let mut callable = (**function).clone();
            callable.name = plain.into();
            module.set_script_fn(callable);
        }
    }
    module
}

/// Constants whose values stand in the text.
fn constants(parsed: &AST) -> Module {
    let mut module = Module::new();
    for (name, _, value) in parsed.iter_literal_variables(true, false) {
        module.set_var(name, value);
    }
    module.build_index();
    module
}

/// Variables that others may read, with their names there.
fn exports(parsed: &AST, id: &str) -> Vec<(String, String)> {
    let plain = |name: &str| {
        let rest = name.strip_prefix(id).and_then(|n| n.strip_prefix('_'));
        rest.unwrap_or(name).to_owned()
    };
    let export = |one: &Stmt| match one {
        Stmt::Var(variable, flags, _) if flags.contains(ASTFlags::EXPORTED) => {
            let name = variable.0.as_str();
            Some((name.to_owned(), plain(name)))
        }
        Stmt::Export(names, _) => {
            let (name, alias) = (names.0.as_str(), names.1.as_str());
            let alias = if alias.is_empty() { name } else { alias };
            Some((name.to_owned(), plain(alias)))
        }
        _ => None,
    };
    parsed.statements().iter().filter_map(export).collect()
}

/// Gives an engine the modules that have run. A clone gives the same ones.
#[derive(Clone, Default)]
pub(crate) struct Modules(Arc<Mutex<Ready>>);

impl Modules {
    /// What a module has under this name, as long as it is no function.
    pub(crate) fn value(&self, module: &str, name: &str) -> Option<rhai::Dynamic> {
        lock(&self.0).get(module)?.get_var(name)
    }

    /// All that have run.
    pub(crate) fn ready(&self) -> Ready {
        lock(&self.0).clone()
    }

    fn add(&self, engine: &mut Engine, id: &str, module: Shared<Module>) {
        engine.register_static_module(id, module.clone());
        lock(&self.0).insert(id.to_owned(), module);
    }

    /// Lets an engine have the modules; those that have not run yet run now.
    pub(crate) fn run(
        &self,
        engine: &mut Engine,
        linked: &Linked,
        ready: &Ready,
    ) -> Result<(), Box<EvalAltResult>> {
        if linked.modules.is_empty() {
            return Ok(());
        }
        engine.set_module_resolver(self.clone());
        for read in &linked.modules {
            let constants = format!("{}_global", read.id);
            self.add(engine, &constants, Shared::new(read.constants.clone()));
            if let Some(module) = ready.get(&read.id) {
                self.add(engine, &read.id, module.clone());
                continue;
            }
            let mut scope = Scope::new();
            engine.run_ast_with_scope(&mut scope, &read.tree)?;
            let mut module = read.functions.clone();
            for (variable, name) in &read.exports {
                if let Some(value) = scope.get(variable) {
                    module.set_var(name.as_str(), value.flatten_clone());
                }
            }
            module.build_index();
            self.add(engine, &read.id, Shared::new(module));
        }
        Ok(())
    }
}

impl ModuleResolver for Modules {
    fn resolve(
        &self,
        _: &Engine,
        _: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let module = lock(&self.0).get(path).cloned();
        module.ok_or_else(|| EvalAltResult::ErrorModuleNotFound(path.to_owned(), position).into())
    }
}
