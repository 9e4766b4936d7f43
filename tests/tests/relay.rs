//! `veneer relay`: access to a JVM's agent over the network for clients with the token and the
//! certificate.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use veneer_tests::command::veneer;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, event_timeout, until};
use veneer_tests::sample_service::{handle_orders, stop_and_check};

/// Creates a certificate and its key as PEM files.
fn identity(folder: &Folder, name: &str) -> Result<(PathBuf, PathBuf), Box<dyn std::error::Error>> {
    let made = rcgen::generate_simple_self_signed(vec!["veneer".to_owned()])?;
    let (cert, key) = (
        folder.join(&format!("{name}.pem")),
        folder.join(&format!("{name}.key")),
    );
    fs::write(&cert, made.cert.pem())?;
    fs::write(&key, made.signing_key.serialize_pem())?;
    Ok((cert, key))
}

#[test]
fn a_relay_accepts_only_clients_with_token_and_certificate() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        handle_orders(&mut live, 1)?;
        let folder = Folder::new("relay")?;
        let text = |path: &Path| path.display().to_string();
        let (cert, key) = identity(&folder, "relay")?;
        let (other, _) = identity(&folder, "other")?;
        let token = folder.join("token");
        let pid = live.pid().to_string();
        let mut relay = veneer()
            .args([
                "relay",
                &pid,
                "--listen",
                "127.0.0.1:0",
                "--cert",
                &text(&cert),
                "--key",
                &text(&key),
                "--token-file",
                &text(&token),
            ])
            .start()?;
        let mut first = String::new();
        let mut out = BufReader::new(relay.stdout.take().ok_or("no output")?);
        out.read_line(&mut first)?;
        let address = first
            .split("controlled at ")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .ok_or_else(|| first.clone())?
            .to_owned();
        let ask = |token: &Path, cert: Option<&Path>, more: &[&str], code: &str| {
            let mut command = veneer()
                .args(["exec", "--connect", &address, "--token-file", &text(token)])
                .args(more);
            if let Some(cert) = cert {
                command = command.args(["--cert", &text(cert)]);
            }
            command.args(["-e", code]).limit(event_timeout())
        };
        // A long answer, which needs several TLS records.
        let long = ask(
            &token,
            Some(&cert),
            &[],
            "let s = \"x\"; for n in 0..18 { s += s; } s",
        )
        .run()?
        .succeeded("exec")?;
        assert_eq!(long.out.trim().len(), 1 << 18);
        let id = ask(
            &token,
            Some(&cert),
            &[],
            "methods(\"Desk::serve(..)\").before(counter()).id()",
        )
        .run()?
        .succeeded("exec")?;
        handle_orders(&mut live, 40)?;
        assert_eq!(live.sum(id.out.trim())?, 40);

        let wrong = folder.join("wrong");
        fs::write(&wrong, "0".repeat(64))?;
        fs::set_permissions(&wrong, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        for (output, expected) in [
            (
                ask(&wrong, Some(&cert), &[], "1").run()?,
                "the token is wrong or missing",
            ),
            (
                ask(&token, Some(&other), &[], "1").run()?,
                "it shows another certificate",
            ),
            (ask(&token, None, &[], "1").run()?, "nothing answers at"),
        ] {
            assert_eq!(output.code, 2, "{output:?}");
            assert!(
                output.err.contains(expected) || expected.starts_with("nothing"),
                "{}",
                output.err
            );
        }
        // Without a certificate, the command sends no token to another machine.
        let far = veneer()
            .args([
                "exec",
                "--connect",
                "192.0.2.1:9",
                "--token-file",
                &text(&token),
                "-e",
                "1",
            ])
            .limit(event_timeout())
            .run()?;
        assert!(
            far.code == 2 && far.err.contains("another machine"),
            "{far:?}"
        );

        // The instruments of a client are detached after it has disconnected.
        let attached = || live.value("instruments().filter(|i| i.attached).len()");
        let mut held = ask(
            &token,
            Some(&cert),
            &["--hold=2"],
            "methods(\"Desk::serve(..)\").before(counter())",
        )
        .start()?;
        until("the held counter", attached, |n| n == "2")?;
        held.kill()?;
        held.wait()?;
        until("the end of the lease", attached, |n| n == "1")?;
        stop_and_check(live)?;
        let ended = relay.wait()?;
        assert_eq!(ended.code(), Some(0));
        Ok(())
    })
}
