//! Call sites and allocation sites, as the agent names them in the field `what` of a row.
//!
//! ```text
//!   invokevirtual shop.Desk::serve(Lshop/Order;)V @67      a call
//!   invokedynamic run(Lshop/Desk;)Ljava/lang/Runnable; @9  a call whose target the text does not say
//!   new shop.Order @12                                     an allocation
//! ```

use veneer_calls::CallKind;
use veneer_names::MethodRef;

/// A call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite<'t> {
    pub kind: CallKind,
    /// The class (with dots) that the instruction names; empty for `invokedynamic`.
    pub class: &'t str,
    /// Name and descriptor: `serve(Lshop/Order;)V`.
    pub method: &'t str,
    /// The bytecode index of the instruction in the original method.
    pub bci: u16,
}

/// An allocation site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationSite<'t> {
    /// The allocated type: `shop.Order`, `int[]`.
    pub type_name: &'t str,
    /// The bytecode index of the instruction in the original method.
    pub bci: u16,
}

impl<'t> CallSite<'t> {
    /// Reads a call site. `None` if the text is none.
    pub fn parse(what: &'t str) -> Option<CallSite<'t>> {
        let (text, bci) = split_index(what)?;
        let (mnemonic, target) = text.split_once(' ')?;
        let kind = match mnemonic {
            "invokestatic" => CallKind::Static,
            "invokespecial" => CallKind::Special,
            "invokevirtual" => CallKind::Virtual,
            "invokeinterface" => CallKind::Interface,
            "invokedynamic" => CallKind::Dynamic,
            _ => return None,
        };
        let (class, method) = match kind {
            CallKind::Dynamic => ("", target),
            // Names of classes may contain `::`. The method begins behind the last `::` before its
            // descriptor.
            _ => {
                let (names, _) = target.split_once('(')?;
                let at = names.rfind("::")?;
                (target.get(..at)?, target.get(at + "::".len()..)?)
            }
        };
        MethodRef::parse(method).ok()?;
        Some(CallSite {
            kind,
            class,
            method,
            bci,
        })
    }
}

impl<'t> AllocationSite<'t> {
    /// Reads an allocation site. `None` if the text is none.
    pub fn parse(what: &'t str) -> Option<AllocationSite<'t>> {
        let (text, bci) = split_index(what)?;
        let type_name = text.strip_prefix("new ")?;
        Some(AllocationSite { type_name, bci })
    }
}

/// The text before ` @`, and the bytecode index behind it.
fn split_index(what: &str) -> Option<(&str, u16)> {
    let (text, index) = what.rsplit_once(" @")?;
    Some((text, index.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(what: &str) -> Option<(CallKind, &str, &str, u16)> {
        let site = CallSite::parse(what)?;
        Some((site.kind, site.class, site.method, site.bci))
    }

    #[test]
    fn calls_are_read_as_the_agent_writes_them() {
        for (what, expected) in [
            (
                "invokevirtual shop.Desk::serve(Lshop/Order;)V @67",
                (CallKind::Virtual, "shop.Desk", "serve(Lshop/Order;)V", 67),
            ),
            (
                "invokespecial a.B$C::<init>()V @1",
                (CallKind::Special, "a.B$C", "<init>()V", 1),
            ),
            (
                "invokedynamic run(I)Ljava/lang/Runnable; @84",
                (CallKind::Dynamic, "", "run(I)Ljava/lang/Runnable;", 84),
            ),
            (
                "invokestatic a.odd::name::m()I @0",
                (CallKind::Static, "a.odd::name", "m()I", 0),
            ),
            (
                "invokeinterface a.spaced name::m @b()I @9",
                (CallKind::Interface, "a.spaced name", "m @b()I", 9),
            ),
        ] {
            assert_eq!(call(what), Some(expected), "{what}");
        }
        for what in [
            "",
            "call a.B::m @3",
            "invokevirtual a.B::m()I",
            "invokevirtual a.B::m()I @65536",
            "invokevirtual a.B::m @3",
            "invokevirtual a.B.m()I @3",
            "invokedynamic a @3",
        ] {
            assert_eq!(call(what), None, "{what}");
        }
    }

    #[test]
    fn allocations_are_read_as_the_agent_writes_them() {
        let parsed = |what| AllocationSite::parse(what).map(|site| (site.type_name, site.bci));
        assert_eq!(parsed("new shop.Order @12"), Some(("shop.Order", 12)));
        assert_eq!(parsed("new int[] @0"), Some(("int[]", 0)));
        assert_eq!(parsed("newarray @0"), None);
        assert_eq!(parsed("new int[]"), None);
    }
}
