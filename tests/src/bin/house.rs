//! `house [FOLDER]`: the figures of the rules that a program can check, of this checkout or of another one.

use std::path::PathBuf;
use std::process::ExitCode;

use veneer_tests::folder::workspace;
use veneer_tests::house::{functions, imports, prose, sources, text_errors};

fn figures(root: &std::path::Path) -> std::io::Result<Vec<(&'static str, usize)>> {
    let words = |text: String| text.split_whitespace().count();
    let documents = sources::with_extension(root, &["md"])?;
    let mut document_words = 0;
    for document in documents {
        document_words += words(std::fs::read_to_string(document)?);
    }
    let violations = prose::check(root)?;
    let functions = functions::all(root)?;
    let mut in_cycles = 0;
    for folder in sources::crates(root)? {
        in_cycles += imports::cycles(&folder)?
            .iter()
            .map(Vec::len)
            .sum::<usize>();
    }
    Ok(vec![
        ("words of documents", document_words),
        ("lines of README.md", violations.readme_lines),
        (
            "comments that begin with What, Where, So many",
            violations.openings.len(),
        ),
        ("docs of one or two words", violations.short_docs.len()),
        (
            "Markdown lines over 160 characters",
            violations.long_lines.len(),
        ),
        ("files in import cycles", in_cycles),
        (
            "functions over 120 lines",
            functions
                .iter()
                .filter(|f| f.lines > functions::MAX_LINES)
                .count(),
        ),
        ("types Result<_, String>", text_errors::all(root)?.len()),
    ])
}

fn main() -> ExitCode {
    let root = std::env::args_os()
        .nth(1)
        .map_or_else(workspace, PathBuf::from);
    match figures(&root) {
        Ok(figures) => {
            for (name, figure) in figures {
                println!("{figure:>7}  {name}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("house: {}: {error}", root.display());
            ExitCode::from(2)
        }
    }
}
