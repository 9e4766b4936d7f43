//! `veneer lifetimes PID TYPE` and `veneer run --lifetimes`: the lifetimes of objects whose lives are known
//! by construction (`tests/java/lifetimes/Steps.java`). Numbers of objects and uses are compared exactly,
//! and deaths after forced collections.

use std::error::Error;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use veneer_tests::background::Background;
use veneer_tests::command::{json, run, veneer};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::Process;

/// The options of the JVM: each `System.gc()` is one collection, and no other one happens.
const HEAP: [&str; 4] = [
    "-XX:+UseSerialGC",
    "-Xmx512m",
    "-Xmn256m",
    "-XX:MetaspaceSize=128m",
];

fn steps(programs: &Programs, options: &[&str]) -> Process {
    programs
        .launcher()
        .args(options)
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Steps")
}

/// A recording of `Steps` in a running JVM.
struct Recorded {
    /// The JSON of the file.
    shown: Value,
}

impl Recorded {
    /// The histogram of a span in uses, as pairs of the beginning and the count, of all objects.
    fn span(&self, span: &str) -> Vec<(u64, u64)> {
        histogram(&self.shown["total"][span]["accesses"])
    }

    fn number(&self, field: &str) -> u64 {
        self.shown["total"][field].as_u64().unwrap_or(u64::MAX)
    }
}

fn histogram(shown: &Value) -> Vec<(u64, u64)> {
    let buckets = shown["histogram"].as_array().into_iter().flatten();
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    buckets
        .map(|bucket| (number(&bucket["from"]), number(&bucket["count"])))
        .collect()
}

/// Does the steps while the lifetimes of a type are recorded, and ends the recording with Ctrl-C.
fn record(
    live: &mut Live,
    options: &[&str],
    work: &[&str],
    file: &Path,
) -> Result<Recorded, Box<dyn Error>> {
    let pid = live.pid().to_string();
    let command = veneer()
        .args(["lifetimes", &pid])
        .args(options)
        .args(["--for", "300", "-o"])
        .arg(file);
    let mut recording = Background::start(&command)?;
    recording.wait_for("following the objects of")?;
    do_steps(live, work)?;
    assert_eq!(recording.signal(libc::SIGINT)?, Some(0));
    let shown = json(&["lifetimes", "show", &file.to_string_lossy(), "--json"])?;
    let patches = veneer().args(["patches", &pid]).run()?;
    let patches = patches.succeeded("veneer patches")?.out;
    assert!(!patches.contains("lifetimes"), "{patches}");
    Ok(Recorded { shown })
}

fn do_steps(live: &mut Live, work: &[&str]) -> Outcome {
    for step in work {
        live.say(step)?;
        live.line(&format!("done {step}"))?;
        if *step == "collect" {
            // The JVM tells of dead objects a moment after the collection.
            thread::sleep(Duration::from_millis(300));
        }
    }
    Ok(())
}

#[test]
fn lives_are_those_of_the_construction() -> Outcome {
    on_a_jdk_with("lifetimes", |programs| {
        let mut live = Live::start(&steps(programs, &HEAP))?;
        let file = programs.classes().join("a.vmem");
        let work = ["used", "collect", "kept", "drag", "collect", "forget"];
        let mut work = work.to_vec();
        work.push("collect");
        let found = record(&mut live, &["Node"], &work, &file)?;
        let counts = ["objects", "void", "alive"].map(|field| found.number(field));
        assert_eq!(counts, [78, 8, 0], "{:#}", found.shown);
        assert_eq!(found.span("used"), [(1, 5), (16, 64), (1024, 1)]);
        let drags = [
            (0, 10),
            (16, 1),
            (32, 2),
            (64, 4),
            (128, 8),
            (256, 16),
            (512, 32),
            (1024, 5),
        ];
        assert_eq!(found.span("drag"), drags);
        let survived = histogram(&found.shown["total"]["survived"]);
        assert_eq!(survived, [(0, 73), (1, 5)]);
        let rows = found.shown["rows"].as_array().into_iter().flatten();
        let sites = rows.map(|row| (row["objects"].as_u64(), row["site"].as_str()));
        let mut sites: Vec<(u64, &str)> = sites.filter_map(|(n, site)| n.zip(site)).collect();
        sites.sort_unstable();
        let methods = sites.iter().map(|(n, site)| {
            let (method, _) = site.rsplit_once(':').unwrap_or((site, ""));
            (*n, method)
        });
        let expected = [
            (1, "Steps::drag()V"),
            (1, "Steps::drag()V"),
            (4, "Steps::kept()V"),
            (8, "Steps::used()V"),
            (64, "Steps::used()V"),
        ];
        assert_eq!(methods.collect::<Vec<_>>(), expected);

        // A second recording begins anew, and objects that stay reachable are alive.
        let found = record(&mut live, &["Node"], &["kept", "collect"], &file)?;
        let counts = ["objects", "void", "alive"].map(|field| found.number(field));
        assert_eq!(counts, [4, 0, 4]);
        assert_eq!(found.span("used"), [(1, 4)]);
        assert_eq!(found.span("drag"), []);
        assert_eq!(histogram(&found.shown["total"]["survived"]), [(1, 4)]);
        live.stop()?;
        Ok(())
    })
}

