//! The page of `veneer serve` at its limits: a class of thousands of methods, and a method of thousands of basic
//! blocks, in a real browser.

use std::path::Path;

use serde_json::{Value, json};

use crate::browser::{Browser, until_nothing_is_attached};
use crate::command::veneer;
use crate::folder::{Folder, workspace};
use crate::java_programs::Programs;
use crate::live::Live;
use crate::page_server::Server;
use crate::wide_classes::{class_of_blocks, class_of_methods};

/// The number of methods of the class.
const METHODS: usize = 5_000;

/// Starts a program of `tests/java/page`, with further classes on its path.
///
/// # Errors
/// The program does not start.
pub fn start(
    programs: &Programs,
    more: Option<&Path>,
    words: &[&str],
) -> Result<Live, Box<dyn std::error::Error>> {
    let classes = programs.classes().path();
    let path = std::env::join_paths([classes].into_iter().chain(more))?;
    let java = programs.launcher().arg("-XX:+EnableDynamicAgentLoading");
    Ok(Live::start(&java.arg("-cp").arg(path).args(words))?)
}

/// A server whose recordings are in the folder of the build, because the folder for temporary files may be in
/// memory.
///
/// # Errors
/// The server does not start.
pub fn server() -> Result<Server, Box<dyn std::error::Error>> {
    let temporary = workspace().join("target/tmp");
    std::fs::create_dir_all(&temporary)?;
    let place = temporary.display().to_string();
    Server::start_as(
        veneer()
            .args(["serve", "--allow-edits"])
            .env("TMPDIR", &place),
    )
}

/// Shows a method of `2 * pairs + 1` blocks, and before it, if `with_class` is set, a class of 5,000 methods.
/// Returns the result of the scenario `wide`: times in milliseconds, summaries of frames, and the page's heap in
/// bytes.
///
/// # Errors
/// The scenario fails, or something stays attached.
pub fn show(
    programs: &Programs,
    browser: &Browser,
    pairs: usize,
    with_class: bool,
) -> Result<Value, Box<dyn std::error::Error>> {
    let folder = Folder::new("wide")?;
    std::fs::write(folder.join("Blocks.class"), class_of_blocks(pairs))?;
    let source = folder.join("Methods.java");
    std::fs::write(&source, class_of_methods(METHODS))?;
    programs.jdk().compile(&[source], folder.path())?;
    let live = start(programs, Some(folder.path()), &["Wide"])?;
    let server = server()?;
    let wish = json!({"pid": live.pid(), "withClass": with_class});
    let result = browser.run("wide", &server, wish)?;
    until_nothing_is_attached(&live)?;
    live.stop()?.succeeded("Wide")?;
    Ok(result)
}
