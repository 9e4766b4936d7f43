//! Files of the page for a single HTML file: modules and styles.
//!
//! A browser does not load modules from `file:`, and a module from a `data:` address cannot name another one
//! relative to itself. So each module becomes a `data:` address under a name in an import map, and its
//! imports are replaced by these names:
//!
//! ```text
//!   report.js        import … from "./lib/html.js"    ─▶  import … from "veneer/lib/html.js"
//!   the import map   "veneer/lib/html.js": "data:text/javascript;base64,…"
//! ```

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use thiserror::Error;

use super::assets;

/// The first part of the names of modules.
const NAME: &str = "veneer/";
/// The texts before the path of an imported module.
const IMPORTS: [&str; 4] = ["from \"", "from\"", "import \"", "import\""];

/// A file of the page names one that does not exist.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the page has no file {0}; please report it")]
pub struct MissingFile(String);

impl MissingFile {
    /// The error about a path.
    pub fn new(path: &str) -> MissingFile {
        MissingFile(path.to_owned())
    }
}

/// The import map with a module and all that it imports.
///
/// # Errors
/// A module is missing.
pub fn import_map(entry: &str) -> Result<String, MissingFile> {
    let mut modules = BTreeMap::new();
    let mut open = vec![entry.to_owned()];
    while let Some(path) = open.pop() {
        if modules.contains_key(&path) {
            continue;
        }
        let text = assets::text(&path).ok_or_else(|| MissingFile::new(&path))?;
        let (text, imports) = with_names(&text, &path);
        open.extend(imports);
        let address = format!("data:text/javascript;base64,{}", STANDARD.encode(text));
        modules.insert(path, address);
    }
    let named = modules.into_iter();
    let named: BTreeMap<String, String> = named.map(|(path, to)| (name_of(&path), to)).collect();
    Ok(json!({"imports": named}).to_string())
}

/// The name of a module in the import map.
pub fn name_of(path: &str) -> String {
    format!("{NAME}{path}")
}

/// The styles that `index.html` names, with those that they import.
///
/// # Errors
/// A file is missing.
pub fn styles() -> Result<String, MissingFile> {
    let page = assets::text("index.html").ok_or_else(|| MissingFile::new("index.html"))?;
    let links = page
        .lines()
        .filter(|line| line.contains("rel=\"stylesheet\""));
    let paths = links.filter_map(|line| between(line, "href=\"", "\""));
    let mut all = String::new();
    for path in paths {
        add_style(path, &mut all)?;
    }
    Ok(all)
}

fn add_style(path: &str, all: &mut String) -> Result<(), MissingFile> {
    let text = assets::text(path).ok_or_else(|| MissingFile::new(path))?;
    for line in text.lines() {
        match line
            .starts_with("@import ")
            .then(|| between(line, "\"", "\""))
        {
            Some(Some(imported)) => add_style(imported, all)?,
            _ => {
                all.push_str(line);
                all.push('\n');
            }
        }
    }
    Ok(())
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inner, _)| inner)
}

/// A module whose relative imports are replaced by names, and the paths of the imported modules.
fn with_names(text: &str, path: &str) -> (String, Vec<String>) {
    let (mut out, mut imports) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = next_import(rest) {
        let (relative, end) = after.split_once('"').unwrap_or((after, ""));
        let imported = resolved(path, relative);
        out.push_str(before);
        out.push_str(&name_of(&imported));
        out.push('"');
        imports.push(imported);
        rest = end;
    }
    out.push_str(rest);
    (out, imports)
}

/// Splits a text before the relative path of the next import.
fn next_import(text: &str) -> Option<(&str, &str)> {
    let ends = IMPORTS.iter().filter_map(|import| {
        let relative = [format!("{import}./"), format!("{import}../")];
        let starts = relative.iter().filter_map(|one| text.find(one.as_str()));
        starts.min().map(|start| start + import.len())
    });
    ends.min().map(|end| text.split_at(end))
}

/// The path of a module that a module in `from` imports.
fn resolved(from: &str, relative: &str) -> String {
    let mut steps: Vec<&str> = from.split('/').collect();
    steps.pop();
    for step in relative.split('/') {
        match step {
            "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn imports_become_names() {
        let text = "import { a } from \"./a.js\";\nimport b from\"../vendor/b.mjs\";\nexport {\n  c,\n} from \"./c.js\";\nconst d = \"./d.js\";";
        let (text, imports) = with_names(text, "lib/x.js");
        assert_eq!(
            text,
            "import { a } from \"veneer/lib/a.js\";\nimport b from\"veneer/vendor/b.mjs\";\nexport {\n  c,\n} from \"veneer/lib/c.js\";\nconst d = \"./d.js\";"
        );
        assert_eq!(imports, ["lib/a.js", "vendor/b.mjs", "lib/c.js"]);
    }

    #[test]
    fn the_map_has_all_modules_of_a_report_and_no_view_that_needs_a_jvm() {
        let map: Value = serde_json::from_str(&import_map("report.js").unwrap()).unwrap();
        let modules = map["imports"].as_object().unwrap();
        for wanted in [
            "report.js",
            "lib/html.js",
            "vendor/preact.mjs",
            "views/trace.js",
        ] {
            assert!(modules.contains_key(&name_of(wanted)), "{wanted}");
        }
        for unwanted in ["app.js", "views/machine.js", "views/method.js"] {
            assert!(!modules.contains_key(&name_of(unwanted)), "{unwanted}");
        }
        for (name, address) in modules {
            let (_, code) = address.as_str().unwrap().split_once("base64,").unwrap();
            let code = String::from_utf8(STANDARD.decode(code).unwrap()).unwrap();
            assert!(next_import(&code).is_none(), "{name}");
        }
        assert_eq!(import_map("none.js"), Err(MissingFile::new("none.js")));
    }

    #[test]
    fn all_styles_are_there_once() {
        let styles = styles().unwrap();
        assert!(styles.contains(":root") && styles.contains(".timeline"));
        assert!(
            styles.contains(".flame"),
            "flame.css is imported by calls.css"
        );
        assert!(
            !styles.contains("@import") && !styles.contains('<'),
            "{styles}"
        );
    }
}
