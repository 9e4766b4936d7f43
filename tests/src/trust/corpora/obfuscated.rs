//! Makes a jar that ProGuard has optimised and obfuscated: heavily overloaded short names, merged
//! interfaces, moved code.

use std::path::Path;
use std::time::Duration;

use crate::jars;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::TrustError;

/// The jars that are obfuscated.
const INPUT: [&str; 4] = [
    "commons-collections4",
    "commons-lang3",
    "commons-math3",
    "antlr4-runtime",
];

/// ProGuard and the jars that it needs.
const PROGUARD: [&str; 7] = [
    "proguard-base",
    "proguard-core",
    "kotlin-stdlib",
    "log4j-api",
    "log4j-core",
    "gson",
    "json",
];

const OPTIONS: &str = "\
-dontwarn **
-dontnote **
-ignorewarnings
-overloadaggressively
-repackageclasses ''
-allowaccessmodification
-mergeinterfacesaggressively
-optimizationpasses 2
-keep,allowobfuscation public class * { public protected *; }
";

/// Makes the jar.
pub fn make_jar(jdk: &Jdk, jar: &Path) -> Result<(), TrustError> {
    let mut options = String::new();
    for input in jars::jars(&INPUT)? {
        options += &format!(
            "-injars '{}'(!META-INF/**,!module-info.class)\n",
            input.display()
        );
    }
    options += &format!("-outjars '{}'\n", jar.display());
    options += &format!(
        "-libraryjars '{}'(!**.jar;!module-info.class)\n",
        jdk.home().join("jmods/java.base.jmod").display()
    );
    options += OPTIONS;
    let file = jar.with_extension("pro");
    std::fs::write(&file, options)?;
    let paths = std::env::join_paths(jars::jars(&PROGUARD)?)?;
    Process::new(jdk.tool("java"))
        .args(["-Xmx1g", "-cp"])
        .arg(paths)
        .arg("proguard.ProGuard")
        .arg(format!("@{}", file.display()))
        .limit(Duration::from_secs(600))
        .run()?
        .succeeded("ProGuard")?;
    Ok(())
}
