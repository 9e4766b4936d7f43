//! Values of calls in event traces (`veneer trace --value`), and events of plans (`trace_event`), on a
//! program whose calls are known.

use serde_json::Value;
use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::trace_recording::start_recording;
use veneer_tests::trace_rows::query;

/// The recorded method. The recording ends after the program has run once.
const RECORDED: &str = "Parcels::check(..)";
const SECONDS: [&str; 2] = ["--for", "4"];

fn text<'r>(row: &'r Value, column: &str) -> &'r str {
    row[column].as_str().unwrap_or_default()
}

#[test]
fn each_call_has_its_values_of_the_entry_and_of_the_end() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Parcels")))?;
        let trace = programs.classes().join("values");
        let options = [
            SECONDS[0],
            SECONDS[1],
            "--value",
            "round",
            "--value",
            "parcel.state",
            "--value",
            "parcel.price",
            "--value",
            "result",
            "--value",
            "exception",
        ];
        let mut recording = start_recording(&live, RECORDED, &options, &trace)?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        assert!(recording.wait()?.success());
        live.say("run")?;
        assert_eq!(live.line("sum ")?, sum);
        let rows = query(
            &trace,
            r#"calls("Parcels::check(..)").show("start", "values", "ended").sort("start")"#,
        );
        let rows: Vec<(String, String)> = rows?
            .iter()
            .map(|row| {
                (
                    text(row, "values").to_owned(),
                    text(row, "ended").to_owned(),
                )
            })
            .collect();
        let expected = [
            (
                "round=0 parcel.state=PAID parcel.price=12.50 result=7",
                "exit",
            ),
            (
                "round=1 parcel.state=NEW parcel.price=-123456789012345678901234567.890 \
                 exception=java.lang.IllegalStateException",
                "throw",
            ),
            (
                "round=2 parcel.state=null parcel.price=null result=9",
                "exit",
            ),
            (
                "round=3 parcel.state=null parcel.price=null exception=java.lang.NullPointerException",
                "throw",
            ),
        ];
        assert_eq!(
            rows,
            expected.map(|(values, ended)| (values.to_owned(), ended.to_owned()))
        );
        live.stop()?.succeeded("Parcels")?;
        Ok(())
    })
}

#[test]
fn a_plan_writes_events_into_the_trace_that_is_recorded() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Parcels")))?;
        live.value(
            r#"methods("Parcels::pack(..)").before(|p| {
                trace_event("packed");
                if p.round > 1 { trace_event("late", p.round > 2); trace_event("of", p.parcel); }
                trace_event("half", p.round / 2.0);
            })"#,
        )?;
        // Without a recording, the events go nowhere.
        live.say("run")?;
        live.line("sum ")?;
        let trace = programs.classes().join("events");
        let mut recording = start_recording(&live, RECORDED, &SECONDS, &trace)?;
        live.say("run")?;
        live.line("sum ")?;
        assert!(recording.wait()?.success());
        let rows = query(
            &trace,
            r#"events("user").show("start", "method", "values", "thread_name").sort("start")"#,
        )?;
        let found: Vec<String> = rows
            .iter()
            .map(|row| {
                assert_eq!(text(row, "thread_name"), "main");
                let values = text(row, "values");
                // The identity hash differs in each run.
                let values = values.split('@').next().unwrap_or_default();
                format!("{} {values}", text(row, "method"))
            })
            .collect();
        assert_eq!(
            found,
            [
                "user packed ",
                "user half 0",
                "user packed ",
                "user half 0.5",
                "user packed ",
                "user late false",
                "user of Parcels$Parcel",
                "user half 1",
                "user packed ",
                "user late true",
                "user of null",
                "user half 1.5",
            ]
        );
        live.stop()?.succeeded("Parcels")?;
        Ok(())
    })
}
