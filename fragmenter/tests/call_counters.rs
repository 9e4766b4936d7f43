//! Counters of calls in the own code of methods: the type checker accepts all classes of the JDKs with
//! counters, their instructions follow each other as before, and the right places share a counter.

mod classfile_support;
mod javac_support;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::decode;
use veneer_fragmenter::call_counters::{self, CountedClass, Event};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::verify;

fn insert(file: &ClassFile) -> Result<CountedClass, Refusal> {
    call_counters::insert(file, &mut |_| Ok(7))
}

/// Whether the instructions of a method follow each other in its counted form. Others may be between
/// them.
fn keeps_instructions(original: &[u8], counted: &[u8]) -> bool {
    let (Ok(original), Ok(counted)) = (decode(original), decode(counted)) else {
        return false;
    };
    let mut rest = counted.iter().map(|(_, i)| i.op());
    original
        .iter()
        .all(|(_, wanted)| rest.any(|op| op == wanted.op()))
}

#[test]
fn the_type_checker_accepts_all_classes_with_counters() {
    let (mut places, mut shared) = (0, 0);
    let mut faults = Vec::new();
    let classes =
        classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
            let Ok(original) = ClassFile::parse(bytes) else {
                return;
            };
            let counted = match insert(&original) {
                Ok(counted) => counted,
                Err(reason) => return faults.push(format!("{}: {reason}", path.display())),
            };
            for method in &counted.methods {
                let internal = |reason: &&Refusal| {
                    matches!(reason, Refusal::Internal(_) | Refusal::BrokenCode(_))
                };
                if let Some(reason) = method.refusal.as_ref().filter(internal) {
                    faults.push(format!("{}: {}: {reason}", path.display(), method.name));
                }
                places += method.places.len();
                shared += method.places.iter().filter(|place| !place.has_code).count();
            }
            if counted.bytes.is_empty() {
                return;
            }
            let Ok(changed) = ClassFile::parse(&counted.bytes) else {
                return faults.push(format!("{}: cannot be read", path.display()));
            };
            if let Err(reason) = verify::guard::armed(&original, &changed) {
                faults.push(format!("{}: {reason}", path.display()));
            }
            for (before, after) in original.methods.iter().zip(&changed.methods) {
                let before = before.code(&original.pool).ok().flatten();
                let after = after.code(&changed.pool).ok().flatten();
                if let (Some(before), Some(after)) = (before, after)
                    && !keeps_instructions(&before.code, &after.code)
                {
                    faults.push(format!("{}: instructions differ", path.display()));
                }
            }
        });
    println!("{classes} classes, {places} places, {shared} of them share a counter");
    assert!(
        faults.is_empty(),
        "{}: {:#?}",
        faults.len(),
        &faults[..faults.len().min(10)]
    );
    assert!(shared * 20 > places, "{shared} of {places}");
}

const SOURCE: &str = "
    class Places {
        java.util.List<String> list;
        final int plain() { return 1; }
        int delegates() { return plain(); }
        int size() { return list.size(); }
        Object arrays(int n) { return n > 0 ? n > 1 ? new int[n] : new String[n][] : new long[n][n]; }
        Object make(int n) { if (n > 0) { plain(); } return new Object(); }
        void loop(int n) { while (n-- > 0) { plain(); } }
        String text(StringBuilder b, long x) { return b.append(x).append(\"a\").toString(); }
    }";

/// The places of a method, as `what:counter`; `*` marks the place that has the counter's code, and `r`
/// calls that are counted by their receiver.
fn places(class: &CountedClass, method: &str) -> Vec<String> {
    let found = class.methods.iter().find(|one| one.name == method);
    let places = found.map_or(&[][..], |one| &one.places);
    let text = |place: &call_counters::Place| {
        let what = match &place.event {
            Event::Entry => "entry".to_owned(),
            Event::New(class) => format!("new {class}"),
            Event::Call {
                target,
                by_receiver,
                ..
            } => format!("{}{}", target.name, if *by_receiver { " r" } else { "" }),
        };
        let mark = if place.has_code { "*" } else { "" };
        format!("{what}:{}{mark}", place.counter)
    };
    let first = places.iter().map(|place| place.counter).min().unwrap_or(0);
    let relative = |place: &call_counters::Place| call_counters::Place {
        counter: place.counter - first,
        ..place.clone()
    };
    places.iter().map(|place| text(&relative(place))).collect()
}

#[test]
fn places_share_a_counter_if_nothing_between_them_throws_or_jumps() {
    let sources = [("Places".to_owned(), SOURCE.to_owned())];
    let compiled = javac_support::compile(&sources);
    let bytes = &compiled["Places"][0];
    let file = ClassFile::parse(bytes).expect("a class file");
    let class = insert(&file).expect("counters");
    assert_eq!(places(&class, "plain"), ["entry:0*"]);
    assert_eq!(places(&class, "delegates"), ["entry:0*", "plain:0"]);
    // The field of `this` is read without an exception, but the call has a counter for its receiver.
    assert_eq!(places(&class, "size"), ["entry:0*", "size r:1*"]);
    assert_eq!(
        places(&class, "make"),
        [
            "entry:0*",
            "plain:1*",
            "new java.lang.Object:2*",
            "<init>:3*"
        ]
    );
    assert_eq!(
        places(&class, "arrays"),
        [
            "entry:0*",
            "new int[]:1*",
            "new java.lang.String[][]:2*",
            "new long[][]:3*"
        ]
    );
    assert_eq!(places(&class, "loop"), ["entry:0*", "plain:1*"]);
    assert_eq!(
        places(&class, "text"),
        ["entry:0*", "append:0", "append:1*", "toString:2*"]
    );
    assert_eq!(places(&class, "<init>"), ["entry:0*", "<init>:0"]);
}
