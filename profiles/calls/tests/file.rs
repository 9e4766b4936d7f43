//! Files that are damaged, cut, large or made by another version. `fuzz/corpus/calls` has files that
//! another program wrote after the description in `docs/calls.md`.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use veneer_calls::file::{self, Damage, Ending, ProfileWriter, ReadError, ReadResult};
use veneer_calls::{
    CallEdge, CallKind, CallProfile, Loader, LoaderId, Method, MethodForm, MethodId, MethodName,
    Site,
};

fn corpus(name: &str) -> Result<ReadResult, ReadError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/calls");
    let bytes = std::fs::read(folder.join(name)).expect("the corpus has the file");
    file::read(&bytes[..])
}

#[test]
fn a_file_of_another_program_is_understood() {
    let result = corpus("whole").expect("a header");
    assert_eq!(
        (result.ending, result.unknown_chunks),
        (Ending::Complete, 0)
    );
    let profile = result.profile;
    assert_eq!((profile.methods().len(), profile.edges().len()), (5, 4));
    let edge = &profile.edges()[0];
    assert_eq!(
        (edge.site, edge.kind, edge.count),
        (Site::at(5, 12), CallKind::Virtual, 1000)
    );
    assert_eq!(profile.edges()[3].kind, CallKind::Other);
    assert_eq!(profile.methods()[1].name.class, "shop.Größe$1");
    assert_eq!(profile.methods()[2].loader, LoaderId(1));
    assert_eq!(profile.methods()[4].form, MethodForm::Overflow);
    assert_eq!((profile.contexts().len(), profile.threads().len()), (6, 2));
    assert_eq!(profile.allocations()[0].type_name, "int[]");
    assert_eq!(profile.unseen().len(), 1);
}

#[test]
fn records_that_were_appended_are_added() {
    let result = corpus("appended").expect("a header");
    assert_eq!(result.ending, Ending::Complete);
    let profile = result.profile;
    assert_eq!(profile.edges()[0].count, 2000);
    assert_eq!(profile.methods()[1].entries, Some(2006));
    assert_eq!(profile.allocations()[0].count, 2006);
}

#[test]
fn each_kind_of_damage_is_named() {
    let ending = |name: &str| corpus(name).expect("a header").ending;
    assert!(matches!(ending("cut"), Ending::Cut { .. }));
    for (name, expected) in [
        ("damaged", Damage::Checksum),
        ("after-end", Damage::AfterEnd),
        ("wrong-count", Damage::Count),
        ("unknown-caller", Damage::Record),
        ("too-long", Damage::TooLong),
    ] {
        assert!(
            matches!(ending(name), Ending::Damaged { damage, .. } if damage == expected),
            "{name}: {:?}",
            ending(name)
        );
    }
    let other = file::read(&b"\x7fELF and more bytes of a program"[..]);
    assert!(matches!(other, Err(ReadError::OtherFormat)));
    assert!(matches!(file::read(&b""[..]), Err(ReadError::OtherFormat)));
}

#[test]
fn newer_files_are_refused_or_read_as_far_as_they_are_understood() {
    let error = corpus("newer").expect_err("version 2");
    assert!(
        error
            .to_string()
            .contains("has version 2, and this veneer reads version 1"),
        "{error}"
    );
    let result = corpus("newer-minor").expect("version 1.7");
    assert_eq!(
        (result.ending, result.unknown_chunks),
        (Ending::Complete, 1)
    );
    assert_eq!(result.profile.loaders().len(), 2);
}

/// A writer that is never finished, as in a process that is killed.
#[test]
fn flushed_records_survive_a_killed_process() {
    let mut bytes = Vec::new();
    let mut writer = ProfileWriter::new(&mut bytes).expect("written");
    let loader = Loader {
        name: "app".into(),
        number: 1,
    };
    writer.loader(&loader).expect("written");
    writer.method(&method(0)).expect("written");
    writer.flush().expect("written");
    writer.edge(&edge(0, 0, 5)).expect("written");
    writer.flush().expect("written");
    writer.edge(&edge(0, 0, 7)).expect("written");
    drop(writer);
    let result = file::read(&bytes[..]).expect("a header");
    assert_eq!(
        result.ending,
        Ending::Cut {
            at: bytes.len() as u64
        }
    );
    assert_eq!(result.profile.edges()[0].count, 5);
}

fn method(number: u32) -> Method {
    Method {
        loader: LoaderId(0),
        name: MethodName::new(
            &format!("a.C{}", number / 50),
            &format!("m{number}"),
            "(I)V",
        ),
        form: MethodForm::Bytecode,
        code_bytes: Some(10),
        entries: Some(1),
    }
}

fn edge(caller: u32, callee: u32, count: u64) -> CallEdge {
    CallEdge {
        caller: MethodId(caller),
        site: Site::at((callee % 100) as u16, 7),
        callee: MethodId(callee),
        kind: CallKind::Static,
        count,
    }
}

#[test]
fn a_million_edges_are_read_from_a_pipe() {
    const METHODS: u32 = 50_000;
    let mut profile = CallProfile::new();
    profile.add_loader(&Loader {
        name: "app".into(),
        number: 1,
    });
    for number in 0..METHODS {
        profile.add_method(method(number));
    }
    for caller in 0..METHODS {
        for step in 1..=20 {
            let edge = edge(caller, (caller + step * 37) % METHODS, u64::from(step));
            profile.add_calls(edge.caller, edge.site, edge.callee, edge.kind, edge.count);
        }
    }
    assert_eq!(profile.edges().len(), 1_000_000);
    let bytes = file::write(&profile, Vec::new()).expect("written");
    // 20 bytes for each edge are the bound for a file that is mailed around.
    assert!(bytes.len() < 20_000_000, "{}", bytes.len());
    let start = Instant::now();
    let result = file::read(Pieces(&bytes)).expect("a header");
    println!("{} bytes read in {:?}", bytes.len(), start.elapsed());
    assert_eq!(result.ending, Ending::Complete);
    assert_eq!(result.profile.edges(), profile.edges());
}

/// A stream that returns odd pieces, as a pipe does.
struct Pieces<'b>(&'b [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(self.0.len()).min(4_093);
        let (now, later) = self.0.split_at(length);
        into[..length].copy_from_slice(now);
        self.0 = later;
        Ok(length)
    }
}
