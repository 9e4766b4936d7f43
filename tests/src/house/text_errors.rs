//! Errors that are text: the types `Result<_, String>`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::sources;

/// A type `Result<_, String>` in a signature, an alias, a field or an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// All such types in the Rust files below `root`, tests included.
pub fn all(root: &Path) -> io::Result<Vec<TextError>> {
    let mut found = Vec::new();
    for file in sources::with_extension(root, &["rs"])? {
        let lines = of_source(&fs::read_to_string(&file)?);
        let lines = lines.map_err(|e| io::Error::other(format!("{}: {e}", file.display())))?;
        found.extend(lines.into_iter().map(|line| TextError {
            file: file.clone(),
            line,
        }));
    }
    Ok(found)
}

/// The lines of such types in a source text.
fn of_source(text: &str) -> syn::Result<Vec<usize>> {
    let mut visitor = TextErrors(Vec::new());
    visitor.visit_file(&syn::parse_file(text)?);
    Ok(visitor.0)
}

struct TextErrors(Vec<usize>);

impl<'ast> Visit<'ast> for TextErrors {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Result" && has_text_as_error(&segment.arguments) {
            self.0.push(segment.span().start().line);
        }
        visit::visit_path_segment(self, segment);
    }
}

/// Whether the second type argument is `String`, by any path.
fn has_text_as_error(arguments: &syn::PathArguments) -> bool {
    let syn::PathArguments::AngleBracketed(arguments) = arguments else {
        return false;
    };
    let Some(syn::GenericArgument::Type(syn::Type::Path(error))) = arguments.args.get(1) else {
        return false;
    };
    let last = error.path.segments.last();
    last.is_some_and(|segment| segment.ident == "String")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_errors_are_found_wherever_a_type_is_written() -> syn::Result<()> {
        let text = "\
type A<T> = Result<T, String>;
fn f() -> std::result::Result<(), std::string::String> { Ok(()) }
struct B { c: Box<dyn Fn() -> Result<u8, String>> }
impl B {
    fn g(&self) -> Vec<Result<
        u8,
        String,
    >> { Vec::new() }
}
#[cfg(test)]
mod tests {
    fn h() { let _ = [\"1\"].into_iter().collect::<Result<Vec<u8>, String>>(); }
}
";
        assert_eq!(of_source(text)?, [1, 2, 3, 5, 12]);
        Ok(())
    }

    #[test]
    fn other_results_are_no_text_errors() -> syn::Result<()> {
        let text = "\
fn f() -> io::Result<String> { g() }
fn g() -> Result<String, Error> { h() }
fn h() -> Result<Option<String>, Vec<String>> { f() }
";
        assert!(of_source(text)?.is_empty());
        Ok(())
    }
}
