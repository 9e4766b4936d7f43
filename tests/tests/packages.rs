//! Installed files work in their installed location: the archive, the Debian package, manual pages
//! and completions.

use std::path::{Path, PathBuf};

use veneer_tests::command::{path, veneer};
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::Live;
use veneer_tests::process::Process;
use veneer_tests::report::Report;
use veneer_tests::skip::{Need, skip};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The packages of the command under test.
struct Packages {
    _folder: Folder,
    /// The archives and the Debian packages that users install.
    programs: Vec<PathBuf>,
    /// The packages with function names and line numbers for debuggers.
    debug: Vec<PathBuf>,
}

impl Packages {
    /// Without dpkg-deb, there are no Debian packages.
    fn build() -> Result<Self, Box<dyn std::error::Error>> {
        let folder = Folder::new("packages")?;
        let release = folder.join("built/release");
        std::fs::create_dir_all(&release)?;
        let beside = path().parent().ok_or("the command has no folder")?;
        for name in ["veneer", "libveneer_agent.so"] {
            std::os::unix::fs::symlink(beside.join(name), release.join(name))?;
        }
        let out = folder.join("out");
        let script = workspace().join("build/package.sh");
        Process::new("sh")
            .args([script, folder.join("built"), out.clone()])
            .env("PACKAGE_LEVEL", "1")
            .run()?
            .succeeded("package.sh")?;
        if Process::new("dpkg-deb").arg("--version").run().is_err() {
            skip(Need::Program("dpkg-deb"))?;
        }
        let mut found = files(&out, "gz")?;
        found.extend(files(&out, "deb")?);
        let (debug, programs) = found.into_iter().partition(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.contains("-debug.") || name.contains("-dbgsym_")
        });
        Ok(Self {
            _folder: folder,
            programs,
            debug,
        })
    }
}

/// Unpacks a package, and returns the folder that contains `bin`.
fn unpacked(package: &Path, into: &Folder) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let is_debian = package.extension().is_some_and(|e| e == "deb");
    let process = match is_debian {
        true => Process::new("dpkg-deb")
            .arg("-x")
            .arg(package)
            .arg(into.path()),
        false => Process::new("tar")
            .arg("-xzf")
            .arg(package)
            .arg("-C")
            .arg(into.path()),
    };
    process.run()?.succeeded("unpacking")?;
    if is_debian {
        return Ok(into.join("usr"));
    }
    let inner = std::fs::read_dir(into.path())?
        .next()
        .ok_or("nothing in it")?;
    Ok(inner?.path())
}

#[test]
fn packages_are_small_and_complete_and_work_with_an_unwritable_home() -> Outcome {
    let packages = Packages::build()?;
    assert!(!packages.programs.is_empty());
    for package in &packages.programs {
        check_unpacked_command(package)?;
    }
    check_debug_archive(&packages)
}

fn check_unpacked_command(package: &Path) -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
    let folder = Folder::new("unpacked")?;
    let root = unpacked(package, &folder)?;
    let veneer = root.join("bin/veneer");
    // No user, including root, can create anything below a file.
    let home = folder.join("home");
    std::fs::write(&home, "")?;
    let at_home = |process: Process| {
        process
            .env("HOME", &text(&home))
            .env("VENEER_AGENT", "")
            .env("XDG_CACHE_HOME", "")
            .env("XDG_STATE_HOME", "")
    };
    let (plan, report) = (folder.join("p.rhai"), folder.join("r.json"));
    std::fs::write(
        &plan,
        "methods(\"Orders::handle(..)\").before(counter());\n",
    )?;
    let options = ["--plan", &text(&plan), "--report", &text(&report)];
    let java = at_home(programs.java("Orders").arg("live"));
    let mut live = Live::start(&java.clone().under_veneer(&veneer, &options))?;
    live.say("run")?;
    live.line("sum ")?;
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let hits: u64 = Report::read(&report)?.instruments[0]
        .points
        .iter()
        .map(|point| point.hits)
        .sum();
    assert_eq!(hits, 1000, "{}", package.display());
    // The agent can also be attached to a running JVM.
    let live = Live::start(&java)?;
    let output =
        at_home(Process::new(&veneer).args(["exec", &live.pid().to_string(), "-e", "pid()"]))
            .run()?
            .succeeded("veneer exec")?;
    assert_eq!(output.out.trim(), live.pid().to_string());
    for file in [
        "share/man/man1/veneer.1.gz",
        "share/man/man1/veneer-shell.1.gz",
        "share/bash-completion/completions/veneer",
        "share/zsh/vendor-completions/_veneer",
        "share/fish/vendor_completions.d/veneer.fish",
        "share/doc/veneer/copyright",
    ] {
        assert!(root.join(file).is_file(), "{file}: {}", package.display());
    }
    assert!(root.join("share/doc/veneer/plans").is_dir());
    Ok(())
}

/// The largest sizes of the installed programs in bytes.
const MAX_SIZES: [(&str, u64); 2] = [
    ("bin/veneer", 30 << 20),
    ("lib/veneer/libveneer_agent.so", 12 << 20),
];

/// The source file and line of each exported function of a program, as binutils finds them.
fn lines_of_exports(program: &Path) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let exports = Process::new("nm")
        .args(["--dynamic", "--defined-only"])
        .arg(program)
        .run()?
        .succeeded("nm")?;
    let addresses = exports
        .out
        .lines()
        .filter_map(|line| line.split(' ').next());
    let lines = Process::new("addr2line")
        .arg("--exe")
        .arg(program)
        .args(addresses)
        .run()?
        .succeeded("addr2line")?;
    Ok(lines.out.lines().map(str::to_string).collect())
}

