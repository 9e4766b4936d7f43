//! Runs the checker over the JDK's own classes. All armed classes and emitted versions must pass,
//! under each policy, with a counter on every fragment, with all kinds of advice, and with edits.

mod arming_support;
mod check_support;
mod classfile_support;

use check_support::{ProbeSet, Totals, check_all, policies};

fn everything(label: &str, include: &str, sparse: usize) {
    let mut totals = Totals::default();
    let mut n = 0;
    classfile_support::for_each_class(label, include, |path, bytes| {
        for (k, policy) in policies().iter().enumerate() {
            n += 1;
            // Only a part of the classes is tested under every policy.
            if n % sparse != 0 {
                continue;
            }
            let at = path.display().to_string();
            for probe_set in [
                ProbeSet::Nothing,
                ProbeSet::Counters,
                ProbeSet::Everything,
                ProbeSet::Edits,
                ProbeSet::Parts,
                ProbeSet::Receivers,
                ProbeSet::Constants,
                ProbeSet::Copies,
            ] {
                check_all(&mut totals, &at, bytes, policy, probe_set, (n + k) as u64);
            }
        }
    });
    totals.finish();
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
