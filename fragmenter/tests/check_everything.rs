//! The checker over the JDK's own classes: everything that is armed and emitted passes, under each policy, with a counter on
//! every fragment, with all kinds of advice, and with edits.

mod arming_support;
mod check_support;
mod classfile_support;

use check_support::{Tally, Woven, check_all, policies};

fn everything(label: &str, include: &str, sparse: usize) {
    let mut tally = Tally::default();
    let mut n = 0;
    classfile_support::for_each_class(label, include, |path, bytes| {
        for (k, policy) in policies().iter().enumerate() {
            n += 1;
            // Every policy on some classes.
            if n % sparse != 0 {
                continue;
            }
            let at = path.display().to_string();
            for woven in [
                Woven::Nothing,
                Woven::Counters,
                Woven::Everything,
                Woven::Edits,
            ] {
                check_all(&mut tally, &at, bytes, policy, woven, (n + k) as u64);
            }
        }
    });
    tally.finish();
}

#[test]
fn a_part_of_the_jdk() {
    everything("quick", classfile_support::QUICK, 149);
}

#[test]
#[ignore = "takes minutes: all classes of java.base and jdk.compiler under each policy"]
fn java_base_and_jdk_compiler() {
    everything(
        "arming",
        "regex:/(java[.]base|jdk[.]compiler)/.*[.]class",
        1,
    );
}
