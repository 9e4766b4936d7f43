//! The class cache, as users see it: a program runs equally with it, without it, and whatever has
//! happened to its folder.
//!
//! The program is `javac`, whose classes are armed. Its output is compared with that of a plain
//! `javac`. A run that takes every class from the cache adds no file to the folder.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use veneer_tests::command::{path, run, veneer};
use veneer_tests::folder::{Folder, differences, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, user};
use veneer_tests::process::{Output, Process, ProcessError, end_group};
use veneer_tests::sample_service::{handle_orders, stop_and_check};
use veneer_tests::skip::{Need, skip};

const SELECTION: [&str; 2] = ["--arm", "com.sun.tools.javac..*"];

/// A folder for the cache and for outputs of `javac`, and the output of a plain `javac`.
struct Scene<'p> {
    programs: &'p Programs,
    folder: Folder,
}

impl<'p> Scene<'p> {
    fn new(programs: &'p Programs) -> Result<Scene<'p>, Box<dyn std::error::Error>> {
        let scene = Scene {
            programs,
            folder: Folder::new("class-cache")?,
        };
        scene.javac("plain").run()?.succeeded("javac")?;
        Ok(scene)
    }

    /// The folder that the environment names; `veneer` below it is the cache folder.
    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn javac(&self, output: &str) -> Process {
        self.programs
            .launcher()
            // The cache does not depend on the compiler.
            .args([
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-m",
            ])
            .arg("jdk.compiler/com.sun.tools.javac.Main")
            .arg("-d")
            .arg(self.folder.join(output))
            .arg(workspace().join("tests/java/control/Desk.java"))
    }

    /// `javac` under Veneer.
    fn armed(&self, output: &str, options: &[&str]) -> Process {
        let options: Vec<&str> = options.iter().chain(&SELECTION).copied().collect();
        let home = self.home().display().to_string();
        run(&options, &self.javac(output)).env("XDG_CACHE_HOME", &home)
    }

    /// Compares an output with that of the plain `javac`. The run must have said nothing.
    fn check(&self, output: &str, run: Result<Output, ProcessError>) -> Outcome {
        let run = run?.succeeded(output)?;
        assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""), "{output}");
        let [plain, own] = ["plain", output].map(|name| self.folder.join(name));
        let (count, different) = differences(&plain, &own, "class")?;
        assert!(
            count >= 2 && different.is_empty(),
            "{output}: {different:?}"
        );
        Ok(())
    }

    fn run(&self, output: &str) -> Outcome {
        self.check(output, self.armed(output, &[]).run())
    }

    /// The names and the lengths of the files of the cache whose names end with `end`.
    fn files(&self, end: &str) -> Result<Vec<(PathBuf, u64)>, std::io::Error> {
        let mut files = Vec::new();
        let entries = match fs::read_dir(self.home().join("veneer")) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(end) {
                files.push((entry.path(), entry.metadata()?.len()));
            }
        }
        files.sort();
        Ok(files)
    }

    /// The only segment of the cache.
    fn segment(&self) -> Result<PathBuf, Box<dyn std::error::Error>> {
        let mut files = self.files(".classes")?;
        assert_eq!(files.len(), 1, "{files:?}");
        Ok(files.pop().ok_or("no segment")?.0)
    }
}

#[test]
fn a_second_start_takes_every_class_from_the_cache() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        scene.check("none", scene.armed("none", &["--no-cache"]).run())?;
        assert!(!scene.home().exists(), "--no-cache makes no folder");
        scene.run("cold")?;
        let first = scene.files("")?;
        let segment = scene.segment()?;
        assert!(segment.metadata()?.len() > 1 << 20, "{first:?}");
        assert_eq!(segment.metadata()?.mode() & 0o777, 0o600);
        assert_eq!(
            scene.home().join("veneer").metadata()?.mode() & 0o777,
            0o700
        );
        scene.run("warm")?;
        assert_eq!(scene.files("")?, first);
        // Another policy and a checked run need other results.
        scene.check("block", scene.armed("block", &["--policy", "block"]).run())?;
        assert_eq!(scene.files(".classes")?.len(), 2);
        let before = scene.files("")?;
        scene.check("checked", scene.armed("checked", &["--check"]).run())?;
        scene.check("warm2", scene.armed("warm2", &["--policy", "block"]).run())?;
        assert_eq!(scene.files("")?, before);
        let doctor = veneer()
            .arg("doctor")
            .env("XDG_CACHE_HOME", &scene.home().display().to_string())
            .run()?;
        assert!(
            doctor.out.contains("class cache: 2 files with "),
            "{}",
            doctor.out
        );
        Ok(())
    })
}

