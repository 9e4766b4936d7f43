//! Compiles the Java runtime classes of `java/` for Java 17, and writes what the crate embeds.
//!
//! | output in `OUT_DIR`     | content                                                            |
//! |-------------------------|--------------------------------------------------------------------|
//! | `VeneerLayout.java`     | the constants of `runtime_table.rs`, for the runtime classes       |
//! | `classes/`              | the compiled classes                                               |
//! | `runtime_classes.rs`    | an array with the internal name and the bytes of each class        |

#[path = "src/jvm/runtime_table.rs"]
mod runtime_table;

use runtime_table::{CLASSES, CONSTANTS, PACKAGE};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=java");
    println!("cargo:rerun-if-changed=src/jvm/runtime_table.rs");
    println!("cargo:rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let classes = out.join("classes");
    let _ = fs::remove_dir_all(&classes);
    let layout = out.join("VeneerLayout.java");
    fs::write(&layout, layout_source()).expect("OUT_DIR is writable");
    compile(&layout, &classes);
    let embedded = embedded_classes(&classes);
    fs::write(out.join("runtime_classes.rs"), embedded).expect("OUT_DIR is writable");
}

/// The source of `VeneerLayout`.
fn layout_source() -> String {
    let mut source = String::from(
        "package java.lang.invoke;\n\n/** Generated from runtime_table.rs. The JVM never loads this class. */\nfinal class VeneerLayout {\n    private VeneerLayout() {}\n",
    );
    for constant in CONSTANTS {
        let suffix = if constant.java_type == "long" {
            "L"
        } else {
            ""
        };
        source += &format!(
            "\n    /**{} */\n    static final {} {} = {}{suffix};\n",
            constant.doc, constant.java_type, constant.name, constant.value
        );
    }
    source + "}\n"
}

/// The source files: nested and anonymous classes are in the files of their outer classes.
fn sources() -> Vec<PathBuf> {
    let directory = Path::new("java").join(PACKAGE);
    let outer = CLASSES.iter().filter(|class| !class.name.contains('$'));
    outer
        .map(|class| directory.join(format!("{}.java", class.name)))
        .collect()
}

fn compile(layout: &Path, classes: &Path) {
    let javac = env::var_os("JAVA_HOME")
        .map(|home| Path::new(&home).join("bin/javac"))
        .filter(|javac| javac.exists())
        .unwrap_or_else(|| "javac".into());
    // JDK 17 accepts `--release 17` together with a patched module. With this option, newer JDKs
    // know only the public API of 17, so they compile against their own library for the same
    // version of class files.
    let attempts: [&[&str]; 2] = [
        &["--release", "17"],
        &["-source", "17", "-target", "17", "-Xlint:-options"],
    ];
    // Without this option `javac` writes each concatenation of strings as an `invokedynamic`. To
    // link one, the JVM loads classes of the JDK and runs the transformers of other agents, while
    // these may be inside the same linkage: the application then gets a `ClassCircularityError`.
    let inline_concatenation = "-XDstringConcat=inline";
    let mut errors = String::new();
    for options in attempts {
        let result = Command::new(&javac)
            .args(options)
            .arg(inline_concatenation)
            .args(["-g:source,lines", "--patch-module", "java.base=java", "-d"])
            .arg(classes)
            .args(sources())
            .arg(layout)
            .output();
        match result {
            Ok(done) if done.status.success() => return,
            Ok(done) => errors = String::from_utf8_lossy(&done.stderr).into_owned(),
            Err(e) => panic!(
                "cannot run {}: {e}; install a JDK 17 or newer, or set JAVA_HOME",
                javac.display()
            ),
        }
    }
    panic!("the runtime classes do not compile:\n{errors}");
}

/// The source of the array with the classes. Fails the build if `javac` made other classes than the
/// table lists, so that no class is missing in the JVM.
fn embedded_classes(classes: &Path) -> String {
    let directory = classes.join(PACKAGE);
    let made = fs::read_dir(&directory).expect("javac made the package");
    for file in made.flatten() {
        let name = file.file_name().to_string_lossy().replace(".class", "");
        let is_listed = CLASSES.iter().any(|class| class.name == name);
        assert!(
            is_listed || name == "VeneerLayout",
            "javac made {name}, which `runtime_table.rs` does not list"
        );
    }
    let mut source = String::from("[\n");
    for class in &CLASSES {
        let file = directory.join(format!("{}.class", class.name));
        assert!(file.exists(), "javac made no {}", class.name);
        let name = format!("{PACKAGE}{}", class.name);
        source += &format!("    ({name:?}, include_bytes!({file:?}).as_slice()),\n");
    }
    source + "]\n"
}
