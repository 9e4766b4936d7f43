//! Class files for the tests, extracted from the run-time images of the installed JDKs.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use veneer_fragmenter::classfile::{ClassFile, Code, ConstantPool, Member, VerificationType};
use veneer_names::{FieldKind, MethodDescriptor, Primitive};

/// Classes for the quick tests: collections, core classes, a module with large methods, and a
/// `module-info`.
pub const QUICK: &str = "regex:/java.base/java/util/.*,regex:/java.base/java/lang/.*,\
                         regex:/jdk.compiler/com/sun/tools/javac/parser/.*,regex:/[^/]*/module-info.class";

/// Selects every class of a JDK.
pub const ALL: &str = "regex:/.*[.]class";

/// Returns the homes of all installed JDKs without duplicates: `JAVA_HOME`, and those in
/// `/usr/lib/jvm`.
pub fn jdks() -> Vec<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let homes: BTreeSet<PathBuf> = named
        .into_iter()
        .chain(installed)
        .filter_map(|home| home.canonicalize().ok())
        .filter(|home| home.join("bin/jimage").exists() && home.join("lib/modules").exists())
        .collect();
    assert!(
        !homes.is_empty(),
        "no JDK with bin/jimage: set JAVA_HOME, or install one under /usr/lib/jvm"
    );
    homes.into_iter().collect()
}

/// Calls `check` with the path and bytes of each selected class of each JDK, and returns their
/// number. `include` is a list of `jimage` patterns.
pub fn for_each_class(label: &str, include: &str, mut check: impl FnMut(&Path, &[u8])) -> usize {
    let mut count = 0;
    for home in jdks() {
        let mut folders = vec![extracted(&home, label, include)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path
                    .extension()
                    .is_some_and(|extension| extension == "class")
                {
                    check(&path, &fs::read(&path).unwrap());
                    count += 1;
                }
            }
        }
    }
    assert!(
        count > 1000,
        "only {count} classes were found: the run-time image was not extracted as expected"
    );
    count
}

/// Returns the folder with the extracted classes, which an earlier run may have created.
fn extracted(home: &Path, label: &str, include: &str) -> PathBuf {
    let name = home.to_string_lossy().replace('/', "_");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("classes-{label}{name}"));
    if folder.exists() {
        return folder;
    }
    // Extract to a temporary folder and rename it, so that tests in parallel never see an
    // incomplete folder.
    let aside = folder.with_extension(format!(
        "{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let status = Command::new(home.join("bin/jimage"))
        .args(["extract", "--include", include, "--dir"])
        .args([&aside, &home.join("lib/modules")])
        .status()
        .unwrap();
    assert!(
        status.success(),
        "jimage extract failed for {}",
        home.display()
    );
    if fs::rename(&aside, &folder).is_err() {
        assert!(
            folder.exists(),
            "cannot rename {} to {}",
            aside.display(),
            folder.display()
        );
        fs::remove_dir_all(&aside).unwrap();
    }
    folder
}

/// Calls `check` for each method with code.
pub fn for_each_code(class: &ClassFile<'_>, mut check: impl FnMut(&Member<'_>, &Code<'_>)) {
    for method in &class.methods {
        if let Some(code) = method.code(&class.pool).unwrap() {
            check(method, &code);
        }
    }
}

/// Returns the locals at method entry (JVMS 4.10.1.6). Missing classes of parameters are added to
/// `pool`.
pub fn initial_locals(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    pool: &mut ConstantPool<'_>,
) -> Vec<VerificationType> {
    let descriptor = class.pool.text(method.descriptor).unwrap();
    let name = class.pool.utf8(method.name).unwrap();
    let mut locals = Vec::new();
    if method.access & 0x0008 == 0 {
        locals.push(match name {
            b"<init>" if class.super_class != 0 => VerificationType::UninitializedThis,
            _ => VerificationType::Object(class.this_class),
        });
    }
    for parameter in MethodDescriptor::parse(&descriptor).unwrap().parameters() {
        locals.push(match parameter.kind() {
            FieldKind::Primitive(Primitive::Long) => VerificationType::Long,
            FieldKind::Primitive(Primitive::Double) => VerificationType::Double,
            FieldKind::Primitive(Primitive::Float) => VerificationType::Float,
            FieldKind::Primitive(_) => VerificationType::Integer,
            FieldKind::Class(name) => VerificationType::Object(pool.add_class(name).unwrap()),
            FieldKind::Array(_) => {
                VerificationType::Object(pool.add_class(parameter.as_str()).unwrap())
            }
        });
    }
    locals
}

/// Returns the pc of each instruction (JVMS chapter 6), followed by the code's length.
pub fn instruction_starts(code: &[u8]) -> Vec<usize> {
    let word = |at: usize| i32::from_be_bytes(code[at..at + 4].try_into().unwrap());
    let mut starts = vec![0];
    let mut pc = 0;
    while pc < code.len() {
        let padded = (pc + 4) & !3;
        pc += match code[pc] {
            0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
            0x11
            | 0x13
            | 0x14
            | 0x84
            | 0x99..=0xa8
            | 0xb2..=0xb8
            | 0xbb
            | 0xbd
            | 0xc0
            | 0xc1
            | 0xc6
            | 0xc7 => 3,
            0xc5 => 4,
            0xb9 | 0xba | 0xc8 | 0xc9 => 5,
            0xc4 if code[pc + 1] == 0x84 => 6,
            0xc4 => 4,
            0xaa => padded - pc + 12 + 4 * (word(padded + 8) - word(padded + 4) + 1) as usize,
            0xab => padded - pc + 8 + 8 * word(padded + 4) as usize,
            _ => 1,
        };
        starts.push(pc);
    }
    assert_eq!(pc, code.len());
    starts
}