/// The installed programs are small, and binutils find their line numbers in the debug archive.
fn check_debug_archive(packages: &Packages) -> Outcome {
    let is_archive = |file: &&PathBuf| file.extension().is_some_and(|e| e == "gz");
    let programs = packages.programs.iter().find(is_archive);
    let debug = packages.debug.iter().find(is_archive);
    let folder = Folder::new("unpacked")?;
    let root = unpacked(programs.ok_or("no archive")?, &folder)?;
    for (file, max) in MAX_SIZES {
        let size = std::fs::metadata(root.join(file))?.len();
        assert!(size <= max, "{file} has {size} bytes, more than {max}");
    }
    let agent = root.join("lib/veneer/libveneer_agent.so");
    let before = lines_of_exports(&agent)?;
    assert!(before.len() > 5, "{before:?}");
    assert!(
        before.iter().all(|place| place.starts_with("??")),
        "{before:?}"
    );
    let same = unpacked(debug.ok_or("no debug archive")?, &folder)?;
    assert_eq!(same, root);
    let after = lines_of_exports(&agent)?;
    assert!(
        after
            .iter()
            .any(|place| place.contains("executor/agent/src/")),
        "{after:?}"
    );
    Ok(())
}

#[test]
fn bash_completes_commands_options_and_values() -> Outcome {
    let folder = Folder::new("completions")?;
    let script = folder.join("veneer.bash");
    let made = veneer().args(["completions", "bash"]).run()?;
    std::fs::write(&script, made.succeeded("completions")?.out)?;
    for (words, expected) in [
        (&["sh"][..], &["shell"][..]),
        (&["run", "--chi"], &["--children"]),
        (
            &["run", "--policy", ""],
            &["block", "call", "loop", "method"],
        ),
        (&["completions", "ba"], &["bash"]),
    ] {
        // Does what bash does: it calls the function that `complete -F` names, with the words; the
        // last word is being typed.
        let code = "source \"$1\"; shift; COMP_WORDS=(veneer \"$@\"); COMP_CWORD=$#; \
                    f=$(complete -p veneer | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
                    \"$f\" veneer \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
                    printf '%s\\n' \"${COMPREPLY[@]}\" | sort";
        let output = Process::new("bash")
            .args(["--norc", "-c", code, "bash"])
            .arg(&script)
            .args(words)
            .run()?
            .succeeded("bash")?;
        let offered: Vec<&str> = output.out.lines().collect();
        assert_eq!(offered, expected, "{words:?}: {}", output.err);
    }
    // The other shells are tested only if they are installed.
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let made = veneer().args(["completions", shell]).run()?;
        let file = folder.join(shell);
        std::fs::write(&file, made.succeeded("completions")?.out)?;
        match Process::new(shell).arg(check).arg(&file).run() {
            Ok(output) => assert_eq!((output.code, output.err.as_str()), (0, "")),
            Err(_) => eprintln!("not checked: there is no {shell} here"),
        }
    }
    Ok(())
}

#[test]
fn each_command_has_a_manual_page_with_its_examples_verbatim() -> Outcome {
    let folder = Folder::new("man")?;
    veneer()
        .args(["man"])
        .arg(folder.join("man1"))
        .run()?
        .succeeded("veneer man")?;
    let help = veneer().arg("--help").run()?.succeeded("--help")?.out;
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        // A line with more blanks continues the description of the command above it.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut count = 0;
    for name in commands {
        let page = std::fs::read_to_string(folder.join(&format!("man1/veneer-{name}.1")))?;
        let (head, notes) = page.split_once(".nf\n").ok_or("no examples")?;
        assert!(head.contains(".SH NAME"), "{name}");
        assert!(notes.contains("veneer "), "{name}");
        count += 1;
    }
    assert!(count > 10, "{help}");
    let page = veneer().arg("man").run()?.succeeded("veneer man")?.out;
    assert!(page.contains(".TH veneer 1"), "{page}");
    Ok(())
}

/// The home directory of a user who has only the command.
#[test]
#[ignore = "builds the command and the agent again: many minutes"]
fn cargo_install_builds_a_command_that_contains_its_agent() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
    let folder = Folder::new("installed")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Process::new(cargo)
        .args(["install", "--locked", "--path", "console", "--root"])
        .arg(folder.path())
        .folder(&workspace())
        .limit(std::time::Duration::from_secs(3600))
        .run()?
        .succeeded("cargo install")?;
    check_standalone_command(&folder.join("bin/veneer"), &programs)
}

/// A command without its other files runs and attaches, even if the home directory is not writable.
fn check_standalone_command(command: &Path, programs: &Programs) -> Outcome {
    let folder = Folder::new("alone")?;
    let alone = folder.join("veneer");
    std::fs::copy(command, &alone)?;
    let cache = folder.join("cache");
    std::fs::write(folder.join("file"), "")?;
    for place in [text(&cache), text(&folder.join("file"))] {
        let here = |process: Process| {
            process
                .env("HOME", &place)
                .env("XDG_CACHE_HOME", &place)
                .env("VENEER_AGENT", "")
        };
        let java = here(programs.java("Orders").arg("live"));
        let live = Live::start(&java.clone().under_veneer(&alone, &[]))?;
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        let live = Live::start(&java)?;
        let pid = live.pid().to_string();
        let output = here(Process::new(&alone).args(["exec", &pid, "-e", "pid()"])).run()?;
        assert_eq!(output.succeeded("veneer exec")?.out.trim(), pid);
    }
    assert_eq!(files(&cache, "so")?.len(), 1);
    Ok(())
}
