//! Generates a Java source tree for `javac`. Its size is a parameter, its content is always the
//! same, and it uses most features of the language.
//!
//! Each class `gen.pN.CK` has a method `static long run(int n)`, which calls that of the class
//! before it. So the tree is one program: `gen.Main` prints the result. The sources are made from
//! the templates in [`FORMS`]; the numbers in them depend on K.

use std::io;
use std::path::{Path, PathBuf};

use crate::folder::files;

/// Classes per package.
const CLASSES_PER_PACKAGE: usize = 25;

/// The templates. `@K@` is the number of the class, `@A@`, `@B@` and `@C@` are numbers that depend
/// on it, and `@PREVIOUS@` is the call of the class before.
const FORMS: [&str; 12] = [
    include_str!("../java/forms/generics.txt"),
    include_str!("../java/forms/lambdas.txt"),
    include_str!("../java/forms/switches.txt"),
    include_str!("../java/forms/records.txt"),
    include_str!("../java/forms/inner.txt"),
    include_str!("../java/forms/strings.txt"),
    include_str!("../java/forms/finally.txt"),
    include_str!("../java/forms/enums.txt"),
    include_str!("../java/forms/interfaces.txt"),
    include_str!("../java/forms/loops.txt"),
    include_str!("../java/forms/synchronized.txt"),
    include_str!("../java/forms/exceptions.txt"),
];

/// Writes a tree of `count` classes and their `gen.Main` into a folder, and returns the paths of
/// the source files.
pub fn generate(count: usize, into: &Path) -> io::Result<Vec<PathBuf>> {
    for number in 0..count {
        let folder = into.join(format!("gen/p{}", number / CLASSES_PER_PACKAGE));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("C{number}.java")), class(number))?;
    }
    let last = count.saturating_sub(1);
    let main = format!(
        "package gen;\n\n/** Runs all classes, from the last one down. */\npublic class Main {{\n    \
         public static void main(String[] args) {{\n        for (int n = 0; n < 5; n++) {{\n            \
         System.out.println(n + \" \" + gen.p{}.C{last}.run(n));\n        }}\n    }}\n}}\n",
        last / CLASSES_PER_PACKAGE
    );
    std::fs::create_dir_all(into.join("gen"))?;
    std::fs::write(into.join("gen/Main.java"), main)?;
    files(into, "java")
}

/// The source of one class.
fn class(number: usize) -> String {
    let form = FORMS[number % FORMS.len()];
    let previous = match number.checked_sub(1) {
        Some(before) => format!("gen.p{}.C{before}.run(n)", before / CLASSES_PER_PACKAGE),
        None => "n".to_string(),
    };
    // A few digits of a linear congruential sequence, so that two classes of one template differ.
    let vary = |salt: usize, bound: usize| (number * 7919 + salt * 104_729) / 13 % bound + 1;
    let text = form
        .replace("@K@", &number.to_string())
        .replace("@A@", &vary(1, 9).to_string())
        .replace("@B@", &vary(2, 90).to_string())
        .replace("@C@", &vary(3, 5000).to_string())
        .replace("@PREVIOUS@", &previous);
    format!("package gen.p{};\n\n{text}", number / CLASSES_PER_PACKAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn writes_the_same_tree_each_time() -> io::Result<()> {
        let (one, other) = (Folder::new("gen")?, Folder::new("gen")?);
        assert_eq!(generate(60, one.path())?.len(), 61);
        generate(60, other.path())?;
        let (count, lines) = crate::folder::differences(one.path(), other.path(), "java")?;
        assert_eq!((count, lines), (61, Vec::new()));
        Ok(())
    }

    #[test]
    fn every_placeholder_is_replaced() {
        for number in 0..FORMS.len() * 2 {
            let text = class(number);
            assert!(
                !["@K@", "@A@", "@B@", "@C@", "@PREVIOUS@"]
                    .iter()
                    .any(|gap| text.contains(gap))
            );
            assert!(text.contains(&format!("class C{number} ")), "{text}");
        }
    }
}
