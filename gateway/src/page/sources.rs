//! Source texts of methods: where a text is found, and which of its lines the blocks of a method have.
//!
//! ```text
//!   --source DIR, JAR ─┐
//!   src.zip of the JDK ─┼─▶ places ─▶ the text ─┐
//!   x-sources.jar ──────┘                       ├─▶ SourceOfMethod
//!   the agent ─▶ class file ─▶ lines of blocks ─┘
//! ```

mod places;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use veneer_client::Target;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::listing;
use veneer_fragmenter::policy::Policy;
use veneer_protocol::{ClassCode, Reply, Request};

use super::api_error::ApiError;
use places::Places;

/// The lines that are shown before the first line of a method that has code, such as its head.
const LINES_BEFORE: usize = 3;
/// The lines that are shown after the last one.
const LINES_AFTER: usize = 2;
/// The most lines of a text.
const MAX_LINES: usize = 3_000;

/// A place of `--source` that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be read: {source}; name a folder or a jar with sources", path = .path.display())]
pub struct UnreadableSource {
    path: PathBuf,
    source: std::io::Error,
}

/// The source of a method.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceOfMethod {
    /// The name of the file in its folder, such as `shop/Desk.java`; empty if the class file has none.
    pub file: String,
    /// The place of the text, such as `src.zip`; `None` if no text was found.
    pub place: Option<String>,
    /// The number of the first line in `lines`.
    pub first: usize,
    pub lines: Vec<String>,
    /// The lines of each block, by its number.
    pub blocks: BTreeMap<usize, Vec<u16>>,
}

/// The source of the only method that a pattern selects.
///
/// # Errors
/// The agent cannot be reached, or the pattern selects no armed method.
pub fn of_method(pid: u32, pattern: &str, given: &[PathBuf]) -> Result<SourceOfMethod, ApiError> {
    let failed =
        |error: &dyn std::fmt::Display| ApiError::of_text("unreachable", &error.to_string());
    let target = Target::inspect(pid).map_err(|error| failed(&error))?;
    let mut client = veneer_client::connect(pid).map_err(|error| failed(&error))?;
    let request = Request::ClassCode {
        patterns: vec![pattern.to_owned()],
    };
    client.send(&request).map_err(|error| failed(&error))?;
    let code = match client.receive().map_err(|error| failed(&error))? {
        Reply::ClassCode(code) => code,
        Reply::Failed { message } => return Err(ApiError::of_text("refused", &message)),
        _ => return Err(ApiError::unknown("armed method that matches")),
    };
    let mut source = blocks_of(&code)?;
    if let Some(found) = Places::new(given, &target).text(&source.file) {
        source.place = Some(found.place);
        source.show(&found.text);
    }
    Ok(source)
}

/// The name of the source file and the lines of the blocks, without a text.
fn blocks_of(code: &ClassCode) -> Result<SourceOfMethod, ApiError> {
    let damaged = || ApiError::of_text("failed", "the class file cannot be read; please report it");
    let file = ClassFile::parse(&code.original).map_err(|_| damaged())?;
    let wanted = code.methods.first().ok_or_else(damaged)?;
    let index = file.methods.iter().position(|member| {
        let texts = (
            file.pool.text(member.name),
            file.pool.text(member.descriptor),
        );
        matches!(texts, (Ok(name), Ok(of)) if format!("{name}{of}") == wanted.method)
    });
    let method = listing::from_class_file(&file, index.ok_or_else(damaged)?, &Policy::Block);
    let fragments = method.fragments.iter().enumerate();
    Ok(SourceOfMethod {
        file: source_path(&code.class, source_name(&file).as_deref()),
        blocks: fragments.map(|(n, one)| (n, one.lines.clone())).collect(),
        ..SourceOfMethod::default()
    })
}

/// The name in the attribute `SourceFile`.
fn source_name(file: &ClassFile) -> Option<String> {
    let mut attributes = file.attributes.iter();
    let attribute = attributes.find(|one| one.is(&file.pool, "SourceFile"))?;
    let [high, low] = *attribute.info.as_ref() else {
        return None;
    };
    let name = file.pool.text(u16::from_be_bytes([high, low])).ok()?;
    Some(name.to_string())
}

/// The path of a source file in its folder. Without a name in the class file, the file of the outermost class.
fn source_path(class: &str, name: Option<&str>) -> String {
    let (package, simple) = match class.rsplit_once('.') {
        Some((package, simple)) => (format!("{}/", package.replace('.', "/")), simple),
        None => (String::new(), class),
    };
    // Outside of the folder of its package, a name of a class file means nothing.
    let name = name.filter(|name| !name.contains(['/', '\\']) && !name.is_empty());
    match name {
        Some(name) => format!("{package}{name}"),
        None => {
            let outermost = simple.split('$').find(|part| !part.is_empty());
            format!("{package}{}.java", outermost.unwrap_or(simple))
        }
    }
}

impl SourceOfMethod {
    /// Takes the lines of the method from the text of its file.
    fn show(&mut self, text: &str) {
        let all = self
            .blocks
            .values()
            .flatten()
            .map(|line| usize::from(*line));
        let (Some(first), Some(last)) = (all.clone().min(), all.max()) else {
            return;
        };
        self.first = first.saturating_sub(LINES_BEFORE).max(1);
        let count = (last + LINES_AFTER + 1 - self.first).min(MAX_LINES);
        let lines = text.lines().skip(self.first - 1).take(count);
        self.lines = lines.map(str::to_owned).collect();
    }
}

/// Checks the places of `--source` before the server starts.
///
/// # Errors
/// A place cannot be read.
pub fn check(given: &[PathBuf]) -> Result<(), UnreadableSource> {
    for path in given {
        let readable = match path.is_dir() {
            true => std::fs::read_dir(path).map(drop),
            false => std::fs::File::open(path).map(drop),
        };
        readable.map_err(|source| UnreadableSource {
            path: path.clone(),
            source,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_source_file_stays_in_the_folder_of_its_package() {
        assert_eq!(
            source_path("shop.Desk$Inner", Some("Desk.java")),
            "shop/Desk.java"
        );
        assert_eq!(source_path("Main", Some("Main.kt")), "Main.kt");
        assert_eq!(source_path("shop.Desk$Inner", None), "shop/Desk.java");
        assert_eq!(source_path("shop.Desk", Some("../../x")), "shop/Desk.java");
        assert_eq!(source_path("$$x", Some("")), "x.java");
    }

    #[test]
    fn the_lines_of_the_method_are_shown() {
        let mut source = SourceOfMethod {
            blocks: BTreeMap::from([(0, vec![6]), (1, vec![7, 9])]),
            ..SourceOfMethod::default()
        };
        let text: String = (1..=20).map(|n| format!("line {n}\r\n")).collect();
        source.show(&text);
        assert_eq!((source.first, source.lines.len()), (3, 9));
        assert_eq!(source.lines[0], "line 3");
        // The text is older than the class file.
        source.show("one line");
        assert!(source.lines.is_empty());
    }
}
