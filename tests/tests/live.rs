//! Changes while the program runs: instruments in an activation that began before them, redirected
//! edges, classes that are loaded later, an agent that is attached later.

use std::time::Duration;

use veneer_tests::java_programs::{Outcome, check_loop_result, on_a_jdk};
use veneer_tests::live::{Live, LiveError, number, until};

/// Returns the hits of an instrument once they do not change any more.
fn final_hits(live: &Live, id: &str) -> Result<u64, LiveError> {
    let mut last = live.sum(id)?;
    until(
        "hits that stay the same",
        || {
            std::thread::sleep(Duration::from_millis(150));
            let now = live.sum(id)?;
            Ok((std::mem::replace(&mut last, now), now))
        },
        |(before, now)| before == now,
    )
    .map(|(_, now)| now)
}

#[test]
fn an_instrument_is_attached_to_and_detached_from_a_running_loop() -> Outcome {
    on_a_jdk(|programs| {
        let live = programs.armed("RunningLoop")?;
        std::thread::sleep(Duration::from_millis(500));
        let id = live.value(r#"methods("RunningLoop::loop(..)").loops().before(counter())"#)?;
        let first = until(
            "hits of the running loop",
            || live.sum(&id),
            |hits| *hits > 0,
        )?;
        until("more hits", || live.sum(&id), |hits| *hits > first)?;
        live.value(&format!("detach(\"{id}\")"))?;
        let last = final_hits(&live, &id)?;
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(live.sum(&id)?, last, "a detached instrument fires");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        check_loop_result(&output.out)
    })
}

#[test]
fn instruments_are_attached_and_detached_in_one_activation() -> Outcome {
    on_a_jdk(|programs| {
        let live = programs.armed("RunningLoop")?;
        for round in 0..10 {
            let code = r#"methods("RunningLoop::loop(..)").blocks().before(counter())"#;
            let blocks = live.value(code)?;
            let edges =
                live.value(r#"methods("RunningLoop::loop(..)").edges().before(counter())"#)?;
            until("hits", || live.sum(&edges), |hits| *hits > 10_000)?;
            live.value(&format!("detach(\"{blocks}\"); detach(\"{edges}\")"))?;
            final_hits(&live, &edges)?;
            final_hits(&live, &blocks)?;
            let hits = live.hits(&blocks)?;
            let at = |n| {
                hits.iter()
                    .find(|(f, _)| *f == Some(n))
                    .map_or(0, |(_, hits)| *hits)
            };
            // f4 is the inner body, executed ten times per iteration; f5 is the rest of an
            // iteration. Attaching and detaching may each cut one iteration short.
            let (inner, outer) = (at(4), at(5));
            assert!(
                outer > 0 && inner.abs_diff(outer * 10) <= 20,
                "round {round}: {inner} inner, {outer} outer, {hits:?}"
            );
            assert_eq!(
                (at(0), at(6)),
                (0, 0),
                "the activation neither began nor ended"
            );
        }
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        check_loop_result(&output.out)
    })
}

#[test]
fn an_agent_attached_later_reaches_new_activations() -> Outcome {
    on_a_jdk(|programs| {
        let live = Live::start(&programs.java("RunningLoop"))?;
        let step = r#"methods("RunningLoop::step(..)").before(counter())"#;
        let id = live.value(step)?;
        until(
            "hits of a method that is called",
            || live.sum(&id),
            |hits| *hits > 1000,
        )?;
        // The activation of the loop began before the method was armed, so it cannot be reached.
        // The command reports this.
        let unreachable =
            live.value(r#"methods("RunningLoop::loop(..)").loops().before(counter())"#)?;
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(live.sum(&unreachable)?, 0);
        live.value("detach_all()")?;
        final_hits(&live, &id)?;
        let output = live.stop()?;
        assert_eq!(output.code, 0);
        check_loop_result(&output.out)
    })
}

fn loop_sums(live: &mut Live) -> Result<[i64; 3], LiveError> {
    live.say("show")?;
    let line = format!("left {}", live.line("left ")?);
    let value = |word| number(&line, word).ok_or_else(|| LiveError::Answer(line.clone()));
    Ok([value("left")?, value("right")?, value("turns")?])
}

/// Returns which of the three sums grow between two requests, after edits have reached the loop.
fn growth(live: &mut Live) -> Result<[bool; 3], LiveError> {
    std::thread::sleep(Duration::from_millis(100));
    let before = loop_sums(live)?;
    std::thread::sleep(Duration::from_millis(150));
    let after = loop_sums(live)?;
    Ok([0, 1, 2].map(|i| after[i] > before[i]))
}

#[test]
fn a_redirected_edge_changes_a_running_loop_and_undo_restores_it() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = programs.armed("EdgeRedirect")?;
        assert_eq!(growth(&mut live)?, [true, true, true], "as written");
        for (edit, expected) in [
            // Even iterations take the right branch as well.
            ("redirect(2, 3, 4)", [false, true, true]),
            // Odd iterations take the left branch as well.
            ("redirect(2, 4, 3)", [true, false, true]),
            // The left branch has the code of the right one.
            ("replace(3, 4)", [false, true, true]),
            // Odd iterations execute neither branch.
            ("skip(4)", [true, false, true]),
        ] {
            live.value(&format!("methods(\"EdgeRedirect::loop(..)\").{edit}"))?;
            assert_eq!(growth(&mut live)?, expected, "{edit}");
            live.value("detach_all()")?;
            assert_eq!(growth(&mut live)?, [true, true, true], "{edit} undone");
        }
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        assert_eq!(
            output
                .out
                .lines()
                .filter(|line| *line == "guarded 0 0 40")
                .count(),
            2
        );
        Ok(())
    })
}

