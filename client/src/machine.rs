//! The JVMs of this machine, found in `/proc`. Nothing is sent to any of them.

use std::fs;
use std::time::Duration;

use crate::perfdata;
use crate::target::{Target, TargetError};

/// A process that is a JVM, or says so by its name.
#[derive(Debug)]
pub struct Jvm {
    /// Its process id here.
    pub pid: u32,
    /// The main class or the jar that it runs; the program's name where that is not known.
    pub main: String,
    /// How long it has been running, in seconds.
    pub seconds: Option<u64>,
    /// The way to it, or why there is none.
    pub target: Result<Target, TargetError>,
}

/// All JVMs, by their process ids. Those of other users are among them as far as the system shows that they are JVMs.
pub fn jvms() -> Vec<Jvm> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let name = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let pids = entries.filter_map(Result::ok).filter_map(name);
    let mut all: Vec<Jvm> = pids.filter_map(jvm).collect();
    all.sort_by_key(|jvm| jvm.pid);
    all
}

/// A process, if it is a JVM.
pub fn jvm(pid: u32) -> Option<Jvm> {
    let target = Target::inspect_within(pid, Duration::ZERO);
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match &target {
        Ok(_) | Err(TargetError::NotHotSpot(_) | TargetError::TooOld { .. }) => {}
        // What belongs to others can be told by its name only.
        Err(TargetError::Foreign { .. } | TargetError::Hidden { .. }) if name.trim() == "java" => {}
        Err(_) => return None,
    }
    let command = target.as_ref().ok().and_then(perfdata::command);
    let main = command.as_deref().and_then(main_of);
    let main = main.or_else(|| main_in(&fs::read(format!("/proc/{pid}/cmdline")).ok()?));
    Some(Jvm {
        pid,
        main: main.unwrap_or_else(|| name.trim().to_owned()),
        seconds: running_for(pid),
        target,
    })
}

/// The first word of `sun.rt.javaCommand`. A module comes before its main class, with `/`; a jar may lie anywhere.
fn main_of(command: &str) -> Option<String> {
    let whole = match command.find(".jar") {
        // Its path may have spaces.
        Some(end) if !command[..end].contains(char::is_whitespace) || command.starts_with('/') => {
            &command[..end + ".jar".len()]
        }
        _ => command.split_whitespace().next()?,
    };
    shortened(whole)
}

/// The main class in a command line: the first word that is no option of the launcher, nor what one of these takes.
fn main_in(line: &[u8]) -> Option<String> {
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut words = words.skip(1).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match &*word {
            "-jar" | "-m" | "--module" => return shortened(&words.next()?),
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
            main => return shortened(main),
        }
    }
    None
}

/// A jar by its file name, a class as it is.
fn shortened(main: &str) -> Option<String> {
    let name = match main.strip_suffix(".jar") {
        Some(_) => main.rsplit('/').next()?,
        None => main,
    };
    (!name.is_empty()).then(|| name.to_owned())
}

/// Seconds since its start, by the kernel's clock.
fn running_for(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may have anything in it.
    let (_, rest) = stat.rsplit_once(')')?;
    // Field 22 of `proc(5)`; the rest begins with field 3.
    let start: u64 = rest.split_whitespace().nth(22 - 3)?.parse().ok()?;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    // SAFETY: a plain system call.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let start = start / u64::try_from(ticks).ok().filter(|ticks| *ticks > 0)?;
    Some((uptime as u64).saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_class_is_found_among_options() {
        let line = |text: &str| main_in(text.replace(' ', "\0").as_bytes());
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
            assert_eq!(main_of(command).as_deref(), Some(main), "{command}");
        }
    }

    #[test]
    fn a_process_that_is_no_jvm_is_not_listed() {
        let own = std::process::id();
        assert!(jvm(own).is_none() && jvms().iter().all(|jvm| jvm.pid != own));
    }
}
