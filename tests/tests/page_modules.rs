//! The modules of the page of `veneer serve`, without a browser: their types, their unit tests, and the
//! size of the page.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use veneer_tests::downloads::{node, npm};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::process::{Output, Process};
use veneer_tests::skip::skip;

/// The most bytes of the page, compressed.
const MAX_PAGE_BYTES: usize = 250 << 10;
/// The time limit of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(300);
/// Packages with types that the modules refer to.
const TYPED_PACKAGES: [&str; 4] = ["@types/node", "undici-types", "preact", "htm"];

/// Copies the sources of the page, so that packages can be put beside them.
fn copy_of_page(folder: &Path) -> std::io::Result<PathBuf> {
    let (from, to) = (workspace().join("gateway/page"), folder.join("page"));
    for part in ["", "lib", "views", "vendor", "test"] {
        fs::create_dir_all(to.join(part))?;
        for entry in fs::read_dir(from.join(part))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), to.join(part).join(entry.file_name()))?;
            }
        }
    }
    Ok(to)
}

fn check(process: Process, what: &str) -> Result<Output, Box<dyn std::error::Error>> {
    let output = process.limit(CHECK_TIMEOUT).run()?;
    match output.code {
        0 => Ok(output),
        _ => Err(format!("{what}:\n{}{}", output.out, output.err).into()),
    }
}

#[test]
fn the_types_of_all_modules_fit() -> Outcome {
    let folder = Folder::new("page-types")?;
    let page = copy_of_page(folder.path())?;
    let (node, compiler) = match (node()?, npm("typescript")?) {
        (Ok(node), Ok(compiler)) => (node, compiler),
        (Err(missing), _) | (_, Err(missing)) => return Ok(skip(missing)?),
    };
    for name in TYPED_PACKAGES {
        let package = match npm(name)? {
            Ok(package) => package,
            Err(missing) => return Ok(skip(missing)?),
        };
        let place = page.join("node_modules").join(name);
        fs::create_dir_all(place.parent().unwrap_or(&page))?;
        symlink(package, place)?;
    }
    let tsc = Process::new(node).arg(compiler.join("lib/tsc.js"));
    let tsc = tsc.args(["--project", "jsconfig.json", "--preserveSymlinks"]);
    check(tsc.folder(&page), "types")?;
    Ok(())
}

#[test]
fn the_unit_tests_of_the_page_pass() -> Outcome {
    let node = match node()? {
        Ok(node) => node,
        Err(missing) => return Ok(skip(missing)?),
    };
    let tests = Process::new(node).args(["--test", "test/"]);
    let output = check(
        tests.folder(&workspace().join("gateway/page")),
        "node --test",
    )?;
    assert!(output.out.contains("# fail 0"), "{}", output.out);
    Ok(())
}

#[test]
fn the_page_is_small() -> Outcome {
    let folder = Folder::new("page-size")?;
    let page = copy_of_page(folder.path())?;
    fs::remove_dir_all(page.join("test"))?;
    let archive = folder.join("page.tar.gz");
    let tar = Process::new("tar").args(["-czf"]).arg(&archive);
    check(tar.arg("-C").arg(&page).arg("."), "tar")?;
    let size = fs::metadata(&archive)?.len() as usize;
    assert!(size <= MAX_PAGE_BYTES, "{size} bytes");
    println!("the page has {size} bytes, compressed");
    Ok(())
}