#[test]
fn counts_and_edits_of_cached_classes_are_exact_and_unloading_restores_them() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        let home = scene.home().display().to_string();
        for start in ["cold", "warm", "warm again"] {
            let armed = run(&[], &programs.java("Desk")).env("XDG_CACHE_HOME", &home);
            let mut live = Live::start(&armed)?;
            let points =
                live.value("methods(\"Desk::serve(..)\").blocks().before(counter()).id()")?;
            let loops = live.value("methods(\"Desk::round\").loops().before(counter()).id()")?;
            handle_orders(&mut live, 20)?;
            let hits = live.hits(&points)?;
            // Three rounds of the loop for each order: the header is passed four times.
            assert!(
                hits.iter().any(|(_, count)| *count == 80),
                "{start}: {hits:?}"
            );
            assert!(live.sum(&loops)? > 0, "{start}");
            let pid = live.pid().to_string();
            let unloaded = veneer()
                .args(["detach", &pid, "--unload", "--json"])
                .run()?;
            let unloaded = unloaded.succeeded("detach")?;
            assert!(
                !unloaded.out.contains("\"classes_restored\": 0"),
                "{}",
                unloaded.out
            );
            handle_orders(&mut live, 7)?;
            stop_and_check(live)?;
            assert_eq!(scene.files(".classes")?.len(), 1, "{start}");
        }
        Ok(())
    })
}

#[test]
fn two_jvms_start_at_once_on_an_empty_cache() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        std::thread::scope(|scope| -> Result<(), ProcessError> {
            let both = ["one", "two"].map(|name| {
                let process = scene.armed(name, &[]);
                (name, scope.spawn(move || process.run()))
            });
            for (name, thread) in both {
                let output = thread.join().expect("the thread runs a process only")?;
                output.succeeded(name)?;
            }
            Ok(())
        })?;
        for name in ["one", "two"] {
            let [plain, own] = ["plain", name].map(|name| scene.folder.join(name));
            assert!(differences(&plain, &own, "class")?.1.is_empty());
        }
        let before = scene.files("")?;
        assert!((1..=2).contains(&before.len()), "{before:?}");
        assert!(scene.files(".part")?.is_empty());
        scene.run("three")?;
        assert_eq!(scene.files("")?, before, "every class is in the cache");
        Ok(())
    })
}

#[test]
fn a_jvm_that_is_killed_while_it_writes_harms_no_later_one() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        let mut child = scene.armed("killed", &[]).start()?;
        let limit = Instant::now() + Duration::from_secs(60);
        // The first part of the segment is on the disk, and the JVM is about to write more.
        while scene.files(".part")?.iter().all(|(_, length)| *length == 0) {
            assert!(Instant::now() < limit, "the JVM has written nothing");
            assert!(
                scene.files(".classes")?.is_empty(),
                "the JVM has ended already"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        end_group(&mut child);
        let left = scene.files("")?;
        assert!(
            left.len() == 1 && left[0].0.to_string_lossy().ends_with(".part"),
            "{left:?}"
        );
        scene.run("cold")?;
        scene.segment()?;
        assert_eq!(scene.files(".part")?.len(), 1, "a young file is left alone");
        let file = File::options().write(true).open(&left[0].0)?;
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(120))?;
        drop(file);
        scene.run("warm")?;
        scene.check("block", scene.armed("block", &["--policy", "block"]).run())?;
        assert!(
            scene.files(".part")?.is_empty(),
            "the next writer deletes it"
        );
        Ok(())
    })
}

