//! Random methods have the same results with and without Veneer, and Veneer's counts of their
//! blocks are exact.

use std::time::Duration;

use veneer_tests::command::veneer;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::random::RandomClass;
use veneer_tests::random::null_messages::unsafe_classes;
use veneer_tests::random::run::{Batch, MODES, Mode, Runner};

/// Number of classes with fixed seeds.
const FIXED_SEEDS: u64 = 40;

/// Seeds of the classes whose edited versions the checker proves.
const EDITED_SEEDS: std::ops::Range<u64> = 214_120..214_240;

/// Returns a seed that depends on the time, so that each run tries new classes.
fn new_seed() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    1_000_000 + time.map_or(0, |time| time.as_millis() as u64 % 1_000_000_000)
}

fn check(batch: &Batch, mode: Mode) -> Outcome {
    let outcome = batch.compare(mode)?;
    let first: Vec<&String> = outcome.differences.iter().take(20).collect();
    assert!(
        first.is_empty(),
        "{} differences, of seeds {:?} (VENEER_SEEDS=‹seed› runs one):\n{first:#?}\n{}",
        outcome.differences.len(),
        outcome.seeds,
        batch.command_line(mode),
    );
    if mode == Mode::Counted {
        assert!(outcome.compared > 500, "{outcome:?}");
    }
    Ok(())
}

fn on(jdk: Jdk) -> Outcome {
    let fresh = new_seed();
    eprintln!("{jdk}: the fresh seeds are {fresh}..{}", fresh + 20);
    let chosen = std::env::var("VENEER_SEEDS").ok();
    let seeds: Vec<u64> = match &chosen {
        Some(text) => text.split(',').map(str::parse).collect::<Result<_, _>>()?,
        None => (0..FIXED_SEEDS).chain(fresh..fresh + 20).collect(),
    };
    let classes: Vec<RandomClass> = seeds.into_iter().map(RandomClass::draw).collect();
    let runner = Runner::new(jdk)?;
    let batch = runner.batch(&classes)?;
    for mode in MODES {
        check(&batch, mode)?;
    }
    check(&batch, Mode::Storm(3000))
}

#[test]
fn random_methods_run_as_without_veneer() -> Outcome {
    jdk::for_this_test().into_iter().try_for_each(on)
}

/// A JVM must also accept the classes that the shrinker makes. Every third item of each method is
/// emptied.
#[test]
fn smaller_classes_run_too() -> Outcome {
    let mut classes = Vec::new();
    for seed in 0..FIXED_SEEDS {
        let whole = RandomClass::draw(seed);
        assert_eq!(whole.bytes(), RandomClass::draw(seed).bytes());
        let mut class = whole.clone();
        for method in 0..class.methods() {
            for item in (0..class.items(method)).step_by(3) {
                class = class.without(method, item).unwrap_or(class);
            }
        }
        assert!(class.weight() < whole.weight() || whole.weight() == 0);
        classes.push(class);
    }
    let runner = Runner::new(jdk::oldest())?;
    let batch = runner.batch(&classes)?;
    assert_eq!(batch.methods(), 7 * classes.len());
    Ok(())
}

/// The checker proves edited versions of random classes. Some of these classes have monitors in code
/// that no path reaches, or exchange equal values on the operand stack.
#[test]
fn the_checker_proves_edits_of_random_classes() -> Outcome {
    let folder = Folder::new("random-edits")?;
    for seed in EDITED_SEEDS {
        std::fs::write(
            folder.join(&format!("C{seed}.class")),
            RandomClass::draw(seed).bytes(),
        )?;
    }
    let output = veneer()
        .args(["check", "--policy", "call,block", "--edits"])
        .arg(folder.path())
        .limit(Duration::from_secs(600))
        .run()?;
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    Ok(())
}

/// The runner compares the null-pointer messages of at least a third of the classes. Others have a
/// method for which HotSpot cannot compute them.
#[test]
fn a_third_of_the_classes_print_null_messages() -> Outcome {
    const CLASSES: usize = 1000;
    let folder = Folder::new("null-messages")?;
    for seed in 0..CLASSES as u64 {
        std::fs::write(
            folder.join(&format!("C{seed}.class")),
            RandomClass::draw(seed).bytes(),
        )?;
    }
    let silent = unsafe_classes(folder.path(), CLASSES)?.len();
    eprintln!("{} of {CLASSES} classes print messages", CLASSES - silent);
    assert!((1..=CLASSES * 2 / 3).contains(&silent), "{silent}");
    Ok(())
}
