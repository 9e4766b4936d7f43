//! Import cycles of the files of a crate.
//!
//! A file imports another one if it names an item of it: in a `use`, or by a path in the code. A
//! re-export (`pub use`) is followed to the file that defines the item. `mod` declarations,
//! `#[cfg(test)]` modules and the paths of visibilities (`pub(in crate::a)`) do not count. The cycles
//! are the strongly connected components with more than one file (Tarjan 1972).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use syn::visit::{self, Visit};

use super::sources;

/// Path segments of an item, as it is written.
type Segments = Vec<String>;

/// How many re-exports are followed.
const MAX_REEXPORTS: usize = 5;

/// The names that one file imports and re-exports.
#[derive(Default)]
struct FileImports {
    used: Vec<Segments>,
    reexported: BTreeMap<String, Segments>,
}

impl FileImports {
    fn parse(text: &str) -> FileImports {
        let mut imports = FileImports::default();
        if let Ok(file) = syn::parse_file(text) {
            imports.visit_file(&file);
        }
        imports
    }
}

impl<'ast> Visit<'ast> for FileImports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        let mut paths = Vec::new();
        flatten(&item.tree, Vec::new(), &mut paths);
        for (name, segments) in paths {
            if is_public {
                self.reexported.insert(name, segments);
            } else {
                self.used.push(segments);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.used
                .push(path.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    /// The path in `pub(in crate::a)` names a scope and no item.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = |a: &syn::Attribute| a.path().is_ident("cfg");
        if !item.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, item);
        }
    }
}

/// Lists the paths of a `use` tree with the names under which the file knows them.
fn flatten(tree: &syn::UseTree, mut prefix: Segments, paths: &mut Vec<(String, Segments)>) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, paths);
        }
        syn::UseTree::Name(name) => {
            let name = name.ident.to_string();
            if name != "self" {
                prefix.push(name.clone());
            }
            paths.push((name, prefix));
        }
        syn::UseTree::Rename(rename) => {
            prefix.push(rename.ident.to_string());
            paths.push((rename.rename.to_string(), prefix));
        }
        syn::UseTree::Glob(_) => paths.push(("*".into(), prefix)),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix.clone(), paths);
            }
        }
    }
}

/// The files of one crate by module path; the crate root has the empty path.
struct Modules(BTreeMap<Segments, FileImports>);

impl Modules {
    fn read(source: &Path) -> io::Result<Modules> {
        let mut modules = BTreeMap::new();
        for file in sources::with_extension(source, &["rs"])? {
            let relative = file
                .strip_prefix(source)
                .unwrap_or(&file)
                .with_extension("");
            let mut path: Segments = relative
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            if path.first().is_some_and(|first| first == "bin") {
                continue;
            }
            if path.last().is_some_and(|last| last == "mod") || path == ["lib"] || path == ["main"]
            {
                path.pop();
            }
            modules.insert(path, FileImports::parse(&fs::read_to_string(&file)?));
        }
        Ok(Modules(modules))
    }

    /// The module that defines the item which `segments` names in the module `from`.
    fn resolve(&self, from: &[String], segments: &[String], depth: usize) -> Option<Segments> {
        let mut at = 0;
        let mut module: Segments = match segments.first()?.as_str() {
            "crate" => {
                at = 1;
                Vec::new()
            }
            "self" => {
                at = 1;
                from.to_vec()
            }
            "super" => {
                let mut module = from.to_vec();
                while segments.get(at).is_some_and(|s| s == "super") {
                    module.pop();
                    at += 1;
                }
                module
            }
            first => {
                let mut child = from.to_vec();
                child.push(first.to_string());
                self.0.contains_key(&child).then(|| from.to_vec())?
            }
        };
        while let Some(next) = segments.get(at) {
            module.push(next.clone());
            if !self.0.contains_key(&module) {
                module.pop();
                break;
            }
            at += 1;
        }
        let reexport = segments
            .get(at)
            .and_then(|name| self.0.get(&module)?.reexported.get(name));
        if let Some(target) = reexport.filter(|_| depth < MAX_REEXPORTS) {
            let target: Segments = target.iter().chain(&segments[at + 1..]).cloned().collect();
            if let Some(found) = self.resolve(&module, &target, depth + 1) {
                return Some(found);
            }
        }
        Some(module)
    }

    fn graph(&self) -> BTreeMap<&Segments, BTreeSet<Segments>> {
        let edges = self.0.iter().map(|(module, imports)| {
            let targets = imports
                .used
                .iter()
                .filter_map(|path| self.resolve(module, path, 0));
            (module, targets.filter(|target| target != module).collect())
        });
        edges.collect()
    }
}

/// The import cycles of a crate: groups of files that import each other, directly or not.
pub fn cycles(folder: &Path) -> io::Result<Vec<Vec<String>>> {
    let modules = Modules::read(&folder.join("src"))?;
    let graph = modules.graph();
    let names: Vec<&Segments> = graph.keys().copied().collect();
    let reached = |start: &Segments| {
        let mut seen: BTreeSet<Segments> = BTreeSet::new();
        let mut work = vec![start.clone()];
        while let Some(module) = work.pop() {
            for next in graph.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    work.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&Segments, BTreeSet<Segments>> =
        names.iter().map(|name| (*name, reached(name))).collect();
    let mut grouped = BTreeSet::new();
    let mut cycles = Vec::new();
    for name in &names {
        if !grouped.insert((*name).clone()) {
            continue;
        }
        let both =
            |other: &&&Segments| reach[*name].contains(**other) && reach[**other].contains(*name);
        let group: Vec<&&Segments> = names.iter().filter(both).collect();
        if group.len() > 1 {
            grouped.extend(group.iter().map(|m| (**m).clone()));
            cycles.push(group.iter().map(|m| display(m)).collect());
        }
    }
    Ok(cycles)
}

fn display(module: &Segments) -> String {
    match module.is_empty() {
        true => "(root)".into(),
        false => module.join("::"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    fn cycles_of(files: &[(&str, &str)]) -> io::Result<Vec<Vec<String>>> {
        let folder = Folder::new("imports")?;
        for (name, text) in files {
            let path = folder.join("src").join(name);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, text)?;
        }
        cycles(folder.path())
    }

    #[test]
    fn two_files_that_import_each_other_are_a_cycle() -> io::Result<()> {
        let found = cycles_of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B; fn f() { crate::a::A; }"),
            ("c.rs", "use crate::a::A;"),
        ])?;
        assert_eq!(found, [["a", "b"]]);
        Ok(())
    }

    #[test]
    fn a_reexport_is_followed_to_the_definition() -> io::Result<()> {
        let found = cycles_of(&[
            ("lib.rs", "mod a;"),
            (
                "a/mod.rs",
                "mod parts; mod types; pub use types::T; use parts::p;",
            ),
            ("a/types.rs", "pub struct T;"),
            ("a/parts.rs", "use super::T; pub fn p(_: T) {}"),
        ])?;
        assert!(found.is_empty(), "{found:?}");
        Ok(())
    }

    #[test]
    fn test_modules_do_not_count() -> io::Result<()> {
        let found = cycles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            (
                "b.rs",
                "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }",
            ),
        ])?;
        assert!(found.is_empty(), "{found:?}");
        Ok(())
    }

    #[test]
    fn the_path_of_a_visibility_is_no_import() -> io::Result<()> {
        let found = cycles_of(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod part; use part::Part;"),
            ("a/part.rs", "pub(in crate::a) struct Part;"),
        ])?;
        assert!(found.is_empty(), "{found:?}");
        Ok(())
    }
}
