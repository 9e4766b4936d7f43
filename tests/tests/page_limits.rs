//! The limits of the page of `veneer serve`, in a real browser on real JVMs: large methods, classes, profiles
//! and traces, hours of use, and a reload in the middle of a search. Each test prints its figures.

use serde_json::{Value, json};
use veneer_tests::browser::{check_accessibility, in_browser, until_nothing_is_attached};
use veneer_tests::java_programs::Outcome;
use veneer_tests::process::event_timeout;
use veneer_tests::wide_page::{server, show, start};

/// The time between two frames at 60 frames a second, in milliseconds, and a tolerance for its measurement.
const FRAME_MILLIS: f64 = 1000.0 / 60.0 + 0.4;
/// The 99th percentile of frame times: one frame may be missed, and more on a busy machine.
const SLOW_FRAME_MILLIS: f64 = 2.0 * 1000.0 / 60.0 + 0.8;
/// The frames of a picture that zooms or pans.
const FRAMES: u64 = 120;

/// The most growth of memory in eight hours: the noise between two collections.
const MAX_HEAP_GROWTH: f64 = 3e6;
const MAX_RESIDENT_GROWTH: f64 = 12e6;

/// Checks that a picture keeps 60 frames a second, and prints its times.
fn check_frames(what: &str, times: &Value) {
    println!("{what}: {times}");
    let slow = SLOW_FRAME_MILLIS * event_timeout().as_secs_f64() / 60.0;
    let number = |member: &str| times[member].as_f64().unwrap_or(f64::INFINITY);
    assert!(
        number("median") <= FRAME_MILLIS && number("p99") <= slow,
        "{what}: {times}"
    );
}

/// Shows a method of `2 * pairs + 1` blocks. The benchmark `page` measures the frames.
fn show_wide_classes(pairs: usize, with_class: bool) -> Outcome {
    in_browser("page", |programs, browser| {
        let result = show(programs, browser, pairs, with_class)?;
        for member in ["classTime", "pictureTime", "rateTime", "heap"] {
            println!("{member}: {}", result[member]);
        }
        for wheel in ["zoom", "pan"] {
            println!("{wheel}: {}", result[wheel]);
            assert_eq!(result[wheel]["frames"], FRAMES, "{wheel}");
        }
        check_accessibility(&result)
    })
}

#[test]
fn a_method_of_2_001_blocks_and_a_class_of_5_000_methods_are_shown() -> Outcome {
    show_wide_classes(1_000, true)
}

#[test]
fn a_method_of_9_999_blocks_is_shown_with_its_rates() -> Outcome {
    show_wide_classes(4_999, false)
}

#[test]
fn a_search_goes_on_while_its_page_is_loaded_again() -> Outcome {
    in_browser("page", |programs, browser| {
        let live = start(programs, None, &["Newcomer"])?;
        let server = server()?;
        let result = browser.run(
            "search",
            &server,
            json!({"pid": live.pid(), "seconds": 12, "method": "Newcomer.price"}),
        )?;
        check_accessibility(&result)?;
        live.stop()?.succeeded("Newcomer")?;
        Ok(())
    })
}

#[test]
fn the_plan_editor_completes_and_shows_errors_in_their_places() -> Outcome {
    in_browser("page", |programs, browser| {
        let live = start(programs, None, &["Newcomer"])?;
        live.value("1")?;
        let server = server()?;
        let result = browser.run(
            "plan_editor",
            &server,
            json!({"pid": live.pid(), "className": "Newcomer", "method": "price"}),
        )?;
        println!("{}", result["said"]);
        check_accessibility(&result)?;
        until_nothing_is_attached(&live)?;
        live.stop()?.succeeded("Newcomer")?;
        Ok(())
    })
}

#[test]
#[ignore = "takes a minute: records and reads a million contexts"]
fn a_flame_graph_of_a_million_frames_keeps_60_frames_a_second() -> Outcome {
    in_browser("page", |programs, browser| {
        let live = start(programs, None, &["Deep", "contexts"])?;
        let server = server()?;
        let wish = json!({"pid": live.pid(), "pattern": "Deep::*(..)", "seconds": 4});
        let result = browser.run("flame", &server, wish)?;
        for member in ["frames", "shown", "heap"] {
            println!("{member}: {}", result[member]);
        }
        check_frames("zoom in the flame graph", &result["zoom"]);
        check_frames("pan in the flame graph", &result["pan"]);
        Ok(())
    })
}

#[test]
#[ignore = "takes minutes: records 100 million events, a gigabyte"]
fn a_trace_of_100_million_events_keeps_60_frames_a_second() -> Outcome {
    in_browser("page", |programs, browser| {
        let live = start(programs, None, &["Deep", "events"])?;
        let server = server()?;
        let wish = json!({"pid": live.pid(), "pattern": "Deep::*(..)", "seconds": 30});
        let result = browser.run("long_trace", &server, wish)?;
        for member in ["events", "shown", "heap"] {
            println!("{member}: {}", result[member]);
        }
        check_frames("zoom in the whole timeline", &result["zoom"]);
        check_frames("pan in the timeline", &result["pan"]);
        check_frames("zoom at single calls", &result["deepZoom"]);
        Ok(())
    })
}

/// The growth from the first third of the measurements to the last third. The least of each third is taken,
/// because a collection can leave garbage.
fn growth(measured: &[Value], member: &str) -> f64 {
    let third = (measured.len() / 3).max(1);
    let least = |part: &[Value]| {
        let all = part.iter().filter_map(|one| one[member].as_f64());
        all.fold(f64::INFINITY, f64::min)
    };
    least(&measured[measured.len() - third..]) - least(&measured[..third])
}

#[test]
#[ignore = "takes three minutes: the events of eight hours"]
fn eight_hours_of_events_leave_the_memory_as_it_was() -> Outcome {
    in_browser("page", |programs, browser| {
        let live = start(programs, None, &["Newcomer"])?;
        let server = server()?;
        let wish = json!({
            "pid": live.pid(), "serverPid": server.child.id(), "pattern": "Newcomer::price(Newcomer$Order)",
            "minutes": 8,
        });
        let result = browser.run("overnight", &server, wish)?;
        for member in ["hours", "factor", "seconds", "rounds", "events"] {
            println!("{member}: {}", result[member]);
        }
        let measured = result["measured"].as_array().ok_or("no measurements")?;
        for one in measured {
            println!("{one}");
        }
        let (heap, resident) = (growth(measured, "heap"), growth(measured, "resident"));
        println!("growth: {heap} bytes of the page's heap, {resident} bytes of the server");
        assert!(heap <= MAX_HEAP_GROWTH, "{heap}");
        assert!(resident <= MAX_RESIDENT_GROWTH, "{resident}");
        until_nothing_is_attached(&live)?;
        live.stop()?.succeeded("Newcomer")?;
        Ok(())
    })
}
