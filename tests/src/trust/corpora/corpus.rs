//! The corpora: modules of JDKs, and groups of jars.

use std::fmt;
use std::path::{Path, PathBuf};

use super::obfuscated;
use crate::folder::Folder;
use crate::jars;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::{Scope, TrustError};

/// Classes that are checked together.
pub struct Corpus {
    /// The name in tables.
    pub name: String,
    /// The JDK whose modules they are, or on which they are linked.
    pub jdk: Jdk,
    /// `jrt:/MODULE`, or paths of jars.
    pub sources: Vec<String>,
    /// Further jars that the classes need.
    pub needs: Vec<PathBuf>,
    /// The policy under which they are checked in addition to `block`.
    pub policy: &'static str,
    /// Makes the sources. `None` if they exist.
    pub make: Option<MakeSources>,
}

/// Makes a file with a JDK's tools.
pub type MakeSources = fn(&Jdk, &Path) -> Result<(), TrustError>;

/// Each corpus is checked under `block`, which has the most points, and under one of these policies
/// in turn.
const POLICIES: [&str; 3] = ["loop", "method", "call"];

impl fmt::Display for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Corpus {
    /// Returns whether these are classes of the JDK itself.
    pub fn is_jdk(&self) -> bool {
        self.sources.iter().any(|s| s.starts_with("jrt:/"))
    }

    /// Makes the sources if they do not exist.
    pub fn make_sources(&self) -> Result<(), TrustError> {
        let Some(make) = self.make else {
            return Ok(());
        };
        let made = self.sources.iter().map(Path::new);
        made.filter(|path| !path.exists())
            .try_for_each(|path| make(&self.jdk, path))
    }
}

/// Groups of jars: the name, the jars (as in `tests/jars.txt`), and further jars that are needed to
/// link them. The group that takes longest is the first, so that no processor is idle at the end.
const GROUPS: [(&str, &[&str], &[&str]); 15] = [
    (
        "Old: before Java 7",
        &[
            "log4j",
            "commons-collections",
            "commons-logging",
            "commons-lang",
            "xercesImpl",
            "xalan",
            "xalan-serializer",
            "xml-apis",
            "bsh",
            "antlr",
            "jython-slim",
        ],
        &[],
    ),
    ("H2", &["h2"], &[]),
    (
        "Lucene",
        &[
            "lucene-core",
            "lucene-analysis-common",
            "lucene-queryparser",
            "lucene-queries",
            "lucene-backward-codecs",
        ],
        &[],
    ),
    (
        "Guava, Jackson, ASM, Byte Buddy",
        &[
            "guava",
            "jackson-core",
            "jackson-annotations",
            "jackson-databind",
            "asm",
            "asm-tree",
            "asm-analysis",
            "asm-commons",
            "asm-util",
            "byte-buddy",
        ],
        &[],
    ),
    (
        "Spring",
        &[
            "spring-core",
            "spring-jcl",
            "spring-beans",
            "spring-context",
            "spring-aop",
            "spring-expression",
            "spring-web",
            "spring-webmvc",
            "spring-jdbc",
            "spring-tx",
            "spring-orm",
        ],
        &[
            "hibernate-core",
            "jakarta.persistence-api",
            "jackson-databind",
            "jackson-core",
        ],
    ),
    (
        "Netty",
        &[
            "netty-common",
            "netty-buffer",
            "netty-transport",
            "netty-resolver",
            "netty-codec",
            "netty-codec-http",
            "netty-codec-http2",
            "netty-handler",
            "netty-transport-native-unix-common",
        ],
        &[],
    ),
    (
        "Scala 2.13 and 3",
        &[
            "scala-library",
            "scala-reflect",
            "scala-compiler",
            "scala3-library",
        ],
        &[],
    ),
    (
        "Scala 2.10, BeanShell",
        &[
            "scala-library-2.10",
            "scala-reflect-2.10",
            "scala-compiler-2.10",
            "bsh",
        ],
        &[],
    ),
    (
        "Kotlin",
        &["kotlin-stdlib", "kotlin-reflect", "kotlinx-coroutines-core"],
        &[],
    ),
    (
        "Groovy",
        &[
            "groovy",
            "groovy-json",
            "groovy-xml",
            "groovy-sql",
            "groovy-templates",
            "groovy-datetime",
            "groovy-nio",
        ],
        &[],
    ),
    ("Clojure", &["clojure", "spec.alpha"], &[]),
    ("ECJ", &["ecj"], &[]),
    (
        "Hibernate",
        &[
            "hibernate-core",
            "hibernate-commons-annotations",
            "jakarta.persistence-api",
            "jakarta.transaction-api",
            "jboss-logging",
            "antlr4-runtime",
            "jandex",
            "classmate",
        ],
        &["byte-buddy"],
    ),
    (
        "Tomcat",
        &[
            "tomcat-embed-core",
            "tomcat-embed-el",
            "tomcat-embed-websocket",
            "tomcat-annotations-api",
        ],
        &[],
    ),
    (
        "Commons and others",
        &[
            "commons-lang3",
            "commons-collections4",
            "commons-math3",
            "commons-text",
            "commons-io",
            "commons-codec",
            "commons-compress",
            "rhino",
            "proguard-base",
            "proguard-core",
            "log4j-api",
            "log4j-core",
            "gson",
            "json",
        ],
        &["kotlin-stdlib"],
    ),
];