#[test]
fn no_iteration_of_a_redirected_loop_is_lost() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = programs.armed("EdgeRedirect")?;
        growth(&mut live)?;
        // The plan undoes its own edit while the loop runs.
        live.value(
            "let patch = methods(\"EdgeRedirect::loop(..)\").redirect(2, 3, 4);\n\
             after(0.3, || patch.detach());",
        )?;
        std::thread::sleep(Duration::from_millis(600));
        assert_eq!(growth(&mut live)?, [true, true, true], "undone by the plan");
        let output = live.stop()?;
        let line = output
            .out
            .lines()
            .rev()
            .find(|line| line.starts_with("left "))
            .ok_or("no end")?;
        let of = |word| number(line, word).ok_or_else(|| line.to_string());
        let (left, right, turns) = (of("left")?, of("right")?, of("turns")?);
        assert_eq!(left + right, turns, "{line}");
        assert!(
            right - left > 1000,
            "the redirected turns are missing: {line}"
        );
        Ok(())
    })
}

#[test]
fn an_impossible_edit_is_refused_with_the_reason() -> Outcome {
    on_a_jdk(|programs| {
        let live = programs.armed("EdgeRedirect")?;
        for (edit, word) in [
            ("redirect(0, 3, 2)", "extra"),
            ("redirect(0, 2, 3)", "f2"),
            ("skip(40)", "f40"),
        ] {
            let output = live.exec(&format!("methods(\"EdgeRedirect::guarded(..)\").{edit}"))?;
            assert_eq!(output.code, 1, "{edit}: {output:?}");
            assert!(output.err.contains(word), "{edit}: {}", output.err);
        }
        let output = live.stop()?;
        assert_eq!(
            output
                .out
                .lines()
                .filter(|line| *line == "guarded 0 0 40")
                .count(),
            2
        );
        Ok(())
    })
}

#[test]
fn classes_loaded_later_are_counted_from_their_first_call() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = programs.armed("LateClasses")?;
        let code = r#"methods("LateClasses$Late::*(..)").blocks().before(counter())"#;
        let output = live.exec(code)?;
        assert_eq!(output.code, 0, "{output:?}");
        let id = output.out.lines().last().unwrap_or_default().to_string();
        live.say("load")?;
        assert_eq!(live.line("sum ")?, "7350");
        let sum = |live: &Live, method: &str, fragment| -> Result<u64, LiveError> {
            let report = live.report()?;
            let mine = report
                .instruments
                .iter()
                .filter(|one| one.id.as_str() == Some(&id));
            let points = mine.flat_map(|one| &one.points);
            let here =
                points.filter(|p| p.method.starts_with(method) && p.fragment == Some(fragment));
            Ok(here.map(|point| point.hits).sum())
        };
        // Three loaders with one call of work(100) each: 3 entries, 303 tests, 300 bodies, 3 ends,
        // 300 halves.
        for (method, fragment, hits) in [
            ("work(", 0, 3),
            ("work(", 1, 303),
            ("work(", 2, 300),
            ("work(", 3, 3),
            ("half(", 0, 300),
        ] {
            assert_eq!(
                sum(&live, method, fragment)?,
                hits,
                "{method}..) f{fragment}"
            );
        }
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}