#[test]
fn a_damaged_segment_is_ignored_and_its_classes_are_armed_anew() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        scene.run("cold")?;
        let segment = scene.segment()?;
        let whole = fs::read(&segment)?;
        // Every 4,096th byte differs, so most classes are damaged, but not all, and not the index.
        let file = File::options().write(true).open(&segment)?;
        for at in (4096..whole.len() - 60_000).step_by(4096) {
            file.write_all_at(&[whole[at] ^ 0x55], at as u64)?;
        }
        scene.run("damaged")?;
        assert_eq!(
            scene.files(".classes")?.len(),
            2,
            "the damaged classes are stored anew"
        );
        let before = scene.files("")?;
        scene.run("repaired")?;
        assert_eq!(scene.files("")?, before);
        for (path, _) in scene.files(".classes")? {
            let length = path.metadata()?.len();
            File::options()
                .write(true)
                .open(&path)?
                .set_len(length / 2)?;
        }
        scene.run("truncated")?;
        assert_eq!(scene.files(".classes")?.len(), 3);
        Ok(())
    })
}

/// The segment of a running JVM is truncated. A mapped file would end the JVM (SIGBUS).
#[test]
fn a_segment_that_is_truncated_under_a_running_jvm_harms_it_not() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        let home = scene.home().display().to_string();
        let armed = run(&[], &programs.java("Desk")).env("XDG_CACHE_HOME", &home);
        stop_and_check(Live::start(&armed)?)?;
        let mut live = Live::start(&armed)?;
        handle_orders(&mut live, 3)?;
        File::options()
            .write(true)
            .open(scene.segment()?)?
            .set_len(30)?;
        let said = live.exec("methods(\"Desk::serve(..)\").before(counter()).id()")?;
        assert_eq!(said.code, 0, "{said:?}");
        handle_orders(&mut live, 3)?;
        let refusals = live.report()?.refusals;
        let is_told = refusals.iter().any(|r| r.detail.contains("class cache"));
        assert!(is_told, "{refusals:?}");
        let pid = live.pid().to_string();
        veneer()
            .args(["detach", &pid, "--unload"])
            .run()?
            .succeeded("detach")?;
        handle_orders(&mut live, 3)?;
        stop_and_check(live)
    })
}

/// Runs `javac` in a mount namespace of its own, after `mount`. Returns `None` without the right.
fn mounted(
    scene: &Scene,
    output: &str,
    mount: &str,
) -> Result<Option<Output>, Box<dyn std::error::Error>> {
    let cache = scene.home().join("veneer");
    fs::create_dir_all(&cache)?;
    let script = format!("D={}; {mount} || exit 77; exec \"$@\"", cache.display());
    let words = [
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        &script,
        "sh",
    ];
    let output = scene
        .armed(output, &[])
        .wrapped_in("unshare", &words)
        .run()?;
    if output.code == 77 {
        skip(Need::Mount)?;
        return Ok(None);
    }
    Ok(Some(output))
}

#[test]
fn a_full_disk_and_a_read_only_folder_cost_the_cache_only() -> Outcome {
    if user() != 0 {
        return Ok(skip(Need::Root("can mount a file system"))?);
    }
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        let mount = "mount -t tmpfs -o mode=700,size=400k veneer $D";
        let Some(output) = mounted(&scene, "full", mount)? else {
            return Ok(());
        };
        scene.check("full", Ok(output))?;
        let mount = "mount -t tmpfs -o mode=700,ro veneer $D";
        let Some(output) = mounted(&scene, "readonly", mount)? else {
            return Ok(());
        };
        scene.check("readonly", Ok(output))?;
        assert!(
            scene.files("")?.is_empty(),
            "everything was in the namespace"
        );
        // A filled cache is used from a read-only folder.
        scene.run("cold")?;
        let before = scene.files("")?;
        let mount = "mount --bind $D $D && mount -o remount,ro,bind $D";
        if let Some(output) = mounted(&scene, "warm", mount)? {
            scene.check("warm", Ok(output))?;
        }
        assert_eq!(scene.files("")?, before);
        Ok(())
    })
}

