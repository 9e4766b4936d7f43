//! Files that are written as a whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Writes a file under another name and renames it, so that a failure leaves the old file, and an
/// input can be the output.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    // Devices such as /dev/null and pipes are written in place.
    if path.exists() && !path.is_file() {
        let file = File::create(path).with_context(failed)?;
        let mut out = BufWriter::new(&file);
        write(&mut out)?;
        return out.flush().with_context(failed);
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let mut builder = tempfile::Builder::new();
    // The same rights as those of a file that is created in place.
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let file = builder.permissions(rights).tempfile_in(&folder);
    let file = file.with_context(failed)?;
    let mut out = BufWriter::new(file.as_file());
    write(&mut out)?;
    out.flush().with_context(failed)?;
    drop(out);
    file.persist(path).with_context(failed)?;
    Ok(())
}