#[test]
fn subclasses_threads_failures_and_reflection() -> Outcome {
    on_a_jdk_with("lifetimes", |programs| {
        let mut live = Live::start(&steps(programs, &HEAP))?;
        let file = programs.classes().join("b.vmem");
        // The classes must be loaded, so that their superclasses are known.
        do_steps(&mut live, &["shapes"])?;
        for (followed, objects, used) in [
            ("Shape+", 5, vec![(2, 3), (4, 2)]),
            ("Circle", 3, vec![(2, 3)]),
            ("Circle+", 5, vec![(2, 3), (4, 2)]),
            ("Ring", 2, vec![(4, 2)]),
            ("Shape", 0, vec![]),
        ] {
            let found = record(&mut live, &[followed], &["shapes"], &file)?;
            assert_eq!(found.number("objects"), objects, "{followed}");
            assert_eq!(found.span("used"), used, "{followed}");
        }
        let found = record(&mut live, &["Picky"], &["failing"], &file)?;
        assert_eq!((found.number("objects"), found.number("void")), (1, 1));
        let found = record(&mut live, &["Node"], &["threads"], &file)?;
        assert_eq!((found.number("objects"), found.number("void")), (4000, 0));
        let uses: u64 = found.span("used").iter().map(|(_, count)| count).sum();
        assert_eq!(uses, 4000);
        assert!(found.span("used").iter().all(|(from, _)| *from >= 2));
        let found = record(&mut live, &["Node"], &["reflection"], &file)?;
        let site = found.shown["rows"][0]["site"].as_str().unwrap_or_default();
        assert!(site.starts_with("Node::<init>(I)V:"), "{site}");
        // Only methods of `Node` are observed, so the places of `new` are not known.
        let options = ["Node", "--within", "Node"];
        let found = record(&mut live, &options, &["used"], &file)?;
        assert_eq!((found.number("objects"), found.number("void")), (72, 8));
        live.stop()?;
        Ok(())
    })
}

#[test]
fn objects_above_the_bound_are_counted() -> Outcome {
    on_a_jdk_with("lifetimes", |programs| {
        let mut live = Live::start(&steps(programs, &["-Xmx16m", "-XX:+UseSerialGC"]))?;
        let file = programs.classes().join("c.vmem");
        let found = record(&mut live, &["Node"], &["many"], &file)?;
        let note = found.shown["notes"][0].as_str().unwrap_or_default();
        let (count, rest) = note.split_once(' ').ok_or("no note")?;
        assert!(rest.starts_with("objects were not followed"), "{note}");
        let untracked: u64 = count.parse()?;
        assert!(untracked > 20_000, "{note}");
        assert_eq!(found.number("objects") + untracked, 40_000);
        live.stop()?;
        Ok(())
    })
}

#[test]
fn a_program_is_recorded_from_its_start() -> Outcome {
    on_a_jdk_with("lifetimes", |programs| {
        let file = programs.classes().join("d.vmem");
        let file = file.to_string_lossy();
        let options = ["--lifetimes", &*file, "--lifetimes-of", "Node"];
        let mut live = Live::start(&run(&options, &steps(programs, &HEAP)))?;
        do_steps(&mut live, &["used", "collect", "kept"])?;
        let output = live.stop()?.succeeded("veneer run")?;
        assert!(
            output.err.contains("76 objects of 3 allocation sites"),
            "{}",
            output.err
        );
        let shown = json(&["lifetimes", "show", &file, "--json"])?;
        let total = &shown["total"];
        assert_eq!(histogram(&total["used"]["accesses"]), [(1, 4), (16, 64)]);
        let counts = ["void", "alive"].map(|field| total[field].as_u64());
        assert_eq!(counts, [Some(8), Some(4)]);
        let text = veneer().args(["lifetimes", "show", &file]).run()?;
        let text = text.succeeded("veneer lifetimes show")?.out;
        assert!(
            text.lines()
                .nth(1)
                .is_some_and(|line| line.starts_with("allocated at"))
        );
        Ok(())
    })
}

#[test]
fn what_cannot_be_followed_is_said() -> Outcome {
    on_a_jdk_with("lifetimes", |programs| {
        let live = Live::start(&steps(programs, &HEAP))?;
        let pid = live.pid().to_string();
        for (followed, message) in [
            ("int[]", "arrays are not followed"),
            ("Node[]", "arrays are not followed"),
            ("int", "a primitive type has no objects"),
            ("Node::number()", "write a class such as"),
        ] {
            let output = veneer().args(["lifetimes", &pid, followed]).run()?;
            assert_eq!(output.code, 2, "{followed}");
            assert!(output.err.contains(message), "{}", output.err);
        }
        let options = ["lifetimes", &pid, "Nod", "--for", "0.5"];
        let output = veneer()
            .args(options)
            .run()?
            .succeeded("veneer lifetimes")?;
        let warning = "`Nod::<init>(..)` matches no method that is loaded now";
        assert!(output.err.contains(warning), "{}", output.err);
        assert!(output.out.contains("no object was born"), "{}", output.out);
        live.stop()?;
        Ok(())
    })
}
