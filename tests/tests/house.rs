//! The rules of the house, checked on this workspace.

use veneer_tests::folder::workspace;
use veneer_tests::house::{functions, imports, lock_files, prose, sources, text_errors};
use veneer_tests::java_programs::Outcome;

/// Functions that are one table or one case analysis, by file and name.
const TABLES: [(&str, &str); 2] = [
    ("fragmenter/src/bytecode/instruction.rs", "decode_one"),
    ("fragmenter/src/bytecode/opcode.rs", "mnemonic"),
];

#[test]
fn comments_and_documents_follow_the_rules_that_a_script_can_check() -> Outcome {
    let found = prose::check(&workspace())?;
    let all = [&found.openings, &found.short_docs, &found.long_lines];
    let lines: Vec<String> = all.into_iter().flatten().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
    assert!(found.readme_lines <= prose::MAX_README_LINES);
    Ok(())
}

#[test]
fn no_crate_has_an_import_cycle_of_files() -> Outcome {
    for folder in sources::crates(&workspace())? {
        let cycles = imports::cycles(&folder)?;
        assert!(cycles.is_empty(), "{}: {cycles:#?}", folder.display());
    }
    Ok(())
}

#[test]
fn no_function_is_too_long() -> Outcome {
    let is_table = |f: &functions::Function| {
        TABLES
            .iter()
            .any(|(file, name)| f.file.ends_with(file) && f.name == *name)
    };
    let long: Vec<_> = functions::all(&workspace())?
        .into_iter()
        .filter(|f| f.lines > functions::MAX_LINES && !is_table(f))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
    Ok(())
}

#[test]
fn no_function_is_called_just_of() -> Outcome {
    let functions = functions::all(&workspace())?;
    let found: Vec<_> = functions.iter().filter(|f| f.name == "of").collect();
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}

#[test]
fn no_error_is_a_text() -> Outcome {
    let found = text_errors::all(&workspace())?;
    assert!(found.is_empty(), "Result<_, String>: {found:#?}");
    Ok(())
}

#[test]
fn the_lock_file_of_the_fuzz_targets_has_all_dependencies() -> Outcome {
    let found = lock_files::missing(&workspace().join("fuzz/Cargo.toml"))?;
    assert!(
        found.is_empty(),
        "`cargo metadata --manifest-path fuzz/Cargo.toml` mends fuzz/Cargo.lock: {found:#?}"
    );
    Ok(())
}
