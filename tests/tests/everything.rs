//! Every class of JDK modules, armed by every policy and with a version of every method, passes the JVM's verifier.
//!
//! The quick test takes the compiler's module by one policy; the long one (`cargo test -- --ignored everything`) takes
//! more modules and all policies.

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::jdk;
use veneer_tests::process::Process;
use veneer_tests::report::Report;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Refusals that say something about the method, not about a mistake of ours.
const NAMED: [&str; 6] = [
    "OnCellPath",
    "MonitorHeld",
    "BeforeSuper",
    "CompileLimit",
    "InlineLimit",
    "UninitializedObject",
];

fn verified(modules: &[&str], policies: &[&str], at_least: u64) -> Outcome {
    for jdk in [Some(jdk::oldest()), jdk::newest()].into_iter().flatten() {
        let folder = Folder::new("everything")?;
        let source = workspace().join("tests/java/everything/LoadAll.java");
        jdk.compile(&[source], folder.path())?;
        let java = Process::new(jdk.tool("java"))
            .args(["-Xmx3g", "-XX:+UnlockDiagnosticVMOptions"])
            .args([
                "-XX:+BytecodeVerificationLocal",
                "-XX:+BytecodeVerificationRemote",
            ])
            .arg("-cp")
            .arg(folder.path())
            .arg("LoadAll")
            .args(modules)
            .limit(std::time::Duration::from_secs(900));
        let plain = java.run()?.succeeded("LoadAll")?;
        let (plan, report) = (folder.join("plan.rhai"), folder.join("report.json"));
        std::fs::write(
            &plan,
            "methods(\"*..*::*(..)\").blocks().before(counter());\n",
        )?;
        let (plan, file) = (plan.to_string_lossy(), report.to_string_lossy());
        for policy in policies {
            let options = [
                "--arm", "*..*", "--policy", policy, "--plan", &plan, "--report", &file,
            ];
            let output = run(&options, &java).run()?;
            assert_eq!(
                (output.code, &output.out),
                (plain.code, &plain.out),
                "{jdk} {policy}: {}",
                output.err
            );
            let report = Report::read(&report)?;
            let ours: Vec<_> = report
                .refusals
                .iter()
                .filter(|r| !NAMED.contains(&r.reason.as_str()))
                .collect();
            assert!(ours.is_empty(), "{jdk} {policy}: {ours:?}");
            let points: usize = report.instruments.iter().map(|i| i.points.len()).sum();
            assert!(
                points as u64 >= at_least,
                "{jdk} {policy}: only {points} points"
            );
        }
    }
    Ok(())
}

#[test]
fn every_version_of_the_compilers_methods_verifies() -> Outcome {
    verified(&["jdk.compiler"], &["loop"], 50_000)
}

#[test]
#[ignore = "takes many minutes: `cargo test -p veneer-tests --test everything -- --ignored`"]
fn every_version_of_many_modules_verifies_under_every_policy() -> Outcome {
    let modules = [
        "java.base",
        "jdk.compiler",
        "java.xml",
        "java.desktop",
        "java.sql",
        "jdk.jshell",
        "java.net.http",
    ];
    verified(&modules, &["method", "loop", "call", "block"], 100_000)
}
