//! The agent library that a JVM has loaded before. The JVM never unloads a library, so the agent that
//! has left a JVM (`veneer detach --unload`) starts again from the same file.
//!
//! A JVM takes one build of the agent: the classes of the agent have the same names in each build.

use std::fs;
use std::path::{Path, PathBuf};

use crate::target::Target;

/// The beginning of the file names of agent libraries.
const NAME_BEGIN: &str = "libveneer_agent";
/// The text that the kernel appends to the path of a mapped file that was removed or replaced.
const DELETED: &str = " (deleted)";

/// The library for a JVM.
#[derive(Debug, PartialEq, Eq)]
pub enum LibraryChoice {
    /// The library at this path, in the file system of the JVM.
    Load(PathBuf),
    /// Nothing: the JVM has another build, from this path.
    OtherBuild(PathBuf),
}

/// Chooses the library to load. `wanted` is the library of this command, in the file system of the
/// JVM. A copy of it that the JVM has loaded already is chosen instead.
pub fn choose(target: &Target, wanted: PathBuf) -> LibraryChoice {
    let maps = fs::read_to_string(format!("/proc/{}/maps", target.pid)).unwrap_or_default();
    let content = |path: &Path| fs::read(target.path_from_here(path)).ok();
    choose_among(&maps, wanted, &content)
}

fn choose_among(
    maps: &str,
    wanted: PathBuf,
    content: &dyn Fn(&Path) -> Option<Vec<u8>>,
) -> LibraryChoice {
    let Some(mapped) = mapped_library(maps) else {
        return LibraryChoice::Load(wanted);
    };
    let Some(deleted) = mapped.strip_suffix(DELETED) else {
        let path = PathBuf::from(mapped);
        let is_same = path == wanted || content(&path).is_some_and(|c| Some(c) == content(&wanted));
        return match is_same {
            true => LibraryChoice::Load(path),
            false => LibraryChoice::OtherBuild(path),
        };
    };
    LibraryChoice::OtherBuild(PathBuf::from(deleted))
}

/// The path of the agent library in a memory map, with the note of the kernel if the file is gone.
fn mapped_library(maps: &str) -> Option<&str> {
    maps.lines().find_map(|line| {
        let path = line.get(line.find('/')?..)?;
        let name = path.rsplit('/').next()?;
        name.starts_with(NAME_BEGIN).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(mapped: &str, wanted: &str) -> LibraryChoice {
        let maps = format!(
            "7f00-7f01 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6\n\
             7f02-7f03 r--p 00000000 fe:00 13 {mapped}\n\
             7f04-7f05 rw-p 00000000 00:00 0\n"
        );
        let content = |path: &Path| match path.to_str()? {
            "/old/libveneer_agent.so" => Some(vec![1]),
            "/new/libveneer_agent.so" | "/home/me/a b/libveneer_agent-12.so" => Some(vec![2]),
            _ => None,
        };
        choose_among(&maps, wanted.into(), &content)
    }

    #[test]
    fn a_jvm_without_an_agent_or_with_the_same_file_loads_the_wanted_library() {
        for mapped in [
            "/usr/lib/libz.so",
            "/new/libveneer_agent.so",
            "/gone/libveneer_agent.so",
        ] {
            let wanted = match mapped {
                "/gone/libveneer_agent.so" => mapped,
                _ => "/new/libveneer_agent.so",
            };
            assert_eq!(
                choice(mapped, wanted),
                LibraryChoice::Load(wanted.into()),
                "{mapped}"
            );
        }
    }

    #[test]
    fn a_copy_of_the_wanted_library_that_is_loaded_is_loaded_again() {
        let copy = "/home/me/a b/libveneer_agent-12.so";
        assert_eq!(
            choice(copy, "/new/libveneer_agent.so"),
            LibraryChoice::Load(copy.into())
        );
    }

    #[test]
    fn another_build_cannot_follow() {
        for mapped in [
            "/old/libveneer_agent.so",
            "/new/libveneer_agent.so (deleted)",
        ] {
            let path = mapped.trim_end_matches(DELETED);
            let found = choice(mapped, "/new/libveneer_agent.so");
            assert_eq!(found, LibraryChoice::OtherBuild(path.into()), "{mapped}");
        }
    }
}
