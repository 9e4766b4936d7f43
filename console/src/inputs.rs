//! Reads class files from a single file, a jar, a directory, or a module of the JDK.
//!
//! The classes are read one by one, so that a jar of any size needs the memory of one class. If a
//! class cannot be read, the iterator yields an error for it and continues with the next class.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use thiserror::Error;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::java::{JavaError, Jdk, missing_tool};

/// Maximum size of a class file in bytes. Class files never reach this size, because no attribute
/// that the JVM knows is that large.
const MAX_CLASS_FILE_BYTES: u64 = 64 << 20;

/// Why a class cannot be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// A file or directory cannot be read.
    #[error("{path} cannot be read: {source}", path = .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// The file is neither a class file nor a jar.
    #[error("{0} is neither a class file nor a jar; give one of them, a directory, or jrt:/MODULE")]
    Unknown(PathBuf),
    #[error("the jar {path} is damaged: {source}", path = .path.display())]
    Jar {
        /// The jar, followed by the name of the entry if an entry is damaged.
        path: PathBuf,
        source: ZipError,
    },
    /// An entry or a file exceeds [`MAX_CLASS_FILE_BYTES`].
    #[error("{path} is larger than {MAX_CLASS_FILE_BYTES} bytes, which no class file is", path = .0.display())]
    TooLarge(PathBuf),
    /// There is no JDK that contains the module.
    #[error(transparent)]
    Java(#[from] JavaError),
    /// The JDK's tool failed.
    #[error("{0}")]
    Jimage(String),
    /// The JDK has no such module, or the module has no such class.
    #[error("the JDK in {home} has no {what}; `java --list-modules` shows its modules", home = .home.display())]
    NoModule {
        /// The JDK's home directory.
        home: PathBuf,
        /// The module and the class that the user named.
        what: String,
    },
    /// The directory or jar contains no class file.
    #[error("there is no class file in {0}")]
    Empty(PathBuf),
}

/// The name of a class according to its path (`a/b/C`, without `.class`), and its bytes.
pub type NamedClass = (String, Vec<u8>);

/// An iterator over classes.
pub type ClassIterator = Box<dyn Iterator<Item = Result<NamedClass, InputError>>>;

/// Returns all classes at this path, in a fixed order. If `only` is set (an internal name,
/// `a/b/C`), returns only classes whose path has that name. A single class file is always returned.
pub fn class_bytes(path: &Path, only: Option<&str>) -> Result<ClassIterator, InputError> {
    class_bytes_with_jdk(path, only, None)
}

/// Like [`class_bytes`], but reads modules from the JDK in the directory `home`. `None` means the
/// JDK of the environment.
pub fn class_bytes_with_jdk(
    path: &Path,
    only: Option<&str>,
    home: Option<&Path>,
) -> Result<ClassIterator, InputError> {
    if let Some(rest) = path.to_str().and_then(|text| text.strip_prefix("jrt:/")) {
        let jdk = home.map_or_else(Jdk::of_environment, Jdk::of_home)?;
        return module(&jdk, rest.trim_matches('/'), only);
    }
    let unreadable = |source| InputError::Unreadable {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(unreadable)?.is_dir() {
        return directory(path, only, None);
    }
    let mut magic = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(4).read_to_end(&mut magic).map_err(unreadable)?;
    match magic.as_slice() {
        [0xca, 0xfe, 0xba, 0xbe] => {
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let class = read(path).map(|bytes| (name, bytes));
            Ok(Box::new(std::iter::once(class)))
        }
        // `PK` at the beginning of an entry, or of the end record of an empty archive.
        [b'P', b'K', 3 | 5, 4 | 6] => jar(path, only),
        _ => Err(InputError::Unknown(path.to_owned())),
    }
}

/// Returns the name of a class according to its path in an archive or directory. `None` means that
/// the file is not a class file.
fn class_name(place: &str) -> Option<&str> {
    // Classes for one release in a multi-release jar: META-INF/versions/17/a/b/C.class.
    let place = match place.strip_prefix("META-INF/versions/") {
        Some(rest) => rest.split_once('/')?.1,
        None => place,
    };
    place.strip_suffix(".class")
}

fn wanted(place: &str, only: Option<&str>) -> bool {
    class_name(place).is_some_and(|name| only.is_none_or(|only| name == only))
}

fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    let unreadable = |source| InputError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    read_limited(file, path, unreadable)
}

