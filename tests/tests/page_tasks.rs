//! Ten tasks of a newcomer on the page of `veneer serve`, in a real browser: each takes at most four clicks.

use serde_json::json;
use veneer_tests::browser::in_browser;
use veneer_tests::folder::workspace;
use veneer_tests::java_programs::Outcome;
use veneer_tests::live::Live;
use veneer_tests::page_server::Server;

/// The document with the table of clicks.
const DOCUMENT: &str = "docs/page.md";

#[test]
fn each_task_of_a_newcomer_takes_at_most_four_clicks() -> Outcome {
    in_browser("page", |programs, browser| {
        let java = programs.launcher().arg("-XX:+EnableDynamicAgentLoading");
        let java = java.arg("-cp").arg(programs.classes().path());
        let live = Live::start(&java.arg("Newcomer"))?;
        let server = Server::start(&["--allow-edits"])?;
        let result = browser.run("tasks", &server, json!({"pid": live.pid()}))?;
        let rows = result["table"].as_array().ok_or("no table")?;
        assert_eq!(rows.len(), 10);
        let document = std::fs::read_to_string(workspace().join(DOCUMENT))?;
        for row in rows {
            let text = |member: &str| row[member].as_str().unwrap_or_default();
            let line = format!(
                "| {} | {} | {} |",
                text("task"),
                row["clicks"],
                text("steps")
            );
            println!(
                "{line} {:.1} s",
                row["seconds"].as_f64().unwrap_or_default()
            );
            assert!(
                document.lines().any(|known| known == line),
                "{DOCUMENT} lacks the line\n{line}"
            );
        }
        live.stop()?.succeeded("the service")?;
        Ok(())
    })
}
