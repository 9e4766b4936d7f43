//! Settings of the JVM that the other parts do not use.

use crate::jdk::Jdk;
use crate::process::Process;

/// Options of the JVM that change how code is run, the memory layout of objects, or the available
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name in tables.
    pub name: &'static str,
    pub options: &'static [&'static str],
    /// Whether the options select another collector or another layout of objects.
    pub changes_objects: bool,
}

pub const DEFAULT: Setting = Setting {
    name: "default",
    options: &[],
    changes_objects: false,
};

/// The interpreter only.
pub const INTERPRETER: Setting = Setting {
    name: "-Xint",
    options: &["-Xint"],
    changes_objects: false,
};

/// The C1 compiler only.
pub const C1: Setting = Setting {
    name: "C1 only",
    options: &["-XX:TieredStopAtLevel=1"],
    changes_objects: false,
};

/// The C1 compiler only, with the profiling code that C1 emits before C2 takes over.
pub const PROFILED_C1: Setting = Setting {
    name: "C1 with profiling only",
    options: &["-XX:TieredStopAtLevel=3"],
    changes_objects: false,
};

/// All compilers, and a thread waits for each compilation that it causes. So the code that a thread
/// runs at a given time does not depend on the load of the machine.
pub const COMPILED_AT_ONCE: Setting = Setting {
    name: "-Xbatch",
    options: &["-Xbatch"],
    changes_objects: false,
};

/// All settings except the default.
pub const SETTINGS: &[Setting] = &[
    INTERPRETER,
    C1,
    Setting {
        name: "ZGC",
        options: &["-XX:+UseZGC"],
        changes_objects: true,
    },
    Setting {
        name: "Shenandoah",
        options: &["-XX:+UseShenandoahGC"],
        changes_objects: true,
    },
    Setting {
        name: "compact object headers",
        options: &["-XX:+UseCompactObjectHeaders"],
        changes_objects: true,
    },
    Setting {
        name: "code cache of 8 MB",
        options: &["-XX:ReservedCodeCacheSize=8m"],
        changes_objects: false,
    },
    Setting {
        name: "Metaspace of 32 MB",
        options: &["-XX:MaxMetaspaceSize=32m"],
        changes_objects: false,
    },
    Setting {
        name: "no class data sharing",
        options: &["-Xshare:off"],
        changes_objects: false,
    },
    Setting {
        name: "no compressed references",
        options: &["-XX:-UseCompressedOops"],
        changes_objects: true,
    },
];

impl Setting {
    /// Returns whether the JVM of this JDK starts with the options.
    pub fn is_known_to(&self, jdk: &Jdk) -> bool {
        let version = Process::new(jdk.tool("java"))
            .args(self.options)
            .arg("-version")
            .run();
        version.is_ok_and(|output| output.code == 0)
    }
}