/// The corpora of the quick scope: one module, and three jars of different age from different
/// compilers.
const QUICK_MODULE: &str = "jdk.compiler";
const QUICK_JARS: [&str; 3] = ["commons-lang3", "kotlinx-coroutines-core", "bsh"];

/// Returns all corpora of this scope.
pub fn all(scope: &Scope, folder: &Folder) -> Result<Vec<Corpus>, TrustError> {
    let oldest = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let newest = scope.jdks.last().filter(|newest| *newest != oldest);
    let mut all = Vec::new();
    for jdk in [Some(oldest), newest].into_iter().flatten() {
        let modules = match scope.quick {
            true => vec![QUICK_MODULE.to_string()],
            false => modules(jdk)?,
        };
        all.push(Corpus {
            name: match scope.quick {
                true => format!("{jdk}, {QUICK_MODULE}"),
                false => jdk.to_string(),
            },
            jdk: jdk.clone(),
            sources: modules.iter().map(|m| format!("jrt:/{m}")).collect(),
            needs: Vec::new(),
            policy: POLICIES[0],
            make: None,
        });
    }
    let jars = |name: &str, sources: &[&str], needs: &[&str]| -> Result<Corpus, TrustError> {
        let sources = jars::jars(sources)?;
        Ok(Corpus {
            name: name.to_string(),
            jdk: oldest.clone(),
            sources: sources.iter().map(|p| p.display().to_string()).collect(),
            needs: jars::jars(needs)?,
            policy: POLICIES[0],
            make: None,
        })
    };
    if scope.quick {
        all.push(jars(
            &QUICK_JARS.join(", "),
            &QUICK_JARS,
            &["kotlin-stdlib"],
        )?);
        return Ok(all);
    }
    for (name, sources, needs) in GROUPS {
        all.push(jars(name, sources, needs)?);
    }
    // ProGuard takes over a minute in one thread. So the corpus is one of the first, which lets
    // other corpora be checked meanwhile.
    let obfuscated = Corpus {
        name: "Obfuscated by ProGuard".into(),
        jdk: oldest.clone(),
        sources: vec![folder.join("obfuscated.jar").display().to_string()],
        needs: Vec::new(),
        policy: POLICIES[0],
        make: Some(obfuscated::make_jar),
    };
    let after_jdks = all.iter().take_while(|corpus| corpus.is_jdk()).count();
    all.insert(after_jdks, obfuscated);
    for (corpus, policy) in all.iter_mut().zip(POLICIES.iter().cycle()) {
        corpus.policy = policy;
    }
    Ok(all)
}

/// Returns the names of a JDK's modules.
fn modules(jdk: &Jdk) -> Result<Vec<String>, TrustError> {
    let listed = Process::new(jdk.tool("java"))
        .arg("--list-modules")
        .run()?
        .succeeded("java --list-modules")?;
    let names = listed.out.lines().filter_map(|line| line.split('@').next());
    Ok(names
        .map(str::to_string)
        .filter(|m| !m.is_empty())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_jar_has_a_line() {
        for (_, sources, needs) in GROUPS {
            for name in sources.iter().chain(needs).chain(&QUICK_JARS) {
                assert!(jars::named(name).is_ok(), "{name}");
            }
        }
    }
}
