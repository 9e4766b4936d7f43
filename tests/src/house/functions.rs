//! The length of functions.

use std::path::{Path, PathBuf};
use std::{fs, io};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::sources;

/// The most lines of a function, its signature included.
pub const MAX_LINES: usize = 120;

/// A function and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub file: PathBuf,
    pub name: String,
    /// Its lines, from the signature to the closing brace.
    pub lines: usize,
}

/// All functions of the sources (not the tests) of the crates below `root`.
pub fn all(root: &Path) -> io::Result<Vec<Function>> {
    let mut found = Vec::new();
    for folder in sources::crates(root)? {
        for file in sources::with_extension(&folder.join("src"), &["rs"])? {
            found.extend(of_source(&file, &fs::read_to_string(&file)?));
        }
    }
    Ok(found)
}

fn of_source(file: &Path, text: &str) -> Vec<Function> {
    let mut visitor = Functions {
        file: file.to_path_buf(),
        found: Vec::new(),
    };
    if let Ok(parsed) = syn::parse_file(text) {
        visitor.visit_file(&parsed);
    }
    visitor.found
}

struct Functions {
    file: PathBuf,
    found: Vec<Function>,
}

impl Functions {
    fn add(&mut self, signature: &syn::Signature, end: proc_macro2::Span) {
        let (first, last) = (signature.span().start().line, end.end().line);
        self.found.push(Function {
            file: self.file.clone(),
            name: signature.ident.to_string(),
            lines: last + 1 - first,
        });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, item.block.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, item.block.span());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = |a: &syn::Attribute| a.path().is_ident("cfg");
        if !item.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_the_signature_to_the_brace() {
        let text = "/// Doc.\nfn f() {\n}\nimpl A {\n    fn g() -> u8 { 1 }\n}\n";
        let found = of_source(Path::new("a.rs"), text);
        let lines: Vec<usize> = found.iter().map(|f| f.lines).collect();
        assert_eq!(lines, [2, 1]);
    }

    #[test]
    fn functions_of_test_modules_are_left_out() {
        let text = "#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n";
        assert!(of_source(Path::new("a.rs"), text).is_empty());
    }
}
