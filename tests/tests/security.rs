//! Access control of a JVM, and hostile clients, which must have no effect.
//!
//! Tests with users of their own need root. Without it, they print this and pass.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, check_loop_result};
use veneer_tests::jdk;
use veneer_tests::live::{Live, event_timeout, private_directory, user};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// Users who own nothing. Each test has its own user, because the directory in `/tmp` exists once
/// per user.
const UID_WITH_PREMADE_DIRECTORY: u32 = 60_101;
const UID_OF_JVM: u32 = 60_102;
const UID_OF_CLIENT: u32 = 60_103;

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// `RunningLoop` under `veneer run`, as another user.
fn as_user(programs: &Programs, uid: u32) -> Process {
    let id = uid.to_string();
    let java = run(&[], &programs.java("RunningLoop"));
    java.wrapped_in(
        "setpriv",
        &["--reuid", &id, "--regid", &id, "--clear-groups"],
    )
}

fn remove(path: &Path) {
    // The path may be a link, a directory, or missing.
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_dir_all(path);
}

#[test]
fn a_directory_created_by_another_user_is_not_used() -> Outcome {
    if user() != 0 {
        return Ok(skip(Need::Root("can be two users"))?);
    }
    let programs = Programs::compile(jdk::oldest())?;
    let place = private_directory(UID_WITH_PREMADE_DIRECTORY);
    let elsewhere = Folder::new("elsewhere")?;
    std::fs::set_permissions(elsewhere.path(), std::fs::Permissions::from_mode(0o700))?;
    chown(
        elsewhere.path(),
        Some(UID_WITH_PREMADE_DIRECTORY),
        Some(UID_WITH_PREMADE_DIRECTORY),
    )?;
    for trap in ["another user's", "a link", "open to others", "a file"] {
        remove(&place);
        match trap {
            "a link" => symlink(elsewhere.path(), &place)?,
            "a file" => std::fs::write(&place, "")?,
            _ => std::fs::DirBuilder::new().mode(0o777).create(&place)?,
        }
        if trap == "open to others" {
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777))?;
            chown(
                &place,
                Some(UID_WITH_PREMADE_DIRECTORY),
                Some(UID_WITH_PREMADE_DIRECTORY),
            )?;
        }
        let live = Live::start(&as_user(&programs, UID_WITH_PREMADE_DIRECTORY))?;
        let pid = live.pid();
        // The command does not trust the directory either.
        let asked = live.exec("1")?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{trap}: {output:?}");
        assert!(
            output.err.contains("no control socket"),
            "{trap}: {output:?}"
        );
        check_loop_result(&output.out)?;
        assert_eq!(asked.code, 2, "{trap}: {asked:?}");
        let left = place.join(format!("{pid}.sock"));
        assert!(
            std::fs::symlink_metadata(&left).is_err(),
            "{trap}: a socket was made"
        );
        assert_eq!(std::fs::read_dir(elsewhere.path())?.count(), 0, "{trap}");
    }
    remove(&place);
    // Without interference, the directory is created, and only its user has access.
    let live = Live::start(&as_user(&programs, UID_WITH_PREMADE_DIRECTORY))?;
    let meta = std::fs::symlink_metadata(&place)?;
    assert_eq!(
        (meta.uid(), meta.mode() & 0o7777),
        (UID_WITH_PREMADE_DIRECTORY, 0o700)
    );
    let socket = std::fs::symlink_metadata(place.join(format!("{}.sock", live.pid())))?;
    assert_eq!(
        (socket.uid(), socket.mode() & 0o777),
        (UID_WITH_PREMADE_DIRECTORY, 0o600)
    );
    live.stop()?;
    remove(&place);
    Ok(())
}

/// Connects and sends a request as another user. The kernel keeps a user id for each thread.
fn ask_as(uid: u32, socket: PathBuf, line: &'static str) -> std::io::Result<String> {
    let asking = std::thread::spawn(move || {
        // SAFETY: a plain system call. Unlike the C library's function, it changes only this
        // thread, which ends here.
        let result = unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) };
        if result != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(event_timeout()))?;
        // The agent may close the connection before the line is written.
        let _ = writeln!(stream, "{line}");
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer)?;
        Ok(answer)
    });
    asking
        .join()
        .unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
}

