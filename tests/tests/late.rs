//! Timers of activations that began before the timer was attached: they report a lower bound, in a
//! row of their own.

use std::thread::sleep;
use std::time::{Duration, Instant};

use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk};
use veneer_tests::live::{Live, LiveError};

/// A plan that prints the rows of a late timer: name, count, and total, minimum and maximum in
/// nanoseconds.
const ATTACH: &str = r#"
    let took = methods("Late::turns(..)").around(timer().late());
    at_exit(|| for row in took.rows() {
        print(`row ${if row.what == () { "whole" } else { row.what }}; ${row.count}; ${row.total_ns}; ${row.min_ns}; ${row.max_ns}`);
    });
"#;

struct Row {
    count: u64,
    total: Duration,
    least: Duration,
    greatest: Duration,
}

fn row(err: &str, what: &str) -> Option<Row> {
    let start = format!("row {what}; ");
    let line = err.lines().find_map(|line| line.strip_prefix(&*start))?;
    let numbers: Vec<u64> = line.split("; ").filter_map(|n| n.parse().ok()).collect();
    let [count, total, least, greatest] = numbers[..] else {
        return None;
    };
    let [total, least, greatest] = [total, least, greatest].map(Duration::from_nanos);
    Some(Row {
        count,
        total,
        least,
        greatest,
    })
}

fn say(live: &mut Live, line: &str, answer: &str) -> Result<String, LiveError> {
    live.say(line)?;
    live.line(answer)
}

fn started(programs: &Programs, checked: bool) -> Result<Live, LiveError> {
    let options: &[&str] = if checked { &["--check"] } else { &[] };
    Live::start(&run(options, &programs.java("Late")))
}

#[test]
fn a_late_timer_measures_earlier_activations_from_its_attachment() -> Outcome {
    on_a_jdk(|programs| {
        for kind in ["spin", "wait", "fail"] {
            let mut live = started(programs, kind == "spin")?;
            // Attach once before, so that the loading of classes for it is not measured.
            say(&mut live, "quick 3", "done 3")?;
            say(&mut live, kind, "begun")?;
            sleep(Duration::from_millis(300));
            let begun = Instant::now();
            live.exec(ATTACH)?.succeeded("attaching")?;
            let attached = Instant::now();
            // Another instrument on the same method does not change this.
            let other =
                live.value("methods(\"Late::turns(..)\").loops().before(counter()).id()")?;
            sleep(Duration::from_millis(200));
            live.value(&format!("detach(\"{other}\")"))?;
            let least = attached.elapsed();
            say(&mut live, "end", "done ")?;
            let most = begun.elapsed();
            say(&mut live, "quick 5", "done 5")?;
            let output = live.stop()?.succeeded("Late")?;
            let late = row(&output.err, "began before: at least");
            let late = late.ok_or_else(|| format!("{kind}: {output:?}"))?;
            assert_eq!(late.count, 1, "{kind}: {output:?}");
            assert!(
                late.total >= least && late.total <= most,
                "{kind}: {least:?} {most:?} {output:?}"
            );
            assert_eq!((late.least, late.greatest), (late.total, late.total));
            let whole = row(&output.err, "whole").ok_or("no row of whole activations")?;
            assert_eq!(whole.count, 5, "{kind}: {output:?}");
            assert!(whole.greatest < least, "{kind}: {output:?}");
        }
        Ok(())
    })
}

#[test]
fn activations_that_begin_after_the_timer_are_never_late() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = started(programs, true)?;
        live.exec(ATTACH)?.succeeded("attaching")?;
        say(&mut live, "quick 10", "done 10")?;
        // Another instrument is attached and detached while the activation loops, so the activation
        // moves from version to version.
        say(&mut live, "spin", "begun")?;
        for _ in 0..5 {
            let id = live.value("methods(\"Late::turns(..)\").loops().before(counter()).id()")?;
            live.value(&format!("detach(\"{id}\")"))?;
        }
        say(&mut live, "end", "done ")?;
        let output = live.stop()?.succeeded("Late")?;
        let whole = row(&output.err, "whole").ok_or("no row")?;
        assert_eq!(whole.count, 11, "{output:?}");
        let late = row(&output.err, "began before: at least").ok_or("no row")?;
        assert_eq!(late.count, 0, "{output:?}");
        Ok(())
    })
}

#[test]
fn two_late_timers_start_independently() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = started(programs, false)?;
        say(&mut live, "spin", "begun")?;
        live.exec(&ATTACH.replace("`row ", "`row 1 "))?
            .succeeded("attaching")?;
        sleep(Duration::from_millis(300));
        live.exec(&ATTACH.replace("`row ", "`row 2 "))?
            .succeeded("attaching")?;
        sleep(Duration::from_millis(50));
        say(&mut live, "end", "done ")?;
        let output = live.stop()?.succeeded("Late")?;
        let one = row(&output.err, "1 began before: at least").ok_or("no row")?;
        let two = row(&output.err, "2 began before: at least").ok_or("no row")?;
        assert_eq!((one.count, two.count), (1, 1), "{output:?}");
        assert!(
            one.total >= two.total + Duration::from_millis(300),
            "{output:?}"
        );
        Ok(())
    })
}

#[test]
fn only_timers_of_whole_methods_can_be_late() -> Outcome {
    on_a_jdk(|programs| {
        let live = started(programs, false)?;
        for (plan, said) in [
            (
                "methods(\"Late::turns(..)\").loops().around(timer().late())",
                "a late timer is for whole methods",
            ),
            (
                "methods(\"Late::turns(..)\").before(counter().late())",
                "only a timer can be late",
            ),
        ] {
            let output = live.exec(plan)?;
            assert!(output.err.contains(said), "{output:?}");
        }
        live.stop()?.succeeded("Late")?;
        Ok(())
    })
}
