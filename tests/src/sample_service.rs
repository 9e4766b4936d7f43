//! Sample services. `Desk` of `tests/java/control` has one thread that handles orders on request, and
//! another one that runs a loop and counts its iterations. The shop of `examples/shop` has planted
//! faults.

use crate::folder::{Folder, workspace};
use crate::jars::jar;
use crate::jdk::Jdk;
use crate::live::{Live, LiveError, number};
use crate::process::{Output, Process};

/// The sum that the program prints after `count` orders.
pub fn expected_sum(count: i64) -> String {
    (3 * count * (count - 1) / 2).to_string()
}

/// Lets the program handle `count` orders.
///
/// # Errors
/// Fails also if the program prints another sum than [`expected_sum`].
pub fn handle_orders(live: &mut Live, count: i64) -> Result<(), LiveError> {
    live.say(&format!("run {count}"))?;
    let sum = live.line("sum ")?;
    if sum != expected_sum(count) {
        return Err(LiveError::Answer(format!("{sum} for {count} orders")));
    }
    Ok(())
}

/// Stops the program and checks its last line.
///
/// # Errors
/// Fails also in these cases:
///
/// * The program's other thread lost or repeated an iteration: `twice` is not twice `turns`.
/// * Standard error has a line other than the JVM's warnings about agents, or standard output has a
///   warning of the JVM.
pub fn stop_and_check(live: Live) -> Result<(), Box<dyn std::error::Error>> {
    let Output { out, err, .. } = live.stop()?.succeeded("Desk")?;
    let last = out.lines().last().unwrap_or_default();
    let turns = number(last, "turns").ok_or("no turns")?;
    if turns <= 0 || number(last, "twice") != Some(2 * turns) {
        return Err(last.into());
    }
    // The JVM's own warnings are lines of the standard output.
    let jvm_warnings = out.lines().filter(|line| line.contains("[warning]"));
    let printed = |line: &&str| !line.starts_with("WARNING: ") && !line.is_empty();
    let said: Vec<&str> = err.lines().filter(printed).chain(jvm_warnings).collect();
    match said.is_empty() {
        true => Ok(()),
        false => Err(said.join("\n").into()),
    }
}

/// Starts the service of `examples/shop` without the agent, with a database in its memory.
pub fn shop_service(jdk: &Jdk, classes: &Folder) -> Result<Live, Box<dyn std::error::Error>> {
    let shop = workspace().join("examples/shop");
    let sources = ["Service.java", "Shop.java"].map(|source| shop.join(source));
    jdk.compile(&sources, classes.path())?;
    let path = std::env::join_paths([classes.path(), &jar("h2")?])?;
    let java = Process::new(jdk.tool("java"))
        .args(["-Xmx128m", "-cp"])
        .arg(path)
        .args(["shop.Service", "jdbc:h2:mem:shop"]);
    Ok(Live::start(&java)?)
}