#[test]
fn a_client_of_another_user_is_turned_away() -> Outcome {
    if user() != 0 {
        return Ok(skip(Need::Root("can be two users"))?);
    }
    let programs = Programs::compile(jdk::oldest())?;
    remove(&private_directory(UID_OF_JVM));
    let live = Live::start(&as_user(&programs, UID_OF_JVM))?;
    let place = private_directory(UID_OF_JVM);
    let socket = place.join(format!("{}.sock", live.pid()));
    let hello = r#"{"hello":{}}"#;
    // The permissions of the directory keep other users out.
    let kept_out = ask_as(UID_OF_CLIENT, socket.clone(), hello).map_err(|e| e.kind());
    assert_eq!(kept_out, Err(std::io::ErrorKind::PermissionDenied));
    // If the directory is open, the agent rejects the client by the credentials that the kernel
    // reports.
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777))?;
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777))?;
    for line in [hello, r#"{"exec":{"name":"x","source":"print(1)"}}"#] {
        let answer = ask_as(UID_OF_CLIENT, socket.clone(), line)?;
        assert!(answer.contains("another user"), "{answer}");
    }
    assert!(ask_as(UID_OF_JVM, socket.clone(), hello)?.contains("\"hello\""));
    assert!(ask_as(0, socket, hello)?.contains("\"hello\""), "root");
    let output = live.stop()?;
    check_loop_result(&output.out)?;
    remove(&place);
    Ok(())
}

/// Starts a JVM with a control port. Returns its address and the file with its token.
fn with_port(
    programs: &Programs,
    folder: &Folder,
) -> Result<(Live, String, PathBuf), Box<dyn std::error::Error>> {
    // A port that is free now will probably not be taken within the next second.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let file = folder.join("token");
    let options = ["--listen", &address, "--token-file", &text(&file)];
    let live = Live::start(&run(&options, &programs.java("RunningLoop")))?;
    Ok((live, address, file))
}

/// Sends bytes, and reads the answer until the agent closes the connection.
fn send_and_read(address: &str, bytes: &[u8]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(event_timeout()))?;
    // The agent may close the connection before it has read everything.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn the_port_accepts_only_the_token() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let folder = Folder::new("port")?;
    let (live, address, file) = with_port(&programs, &folder)?;
    let meta = std::fs::metadata(&file)?;
    assert_eq!(meta.mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&file)?.trim().to_string();
    assert_eq!(token.len(), 64, "256 bits");
    let exec = |file: &Path| {
        veneer()
            .args([
                "exec",
                "--connect",
                &address,
                "--token-file",
                &text(file),
                "-e",
                "40 + 2",
            ])
            .run()
    };
    assert_eq!(exec(&file)?.succeeded("exec over TCP")?.out, "42\n");
    // Everything except the token gets the same answer, and only after the delay.
    let hello = r#"{"hello":{}}"#;
    let mut last = token.clone();
    last.replace_range(63.., if token.ends_with('0') { "1" } else { "0" });
    let mut wrong: Vec<Vec<u8>> = vec![
        format!("{last}\n{hello}\n").into_bytes(),
        format!("{}\n{hello}\n", &token[..63]).into_bytes(),
        format!("{token}0\n{hello}\n").into_bytes(),
        format!("{}\n{hello}\n", token.repeat(100)).into_bytes(),
        format!("\n{hello}\n").into_bytes(),
        format!("{hello}\n").into_bytes(),
        vec![b'x'; 100_000],
    ];
    wrong.push([b"\xff\xfe\0".as_slice(), token.as_bytes(), b"\n"].concat());
    for bytes in &wrong {
        let began = Instant::now();
        let answer = send_and_read(&address, bytes)?;
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        // If more was sent than read, the connection is reset and there is no answer.
        let turned_away =
            "{\"failed\":{\"message\":\"turned away: the token is wrong or missing\"}}\n";
        assert!(
            answer == turned_away || (answer.is_empty() && bytes.len() > 200),
            "{shown}: {answer}"
        );
        assert!(
            began.elapsed() >= Duration::from_millis(400),
            "{shown}: at once"
        );
    }
    // A silent connection is rejected as well, and does not block other clients.
    let silent: Vec<TcpStream> = (0..60)
        .map(|_| TcpStream::connect(&address))
        .collect::<Result<_, _>>()?;
    for _ in 0..3 {
        assert_eq!(
            exec(&file)?.succeeded("exec among silent clients")?.out,
            "42\n"
        );
    }
    assert!(!silent.is_empty());
    let other = folder.join("other");
    std::fs::write(&other, "0".repeat(64))?;
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o600))?;
    let output = exec(&other)?;
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.contains("turned away"), "{output:?}");
    let output = live.stop()?;
    assert_eq!(output.code, 0);
    check_loop_result(&output.out)
}