#[test]
fn users_do_not_share_a_cache() -> Outcome {
    if user() != 0 {
        return Ok(skip(Need::Root("can be two users"))?);
    }
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        scene.run("cold")?;
        let before = scene.files("")?;
        // The folder now belongs to somebody else, who has opened it to everybody.
        let cache = scene.home().join("veneer");
        chown(&cache, Some(47119), Some(47119))?;
        let doctor = |expected: &str| -> Outcome {
            let home = scene.home().display().to_string();
            let doctor = veneer().arg("doctor").env("XDG_CACHE_HOME", &home).run()?;
            assert!(doctor.out.contains(expected), "{}", doctor.out);
            Ok(())
        };
        fs::write(cache.join("bait"), "x")?;
        scene.run("other")?;
        doctor("belongs to user 47119, not to user 0")?;
        chown(&cache, Some(0), Some(0))?;
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o777))?;
        scene.run("open")?;
        doctor("other users may write to")?;
        fs::remove_file(cache.join("bait"))?;
        assert_eq!(
            scene.files("")?,
            before,
            "the refused folder was not written to"
        );
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o700))?;
        scene.run("warm")?;
        assert_eq!(scene.files("")?, before);
        Ok(())
    })
}

/// A copy of the agent with another build id, as another version of Veneer has.
fn other_build(folder: &Folder) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let library = path().with_file_name("libveneer_agent.so");
    let mut bytes = fs::read(library)?;
    // The note of the build id: lengths 4 and 20, type 3, owner `GNU`, and the id.
    let head = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let at = bytes.windows(head.len()).position(|window| window == head);
    let id = at.ok_or("the library has no build id")? + head.len();
    bytes[id] ^= 0xFF;
    let copy = folder.join("libveneer_agent.so");
    fs::write(&copy, bytes)?;
    Ok(copy)
}

#[test]
fn two_builds_of_veneer_use_one_folder() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        let other = other_build(&scene.folder)?.display().to_string();
        let with_other = |output| scene.armed(output, &[]).env("VENEER_AGENT", &other);
        let (one, two) = (scene.armed("one", &[]), with_other("two"));
        let second = std::thread::spawn(move || two.run());
        scene.check("one", one.run())?;
        scene.check("two", second.join().map_err(|_| "the thread has failed")?)?;
        let before = scene.files("")?;
        assert_eq!(before.len(), 2, "each build has its segment: {before:?}");
        let prefix = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.split('-').next().map(str::to_owned)
        };
        assert_ne!(prefix(&before[0].0), prefix(&before[1].0));
        scene.run("three")?;
        scene.check("four", with_other("four").run())?;
        assert_eq!(scene.files("")?, before);
        Ok(())
    })
}

#[test]
fn a_class_whose_bytes_differ_is_armed_anew() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let scene = Scene::new(programs)?;
        let home = scene.home().display().to_string();
        for (start, rounds) in [3, 5, 3, 4].into_iter().enumerate() {
            let source = format!(
                "public class Turns {{ public static void main(String[] a) {{ long n = 0; \
                 for (int i = 0; i < {rounds}; i++) {{ n += i; }} System.out.println(n); }} }}"
            );
            let classes = scene.folder.join(&format!("turns{start}"));
            fs::create_dir(&classes)?;
            let file = classes.join("Turns.java");
            fs::write(&file, source)?;
            programs.jdk().compile(&[file], &classes)?;
            let plan = classes.join("p.rhai");
            fs::write(
                &plan,
                "let c = methods(\"Turns::main\").loops().before(counter());\n\
                 fn at_exit() { print(instruments().map(|i| i.count)); }\n",
            )?;
            let java = programs.launcher().arg("-cp").arg(&classes).arg("Turns");
            let plan = plan.display().to_string();
            let armed = run(&["--plan", &plan], &java).env("XDG_CACHE_HOME", &home);
            let output = armed.run()?.succeeded("Turns")?;
            let sum = rounds * (rounds - 1) / 2;
            assert_eq!(output.out.trim(), sum.to_string());
            let segments = scene.files(".classes")?.len();
            // The third start finds the class of the first one.
            assert_eq!(segments, [1, 2, 2, 3][start], "start {start}");
        }
        Ok(())
    })
}
