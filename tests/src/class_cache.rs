//! Compiled test programs in `target/test-classes`, by a hash of their sources and compiler.
//!
//! Most end-to-end tests need the same few folders of `tests/java`, for two JDKs. `javac` takes
//! seconds for each. With the cache, the first test that needs a folder compiles it, and all others
//! copy the class files.
//!
//! Tests may run at the same time. Each one compiles into a folder of its own, which then gets the
//! name of its hash in one step. So a folder with that name is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use crate::folder::workspace;

/// The folder of the class files for these inputs, whether it exists or not. `compiler` describes
/// the compiler and its options.
pub fn place(compiler: &[&str], sources: &[PathBuf]) -> io::Result<PathBuf> {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for word in compiler {
        add(word.as_bytes());
    }
    for source in sources {
        // The class files name the source file, without its folder.
        let name = source.file_name().unwrap_or_default();
        add(name.as_encoded_bytes());
        add(&fs::read(source)?);
    }
    let name: String = hash.finalize()[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace().join("target"), PathBuf::from);
    Ok(target.join("test-classes").join(name))
}

/// Copies the class files into a folder. Calls `compile` with an empty folder if the cache does not
/// have them.
pub fn fetch<E: From<io::Error>>(
    place: &Path,
    into: &Path,
    compile: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    if !place.is_dir() {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = place.with_extension(format!("{}-{number}.part", std::process::id()));
        // A killed process with the same id may have left a folder.
        let _ = fs::remove_dir_all(&own);
        fs::create_dir_all(&own)?;
        let compiled = compile(&own);
        // If another test has been faster, its folder has the same content.
        if compiled.is_err() || (fs::rename(&own, place).is_err() && place.is_dir()) {
            let _ = fs::remove_dir_all(&own);
        }
        compiled?;
    }
    copy_folder(place, into)?;
    Ok(())
}

fn copy_folder(from: &Path, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = into.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn the_place_depends_on_the_compiler_and_on_each_source() -> io::Result<()> {
        let folder = Folder::new("cache")?;
        let sources = [folder.join("A.java"), folder.join("B.java")];
        fs::write(&sources[0], "class A {}")?;
        fs::write(&sources[1], "class B {}")?;
        let first = place(&["javac 17", "-g"], &sources)?;
        assert_eq!(place(&["javac 17", "-g"], &sources)?, first);
        assert_ne!(place(&["javac 25", "-g"], &sources)?, first);
        assert_ne!(place(&["javac 17", "-g"], &sources[..1])?, first);
        fs::write(&sources[1], "class B { }")?;
        assert_ne!(place(&["javac 17", "-g"], &sources)?, first);
        Ok(())
    }

    #[test]
    fn only_the_first_use_compiles_and_a_failure_leaves_nothing() -> io::Result<()> {
        let folder = Folder::new("cache")?;
        let place = folder.join("cache/0123");
        let failed = fetch(&place, &folder.join("failed"), |own| {
            fs::write(own.join("Half.class"), "half")?;
            Err(io::Error::other("no compiler"))
        });
        assert!(failed.is_err() && !place.exists());
        assert_eq!(fs::read_dir(folder.join("cache"))?.count(), 0);
        for into in ["one", "two"] {
            let mut compiled = false;
            fetch(&place, &folder.join(into), |own| {
                compiled = true;
                fs::create_dir_all(own.join("a/b"))?;
                fs::write(own.join("a/b/C.class"), "code")
            })?;
            assert_eq!(compiled, into == "one");
            let copy = folder.join(into).join("a/b/C.class");
            assert_eq!(fs::read_to_string(copy)?, "code");
        }
        Ok(())
    }
}
