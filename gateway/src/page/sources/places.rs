//! The places of source texts: folders, jars and the sources of the JDK.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Component, Path, PathBuf};

use veneer_client::Target;
use zip::ZipArchive;

use crate::page::files::folder::Folder;

/// The folders of sources in a project.
const PROJECT_FOLDERS: [&str; 6] = [
    "",
    "src",
    "src/main/java",
    "src/main/kotlin",
    "src/test/java",
    "java",
];
/// The most bytes of a source file.
const MAX_TEXT_BYTES: u64 = 8 << 20;

/// The places in the order in which they are searched.
#[derive(Debug)]
pub struct Places {
    paths: Vec<PathBuf>,
}

/// A source text and its place.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundText {
    pub text: String,
    pub place: String,
}

impl Places {
    /// The places that the user gave, those beside the jars of a JVM, and the sources of its JDK.
    pub fn new(given: &[PathBuf], target: &Target) -> Places {
        let mut paths = given.to_vec();
        paths.extend(source_jars(target));
        paths.extend(jdk_sources(target));
        Places { paths }
    }

    /// The text of a source file by its path below a place, such as `shop/Desk.java`.
    pub fn text(&self, file: &str) -> Option<FoundText> {
        let is_below = |step| matches!(step, Component::Normal(_));
        if file.is_empty() || !Path::new(file).components().all(is_below) {
            return None;
        }
        self.paths.iter().find_map(|path| {
            let text = match path.is_dir() {
                true => in_folder(path, file),
                false => in_archive(path, file),
            };
            let place = path.display().to_string();
            text.map(|text| FoundText { text, place })
        })
    }
}

fn in_folder(path: &Path, file: &str) -> Option<String> {
    let folder = Folder::at(path, false).ok()?;
    let mut files = PROJECT_FOLDERS
        .iter()
        .map(|inner| folder.open(&Path::new(inner).join(file)));
    let file = files.find_map(Result::ok)?;
    read(file)
}

/// Reads a file of an archive. In that of the JDK, the folder of the module is before the path.
fn in_archive(path: &Path, file: &str) -> Option<String> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path).ok()?)).ok()?;
    let name = match archive.index_for_name(file) {
        Some(_) => file.to_owned(),
        None => {
            let end = format!("/{file}");
            let mut names = archive.file_names().flatten();
            names.find(|name| name.ends_with(&end))?.into_owned()
        }
    };
    read(archive.by_name(&name).ok()?)
}

fn read(from: impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    from.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The jars with sources beside the jars of the class path, as build tools download them.
fn source_jars(target: &Target) -> Vec<PathBuf> {
    let process = PathBuf::from(format!("/proc/{}", target.pid));
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).into_owned();
    let words: Vec<&str> = words.split('\0').collect();
    let folder = fs::read_link(process.join("cwd")).unwrap_or_default();
    let jars = class_path(&words).into_iter().filter_map(|jar| {
        let sources = jar.strip_suffix(".jar")?.to_owned() + "-sources.jar";
        Some(target.path_from_here(&folder.join(sources)))
    });
    jars.filter(|jar| jar.is_file()).collect()
}

/// The entries of the class path on a command line.
fn class_path<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    for pair in words.windows(2) {
        match pair {
            ["-cp" | "-classpath" | "--class-path", path] => found.extend(path.split(':')),
            ["-jar", jar] => found.push(*jar),
            _ => {}
        }
    }
    if let Some(path) = words
        .iter()
        .find_map(|word| word.strip_prefix("--class-path="))
    {
        found.extend(path.split(':'));
    }
    found
}

/// The sources of the JDK that runs the program, if they are installed.
fn jdk_sources(target: &Target) -> Option<PathBuf> {
    let java = fs::read_link(format!("/proc/{}/exe", target.pid)).ok()?;
    let home = java.parent()?.parent()?;
    let places = ["lib/src.zip", "src.zip"];
    let mut paths = places
        .iter()
        .map(|place| target.path_from_here(&home.join(place)));
    paths.find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    fn places(paths: &[&Path]) -> Places {
        Places {
            paths: paths.iter().map(|path| path.to_path_buf()).collect(),
        }
    }

    #[test]
    fn a_text_is_found_in_folders_and_archives() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        fs::create_dir_all(project.join("src/main/java/shop")).unwrap();
        fs::write(project.join("src/main/java/shop/Desk.java"), "desk").unwrap();
        let jar = place.path().join("src.zip");
        let mut archive = zip::ZipWriter::new(File::create(&jar).unwrap());
        archive
            .start_file(
                "java.base/java/lang/Object.java",
                SimpleFileOptions::default(),
            )
            .unwrap();
        archive.write_all(b"object").unwrap();
        archive.finish().unwrap();
        let broken = place.path().join("broken.jar");
        fs::write(&broken, "no archive").unwrap();
        let all = places(&[&place.path().join("none"), &broken, &project, &jar]);
        let text = |file: &str| all.text(file).map(|found| found.text);
        assert_eq!(text("shop/Desk.java").as_deref(), Some("desk"));
        assert_eq!(text("java/lang/Object.java").as_deref(), Some("object"));
        assert_eq!(text("shop/Other.java"), None);
        assert_eq!(text(""), None);
    }

    #[test]
    fn nothing_outside_of_a_folder_is_a_source() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("in");
        fs::create_dir(&inside).unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(place.path().join("secret"), inside.join("Link.java")).unwrap();
        let all = places(&[&inside]);
        for file in ["../secret", "Link.java", "/etc/passwd", "./../secret"] {
            assert_eq!(all.text(file), None, "{file}");
        }
    }

    #[test]
    fn the_class_path_is_read_from_the_command_line() {
        let words = [
            "java",
            "-cp",
            "a.jar:b",
            "--class-path=c.jar",
            "-jar",
            "d.jar",
            "x",
        ];
        assert_eq!(class_path(&words), ["a.jar", "b", "d.jar", "c.jar"]);
        assert!(class_path(&["-cp"]).is_empty());
    }
}