#[test]
fn a_port_is_opened_only_locally_and_only_on_request() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let folder = Folder::new("listen")?;
    let java = programs.java("RunningLoop");
    let file = text(&folder.join("token"));
    for address in [
        "0.0.0.0:0",
        "[::]:0",
        "10.1.2.3:4712",
        "example.org:1",
        "4712",
    ] {
        let output = run(&["--listen", address, "--token-file", &file], &java).run()?;
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{address}");
    }
    // Without a token file, no port is opened.
    assert_eq!(run(&["--listen", "127.0.0.1:0"], &java).run()?.code, 2);
    // A token file that others can read is refused.
    std::fs::write(&file, "0".repeat(64))?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644))?;
    let output = run(&["--listen", "127.0.0.1:0", "--token-file", &file], &java).run()?;
    assert_eq!((output.code, output.out.as_str()), (2, ""));
    assert!(output.err.contains("read by others"), "{output:?}");
    // A JVM listens on no port unless this was requested.
    let live = programs.armed("RunningLoop")?;
    assert_eq!(listening(live.pid())?, 0, "a port is open");
    live.stop()?;
    let (live, address, _) = with_port(&programs, &folder_with(&folder)?)?;
    assert_eq!(listening(live.pid())?, 1, "{address}");
    live.stop()?;
    Ok(())
}

/// Creates another folder. The parameter shows that the first folder still exists.
fn folder_with(_: &Folder) -> std::io::Result<Folder> {
    Folder::new("listen-token")
}

/// Returns the number of TCP sockets on which a process listens. Fails if one of them is open to
/// other machines.
fn listening(pid: u32) -> Result<usize, Box<dyn std::error::Error>> {
    let mut inodes = Vec::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd"))? {
        let link = std::fs::read_link(entry?.path()).unwrap_or_default();
        let name = link.to_string_lossy().into_owned();
        if let Some(inode) = name.strip_prefix("socket:[") {
            inodes.push(inode.trim_end_matches(']').to_string());
        }
    }
    let mut found = 0;
    for table in ["tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (Some(local), Some(state), Some(inode)) =
                (words.get(1), words.get(3), words.get(9))
            else {
                continue;
            };
            if *state == "0A" && inodes.iter().any(|one| one == inode) {
                // The kernel's notation for 127.0.0.1.
                assert!(local.starts_with("0100007F:"), "{table}: {local}");
                found += 1;
            }
        }
    }
    Ok(found)
}

/// Sends bytes, and reads one line.
fn ask(live: &Live, bytes: &[u8]) -> std::io::Result<String> {
    let mut stream = live.connect()?;
    // The agent may close the connection before it has read everything.
    let _ = stream.write_all(bytes);
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    Ok(line)
}

/// The resident memory of a process in KiB.
fn resident(pid: u32) -> Result<u64, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmRSS")?.parse()?)
}

#[test]
fn hostile_input_is_answered_or_ignored_and_never_stored() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let live = programs.armed("RunningLoop")?;
    assert_eq!(live.value("1")?, "1");
    let before = resident(live.pid())?;
    let deep = format!("{}\n", "[".repeat(500_000));
    let deep_field = format!(
        "{{\"hello\":{}1{}}}\n",
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    for (bytes, word) in [
        (b"\xff\xfe\xfd\n".as_slice(), "failed"),
        (b"\0\0\0\0\n", "failed"),
        (b"null\n", "failed"),
        (b"{\"exec\":{\"name\":1,\"source\":2}}\n", "failed"),
        (
            b"{\"exec\":{\"name\":\"x\",\"source\":\"1\",\"hold\":-1}}\n",
            "failed",
        ),
        (b"{\"open\":{\"path\":\"/etc/passwd\"}}\n", "failed"),
        (b"{\"hello\":{},\"report\":{}}\n", "failed"),
        (deep.as_bytes(), "failed"),
        // Unknown fields are skipped, whatever their depth.
        (deep_field.as_bytes(), "\"hello\""),
        (b"\n\n\n{\"hello\":{}}\n", "\"hello\""),
    ] {
        let answer = ask(&live, bytes)?;
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert!(answer.contains(word), "{shown}: {answer}");
    }
    // Many clients send lines without an end. The limit is one mebibyte for each.
    let mut long = Vec::new();
    for _ in 0..20 {
        let mut stream = live.connect()?;
        let _ = stream.write_all(&vec![b' '; 2 << 20]);
        long.push(stream);
    }
    for stream in long {
        let mut line = String::new();
        let _ = BufReader::new(stream).read_line(&mut line);
        assert!(line.is_empty() || line.contains("1048576 bytes"), "{line}");
    }
    // Silent clients do not block other clients.
    let idle: Vec<UnixStream> = (0..200).map(|_| live.connect()).collect::<Result<_, _>>()?;
    assert_eq!(live.value("40 + 2")?, "42");
    drop(idle);
    // Clients that do not read: the answers have 2 MiB per round and client, much more than the
    // agent keeps.
    let mut deaf = Vec::new();
    for _ in 0..5 {
        let mut stream = live.connect()?;
        let code = "let s = \\\"x\\\"; s.pad(100000, 'x'); for i in 0..4000 { print(s); }";
        writeln!(
            stream,
            "{{\"exec\":{{\"name\":\"x\",\"source\":\"{code}\"}}}}"
        )?;
        deaf.push(stream);
    }
    assert_eq!(
        live.value("40 + 2")?,
        "42",
        "the plan thread waits for a client that does not read"
    );
    let grown = resident(live.pid())?.saturating_sub(before);
    assert!(grown < 160 << 10, "memory grew by {grown} KiB");
    // A client that reads later is told how much it missed.
    let mut late = String::new();
    let mut reader = BufReader::new(deaf.swap_remove(0));
    let mut missed = false;
    loop {
        late.clear();
        if reader.read_line(&mut late)? == 0 || late.contains("\"done\"") {
            break;
        }
        missed |= late.contains("lines were dropped");
    }
    assert!(
        missed && late.contains("\"done\""),
        "{}",
        &late[..late.len().min(200)]
    );
    drop(deaf);
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    check_loop_result(&output.out)
}

