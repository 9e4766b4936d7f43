//! `veneer serve` in a real browser, on running JVMs: every view, and that nothing stays attached however a
//! tab or the server ends.

use serde_json::json;
use veneer_tests::browser::{check_accessibility, in_browser, until_nothing_is_attached};
use veneer_tests::command::path;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::page_server::Server;

#[test]
fn only_the_page_of_this_user_is_answered() -> Outcome {
    let server = Server::start(&[])?;
    let (host, token) = (server.host().to_owned(), server.token().to_owned());
    let get = |path: &str, headers: &str| {
        server.raw(&format!(
            "GET {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n"
        ))
    };
    let own = format!("host: {host}\r\n");
    for (path, headers, status) in [
        ("/", own.clone(), "401"),
        ("/api/1/machine", own.clone(), "401"),
        ("/?token=00", own.clone(), "401"),
        (
            &format!("/?token={token}"),
            "host: evil.example\r\n".into(),
            "403",
        ),
        (&format!("/?token={token}"), own.clone(), "303"),
    ] {
        let answer = get(path, &headers)?;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {answer}"
        );
        assert!(
            answer.contains("content-security-policy: default-src 'none'"),
            "{answer}"
        );
    }
    let sent_on = get(&format!("/?token={token}"), &own)?;
    assert!(sent_on.contains("location: /\r\n"), "{sent_on}");
    assert!(sent_on.contains("HttpOnly; SameSite=Strict"), "{sent_on}");
    let allowed = server.request("GET", "/api/1/about", "")?;
    assert!(allowed.contains("\"allow_edits\":false"), "{allowed}");
    let foreign = server.raw(&format!(
        "POST /api/1/sessions HTTP/1.1\r\nhost: {host}\r\ncookie: veneer-{}={token}\r\n\
         origin: http://evil.example\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: 9\r\n\r\n{{\"pid\":1}}",
        host.rsplit(':').next().unwrap_or_default()
    ))?;
    assert!(foreign.contains("foreign-origin"), "{foreign}");
    Ok(())
}

#[test]
fn without_permission_nothing_can_be_changed() -> Outcome {
    on_a_jdk_with("live", |programs| {
        let live = programs.armed("RunningLoop")?;
        let server = Server::start(&[])?;
        let opened = server.request(
            "POST",
            "/api/1/sessions",
            &json!({"pid": live.pid()}).to_string(),
        )?;
        assert!(opened.contains("\"session\":\"s1\""), "{opened}");
        let pattern = "RunningLoop::loop(long)";
        for wish in [
            json!({"kind": "plan", "source": "print(1)"}),
            json!({"kind": "skip", "pattern": pattern, "block": 2}),
            json!({"kind": "redirect", "pattern": pattern, "edge": [1, 2], "target": 3}),
        ] {
            let path = "/api/1/sessions/s1/attachments";
            let refused = server.request("POST", path, &wish.to_string())?;
            assert!(refused.contains("\"read-only\""), "{refused}");
        }
        live.value("methods(\"RunningLoop::step(..)\").before(counter()); 1")?;
        let path = format!("/api/1/jvms/{}/detach", live.pid());
        let refused = server.request("POST", &path, "{\"unload\":true}")?;
        assert!(refused.contains("\"read-only\""), "{refused}");
        Ok(())
    })
}

#[test]
fn every_view_shows_a_running_loop() -> Outcome {
    in_browser("live", |programs, browser| {
        let live = programs.armed("RunningLoop")?;
        let server = Server::start(&["--allow-edits"])?;
        let result = browser.run(
            "views",
            &server,
            json!({"pid": live.pid(), "program": "RunningLoop", "className": "RunningLoop", "method": "loop"}),
        )?;
        println!("from the click to the first hit: {} ms", result["firstHit"]);
        until_nothing_is_attached(&live)?;
        check_accessibility(&result)
    })
}

#[test]
fn the_views_that_record_show_what_they_recorded() -> Outcome {
    in_browser("live", |programs, browser| {
        let live = programs.armed("RunningLoop")?;
        let server = Server::start(&["--allow-edits"])?;
        let result = browser.run(
            "recordings",
            &server,
            json!({"pid": live.pid(), "pattern": "RunningLoop::*(..)", "method": "RunningLoop::step"}),
        )?;
        check_accessibility(&result)?;
        until_nothing_is_attached(&live)
    })
}

#[test]
fn names_with_markup_ten_tabs_and_a_dying_jvm_are_no_trouble() -> Outcome {
    in_browser("page", |programs, browser| {
        let java = programs.launcher().arg("-XX:+EnableDynamicAgentLoading");
        let java = java.arg("-cp").arg(programs.classes().path());
        let live = Live::start(&java.arg("Trouble"))?;
        let server = Server::start(&[])?;
        let result = browser.run("trouble", &server, json!({"pid": live.pid()}))?;
        check_accessibility(&result)?;
        let said = result["said"].as_str().unwrap_or_default();
        assert!(said.contains("ended"), "{said}");
        Ok(())
    })
}

#[test]
fn the_first_count_is_on_the_screen_soon() -> Outcome {
    in_browser("page", |programs, browser| {
        let java = programs.launcher().arg("-XX:+EnableDynamicAgentLoading");
        let java = java.arg("-cp").arg(programs.classes().path());
        let live = Live::start(&java.arg("Trouble"))?;
        let server = Server::start(&[])?;
        let result = browser.run(
            "first_count",
            &server,
            json!({"pid": live.pid(), "pattern": "Trouble::show(java.lang.String, int)", "veneer": path()}),
        )?;
        println!(
            "from the command to the first counted block: {} ms",
            result["firstCount"]
        );
        Ok(())
    })
}

#[test]
fn a_killed_server_leaves_nothing_attached() -> Outcome {
    on_a_jdk_with("live", |programs| {
        let live = programs.armed("RunningLoop")?;
        let mut server = Server::start(&[])?;
        server.request(
            "POST",
            "/api/1/sessions",
            &json!({"pid": live.pid()}).to_string(),
        )?;
        let wish = json!({"kind": "graph", "pattern": "RunningLoop::loop(long)"}).to_string();
        let attached = server.request("POST", "/api/1/sessions/s1/attachments", &wish)?;
        assert!(attached.contains("\"blocks\""), "{attached}");
        until(
            "two counters",
            || live.value("instruments().len()"),
            |n| n == "2",
        )?;
        server.child.kill()?;
        until_nothing_is_attached(&live)
    })
}
