//! Lists the JVMs of this machine. All data comes from `/proc` and the JVMs' performance counters;
//! nothing is sent to any process.

use std::fs;
use std::time::Duration;

use crate::perfdata;
use crate::process_stat;
use crate::target::{Target, TargetError};

/// A process that is a JVM. A process of another user counts as a JVM if its name is `java`.
#[derive(Debug)]
pub struct RunningJvm {
    /// The process id in the namespace of this process.
    pub pid: u32,
    /// The main class or the jar; the name of the executable if neither is known.
    pub main: String,
    /// The age of the process in seconds.
    pub seconds: Option<u64>,
    /// The inspected process, or the reason why this user cannot reach it.
    pub target: Result<Target, TargetError>,
}

/// All JVMs of this machine, sorted by process id. JVMs of other users are included if the system
/// reveals that they are JVMs.
pub fn running_jvms() -> Vec<RunningJvm> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let name = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let pids = entries.filter_map(Result::ok).filter_map(name);
    let mut all: Vec<RunningJvm> = pids.filter_map(find_jvm).collect();
    all.sort_by_key(|jvm| jvm.pid);
    all
}

/// The process with this id, if it is a JVM.
pub fn find_jvm(pid: u32) -> Option<RunningJvm> {
    let target = Target::inspect_within(pid, Duration::ZERO);
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match &target {
        Ok(_) | Err(TargetError::NotHotSpot(_) | TargetError::TooOld { .. }) => {}
        // `/proc` reveals only the name of a process of another user.
        Err(TargetError::Foreign { .. } | TargetError::Hidden { .. }) if name.trim() == "java" => {}
        Err(_) => return None,
    }
    let command = target.as_ref().ok().and_then(perfdata::command);
    let main = command.as_deref().and_then(main_of_java_command);
    let main =
        main.or_else(|| main_of_command_line(&fs::read(format!("/proc/{pid}/cmdline")).ok()?));
    Some(RunningJvm {
        pid,
        main: main.unwrap_or_else(|| name.trim().to_owned()),
        seconds: process_stat::age_seconds(pid),
        target,
    })
}

/// The main class or jar in a value of `sun.rt.javaCommand`: its first word, or the path of a jar,
/// which may contain spaces. The value `module/class` is returned as it is.
fn main_of_java_command(command: &str) -> Option<String> {
    let whole = match command.find(".jar") {
        // The path of the jar may contain spaces.
        Some(end) if !command[..end].contains(char::is_whitespace) || command.starts_with('/') => {
            &command[..end + ".jar".len()]
        }
        _ => command.split_whitespace().next()?,
    };
    short_name(whole)
}

/// The main class or jar in a command line of NUL-separated words: the first word that is neither
/// an option of the launcher nor the argument of such an option.
fn main_of_command_line(line: &[u8]) -> Option<String> {
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut words = words.skip(1).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match &*word {
            "-jar" | "-m" | "--module" => return short_name(&words.next()?),
            "-cp"
            | "-classpath"
            | "--class-path"
            | "-p"
            | "--module-path"
            | "--add-modules"
            | "--upgrade-module-path"
            | "--add-exports"
            | "--add-opens"
            | "--add-reads"
            | "--patch-module"
            | "--limit-modules" => {
                words.next()?;
            }
            option if option.starts_with('-') || option.starts_with('@') => {}
            main => return short_name(main),
        }
    }
    None
}

/// The file name of a jar; the name of a class unchanged.
fn short_name(main: &str) -> Option<String> {
    let name = match main.strip_suffix(".jar") {
        Some(_) => main.rsplit('/').next()?,
        None => main,
    };
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_class_is_found_among_options() {
        let line = |text: &str| main_of_command_line(text.replace(' ', "\0").as_bytes());
        for (text, main) in [
            ("java -Xmx1g -cp a:b shop.Main x y", "shop.Main"),
            (
                "/opt/jdk/bin/java @args -jar /srv/app.jar --port 1",
                "app.jar",
            ),
            ("java -p mods -m shop/shop.Main", "shop/shop.Main"),
            (
                "java --add-opens java.base/java.lang=ALL-UNNAMED Main",
                "Main",
            ),
        ] {
            assert_eq!(line(text).as_deref(), Some(main), "{text}");
        }
        assert_eq!(line("java -version"), None);
    }

    #[test]
    fn the_command_that_the_jvm_keeps_is_understood() {
        for (command, main) in [
            ("shop.Main a b", "shop.Main"),
            ("/srv/my apps/app.jar --port 1", "app.jar"),
            ("app.jar", "app.jar"),
            ("Main x.jar", "Main"),
        ] {
            assert_eq!(
                main_of_java_command(command).as_deref(),
                Some(main),
                "{command}"
            );
        }
    }

    #[test]
    fn a_process_that_is_no_jvm_is_not_listed() {
        let own = std::process::id();
        assert!(find_jvm(own).is_none() && running_jvms().iter().all(|jvm| jvm.pid != own));
    }
}