#[test]
fn no_message_gives_access_to_a_file() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let live = programs.armed("RunningLoop")?;
    let folder = Folder::new("secret")?;
    let secret = folder.join("secret.rhai");
    std::fs::write(
        &secret,
        "print(\"sesame-open\"); let sesame = \"sesame-open\";\n",
    )?;
    let path = text(&secret);
    let stem = path.trim_end_matches(".rhai");
    let made = text(&folder.join("made"));
    for source in [
        format!("import \"{stem}\" as s; print(s::sesame);"),
        format!("import \"{path}\" as s;"),
        format!("eval(\"import \\\"{stem}\\\" as s\")"),
        format!("let f = open_file(\"{path}\"); f.read_string()"),
        format!("read_file(\"{path}\")"),
        format!("write_file(\"{made}\", \"x\")"),
        format!("run_file(\"{path}\")"),
        format!("include(\"{path}\")"),
        format!("eval_file(\"{path}\")"),
        format!("system(\"touch {made}\")"),
        format!("exec(\"touch {made}\")"),
        format!("env(\"{path}\")"),
    ] {
        let output = live.exec(&source)?;
        // The command itself refuses to read a file outside the plan's directory.
        let refused = if source.starts_with("import") { 2 } else { 1 };
        assert_eq!(output.code, refused, "{source}: {output:?}");
        let all = output.out + &output.err;
        assert!(!all.contains("sesame-open"), "{source}: {all}");
    }
    // The agent does not read a file either if a client sends the request without the command.
    for path in [stem, path.as_str(), "secret"] {
        let exec = format!(
            "{{\"exec\":{{\"name\":\"{stem}\",\"source\":\"import \\\"{path}\\\" as s; print(s::sesame);\"}}}}\n"
        );
        let answer = ask(&live, exec.as_bytes())?;
        assert!(
            answer.contains("failed") && !answer.contains("sesame-open"),
            "{answer}"
        );
    }
    // The name of a program is only displayed, and control characters are replaced.
    for name in [
        path.as_str(),
        "../../../etc/passwd",
        "/etc/passwd\\u0000",
        "\\u001b[2J\\u0007",
    ] {
        let exec =
            format!("{{\"exec\":{{\"name\":\"{name}\",\"source\":\"nothing_like_this()\"}}}}\n");
        let answer = ask(&live, exec.as_bytes())?;
        assert!(
            answer.contains("failed") && answer.contains("nothing_like_this"),
            "{answer}"
        );
        assert!(
            !answer.contains("\\u001b")
                && !answer.contains("sesame-open")
                && !answer.contains("root:"),
            "{answer}"
        );
    }
    // Unknown fields of a request have no effect.
    let report = format!(
        "{{\"report\":{{\"path\":\"{made}\",\"report\":\"{made}\",\"data_dir\":\"{made}\"}}}}\n"
    );
    assert!(ask(&live, report.as_bytes())?.contains("\"schema\""));
    let names: Vec<String> = std::fs::read_dir(folder.path())?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["secret.rhai"]);
    let output = live.stop()?;
    check_loop_result(&output.out)
}