fn read_limited(
    from: impl Read,
    path: &Path,
    failed: impl FnOnce(io::Error) -> InputError,
) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    from.take(MAX_CLASS_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_CLASS_FILE_BYTES {
        return Err(InputError::TooLarge(path.to_owned()));
    }
    Ok(bytes)
}

fn jar(path: &Path, only: Option<&str>) -> Result<ClassIterator, InputError> {
    let path = path.to_owned();
    let unreadable = |source| InputError::Unreadable {
        path: path.clone(),
        source,
    };
    let file = File::open(&path).map_err(unreadable)?;
    let mut archive =
        ZipArchive::new(io::BufReader::new(file)).map_err(|source| InputError::Jar {
            path: path.clone(),
            source,
        })?;
    let mut places = Vec::new();
    let mut damaged = Vec::new();
    for name in archive.file_names() {
        match name {
            Ok(place) if wanted(&place, only) => places.push(place.into_owned()),
            Ok(_) => {}
            Err(source) => damaged.push(Err(InputError::Jar {
                path: path.clone(),
                source,
            })),
        }
    }
    if places.is_empty() && damaged.is_empty() && only.is_none() {
        return Err(InputError::Empty(path));
    }
    places.sort();
    let classes = places.into_iter().map(move |place| {
        let entry_path = path.join(&place);
        let entry = archive.by_name(&place).map_err(|source| InputError::Jar {
            path: entry_path.clone(),
            source,
        })?;
        let bytes = read_limited(entry, &entry_path, |error| InputError::Jar {
            path: entry_path.clone(),
            source: error.into(),
        })?;
        Ok((class_name(&place).unwrap_or(&place).to_owned(), bytes))
    });
    Ok(Box::new(damaged.into_iter().chain(classes)))
}

/// Returns the class files below a directory. `owner` keeps a temporary directory until the last
/// class is read.
fn directory(
    root: &Path,
    only: Option<&str>,
    owner: Option<TempDir>,
) -> Result<ClassIterator, InputError> {
    let mut places = Vec::new();
    collect(root, root, only, &mut places)?;
    if places.is_empty() && only.is_none() {
        return Err(InputError::Empty(root.to_owned()));
    }
    places.sort();
    Ok(Box::new(places.into_iter().map(move |(name, path)| {
        let _alive = &owner;
        read(&path).map(|bytes| (name, bytes))
    })))
}

fn collect(
    root: &Path,
    at: &Path,
    only: Option<&str>,
    places: &mut Vec<(String, PathBuf)>,
) -> Result<(), InputError> {
    let unreadable = |source| InputError::Unreadable {
        path: at.to_owned(),
        source,
    };
    for entry in fs::read_dir(at).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // `file_type` is the type of the entry itself: links to directories are not followed, so
        // there are no cycles.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(root, &path, only, places)?;
            continue;
        }
        let place = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
        if path.is_file()
            && wanted(&place, only)
            && let Some(name) = class_name(&place)
        {
            places.push((name.to_owned(), path.clone()));
        }
    }
    Ok(())
}

