//! Explanations of refusals, one line each.

/// Explains the refusal with this name. Returns an empty text for an unknown name.
pub fn explain(name: &str) -> &'static str {
    match name {
        "AnchorFailed" => {
            "the class that holds the cells could not be defined beside the armed one"
        }
        "BeforeSuper" => "stands before the call of super(…) or this(…), where no version begins",
        "BrokenClass" => "the class file breaks the format",
        "BrokenCode" => "the bytecode is not what javac and its like write",
        "CheckFailed" => "the checker found no proof that nothing but time changes",
        "CompileLimit" => "would pass 8,000 bytes, over which HotSpot compiles nothing",
        "InlineLimit" => {
            "would pass 325 bytes, over which HotSpot inlines nothing; armed where a plan names the method"
        }
        "Internal" => "a mistake in Veneer, please report it",
        "Intrinsic" => "the JIT compilers replace calls of the method by code of their own",
        "KnownByFrame" => "the JVM looks for the method by its own frame on the stack",
        "MethodTooLarge" => "would pass 65,535 bytes, the format's limit",
        "MonitorHeld" => "inside a synchronized block, which an activation cannot leave",
        "OldClassFile" => "a class file older than Java 7 that cannot be brought up to it",
        "PoolFull" => "the constant pool has no room for more",
        "SplitConstructor" => {
            "a constructor that calls super(…) or this(…) in several places, or never"
        }
        "TooManyLiveValues" => "more live values than a call can carry (255 words)",
        "TypesUnknown" => "the types of its variables cannot be followed",
        "UninitializedObject" => {
            "between `new` and the constructor's end, where no activation can leave"
        }
        "Unverifiable" => "the type checker could not show that the JVM accepts the changed class",
        "UnstructuredMonitors" => "monitors that are not entered and left in pairs",
        "VersionRejected" => "the JVM refused the version",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_fragmenter::Refusal;

    #[test]
    fn refusals_have_explanations() {
        for refusal in [
            Refusal::BeforeSuper,
            Refusal::CompileLimit(1, 2),
            Refusal::InlineLimit(1, 2),
            Refusal::MonitorHeld,
            Refusal::UninitializedObject,
            Refusal::TooManyLiveValues,
            Refusal::UnstructuredMonitors,
            Refusal::Unverifiable(String::new()),
            Refusal::PoolFull,
            Refusal::SplitConstructor,
        ] {
            assert_ne!(explain(refusal.name()), "", "{refusal:?}");
        }
    }
}