/// Returns the classes of a module. The JDK's own tool `jimage` extracts them from the JDK's image.
fn module(jdk: &Jdk, name: &str, only: Option<&str>) -> Result<ClassIterator, InputError> {
    let no_module = || InputError::NoModule {
        home: jdk.home.clone(),
        what: match only {
            Some(class) => format!("class {class} in a module {name}"),
            None => format!("module {name}"),
        },
    };
    let sound = |text: &str| !text.is_empty() && !text.contains([',', '*', '?', '[', '{', '\\']);
    if !sound(name) || name.contains('/') || !only.is_none_or(sound) {
        return Err(no_module());
    }
    let target = tempfile::Builder::new()
        .prefix("veneer-jrt-")
        .tempdir()
        .map_err(|source| InputError::Unreadable {
            path: std::env::temp_dir(),
            source,
        })?;
    let jimage = jdk.tool("jimage");
    let include = match only {
        Some(class) => format!("glob:/{name}/{class}.class"),
        None => format!("glob:/{name}/**.class"),
    };
    let output = Command::new(&jimage)
        .args(["extract", "--include", &include, "--dir"])
        .arg(target.path())
        .arg(jdk.home.join("lib/modules"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| InputError::Jimage(missing_tool(&jimage, &error)))?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        return Err(InputError::Jimage(format!(
            "{} failed: {words}",
            jimage.display()
        )));
    }
    let root = target.path().join(name);
    if !root.is_dir() {
        return Err(no_module());
    }
    directory(&root, only, Some(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    const CLASS: &[u8] = &[0xca, 0xfe, 0xba, 0xbe, 1];

    fn names(classes: ClassIterator) -> Vec<String> {
        classes
            .map(|class| class.map(|(name, _)| name).unwrap())
            .collect()
    }

    #[test]
    fn a_directory_yields_its_classes_in_order() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        for place in ["a/b/D.class", "a/b/C.class", "a/b/C.java", "E.class"] {
            fs::write(root.path().join(place), CLASS).unwrap();
        }
        std::os::unix::fs::symlink("..", root.path().join("a/b/up")).unwrap();
        assert_eq!(
            names(class_bytes(root.path(), None).unwrap()),
            ["E", "a/b/C", "a/b/D"]
        );
        assert_eq!(
            names(class_bytes(root.path(), Some("a/b/D")).unwrap()),
            ["a/b/D"]
        );
        let single = root.path().join("a/b/C.class");
        let (name, bytes) = class_bytes(&single, None).unwrap().next().unwrap().unwrap();
        assert_eq!((name.as_str(), bytes.as_slice()), ("C", CLASS));
    }

    #[test]
    fn a_jar_yields_its_classes_or_reports_damage() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.jar");
        let mut jar = zip::ZipWriter::new(File::create(&path).unwrap());
        for place in [
            "a/C.class",
            "META-INF/MANIFEST.MF",
            "META-INF/versions/17/a/D.class",
            "a/B.class",
        ] {
            jar.start_file(place, SimpleFileOptions::default()).unwrap();
            jar.write_all(&CLASS.repeat(500)).unwrap();
        }
        jar.finish().unwrap();
        let classes: Vec<NamedClass> = class_bytes(&path, None)
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(
            classes.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(),
            ["a/D", "a/B", "a/C"]
        );
        assert!(classes.iter().all(|class| class.1 == CLASS.repeat(500)));
        assert_eq!(names(class_bytes(&path, Some("a/B")).unwrap()), ["a/B"]);

        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = class_bytes(&path, None).err().unwrap();
        assert!(matches!(error, InputError::Jar { .. }), "{error}");
    }

    #[test]
    fn other_things_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let error = |path: &Path| class_bytes(path, None).err().unwrap();
        assert!(matches!(error(root.path()), InputError::Empty(_)));
        assert!(matches!(
            error(&root.path().join("none")),
            InputError::Unreadable { .. }
        ));
        let text = root.path().join("a.txt");
        fs::write(&text, "text").unwrap();
        assert!(matches!(error(&text), InputError::Unknown(_)));
        for module in ["jrt:/", "jrt:/no.such.module", "jrt:/a,b", "jrt:/../x"] {
            let error = error(Path::new(module));
            assert!(
                matches!(error, InputError::NoModule { .. }),
                "{module}: {error}"
            );
        }
    }

    #[test]
    fn a_module_of_the_jdk_is_read() {
        let all = class_bytes(Path::new("jrt:/java.logging"), None).unwrap();
        let all: Vec<NamedClass> = all.collect::<Result<_, _>>().unwrap();
        assert!(all.len() > 50, "{}", all.len());
        assert!(all.iter().all(|class| class.1.starts_with(&CLASS[..4])));
        let one = class_bytes(Path::new("jrt:/java.base"), Some("java/util/ArrayList")).unwrap();
        assert_eq!(names(one), ["java/util/ArrayList"]);
    }
}
