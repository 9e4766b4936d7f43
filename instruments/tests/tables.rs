//! Compares rendered tables with the expected text.

use veneer_instruments::table::{
    TABLE_WIDTH, render_events, render_rows, render_rows_within, render_tally_within,
};
use veneer_instruments::{EventValue, LogEvent, Measurement, PointRow};
use veneer_instruments::{Tally, TallyEntry, TallyKey, TallyKind};
use veneer_names::FragmentId;

fn row(
    class: &str,
    method: &str,
    at: (Option<u32>, Option<u32>),
    line: u16,
    data: Measurement,
) -> PointRow {
    PointRow {
        class: class.to_owned(),
        method: method.to_owned(),
        fragment: at.0.map(FragmentId),
        to: at.1.map(FragmentId),
        what: None,
        line: Some(line),
        data,
    }
}

fn count(hits: u64) -> Measurement {
    Measurement::Count { hits }
}

fn check(found: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    assert_eq!(found, expected.join("\n"), "found:\n{found}");
    for line in found.lines() {
        assert!(line.chars().count() <= TABLE_WIDTH, "too wide: {line}");
    }
}

#[test]
fn counters_heaviest_first() {
    let rows = [
        row("route.Edge", "isMe(II)Z", (Some(2), None), 41, count(17)),
        row(
            "route.Network",
            "find(Ljava/lang/String;)Lroute/Station;",
            (Some(0), Some(3)),
            112,
            count(1_234_567),
        ),
        row(
            "route.Edge",
            "isMe(II)Z",
            (Some(0), None),
            40,
            count(345_000),
        ),
        row("route.Dijkstra", "run()V", (Some(1), None), 9, count(17)),
    ];
    check(
        &render_rows(&rows, 3),
        r"
     hits  share  class           method          at      line
1,234,567  78.2%  route.Network   find(String)    f0->f3   112
  345,000  21.8%  route.Edge      isMe(int, int)  f0        40
       17   0.0%  route.Dijkstra  run()           f1         9
1,579,601 in 4 rows, of which 3 are shown
",
    );
}

#[test]
fn timers_and_methods_as_a_whole() {
    let time = |count, total_ns, min_ns, max_ns| Measurement::Time {
        count,
        total_ns,
        min_ns,
        max_ns,
    };
    let rows = [
        row(
            "a.B",
            "quick()V",
            (None, None),
            3,
            time(1_000, 2_345_678, 900, 1_000_000),
        ),
        row("a.B", "never()V", (None, None), 5, time(0, 0, 0, 0)),
        row(
            "a.B",
            "slow()V",
            (None, None),
            4,
            time(1, 61_000_000_000, 61_000_000_000, 61_000_000_000),
        ),
    ];
    check(
        &render_rows(&rows, 10),
        r"
   total  count      mean       min       max  class  method   line
1 m 01 s      1  1 m 01 s  1 m 01 s  1 m 01 s  a.B    slow()      4
 2.35 ms  1,000   2.35 µs    900 ns   1.00 ms  a.B    quick()     3
    0 ns      0         -         -         -  a.B    never()     5
3 rows
",
    );
}

#[test]
fn long_names_are_shortened_in_the_middle() {
    let rows = [
        row(
            "com.sun.tools.javac.comp.deferred.attribution.DeferredAttr$DeferredAttrNode",
            "process(Lcom/sun/tools/javac/comp/DeferredAttr$DeferredStuckPolicy;[Ljava/lang/String;I)Z",
            (Some(117), Some(118)),
            1234,
            count(98_765_432_109),
        ),
        row("a.B", "m()V", (Some(0), None), 1, count(0)),
    ];
    check(
        &render_rows(&rows, 10),
        r"
          hits   share  class                         method                        at          line
98,765,432,109  100.0%  …ferredAttr$DeferredAttrNode  process(D…cy, String[], int)  f117->f118  1234
             0    0.0%  a.B                           m()                           f0             1
98,765,432,109 in 2 rows
",
    );
}

#[test]
fn events_newest_last() {
    let event = |time_ns, i| LogEvent {
        class: "route.Dijkstra".to_owned(),
        method: "run(I)V".to_owned(),
        fragment: Some(FragmentId(4)),
        line: Some(77),
        thread: 1,
        time_ns,
        values: vec![
            ("i".to_owned(), EventValue::Int(i)),
            ("name".to_owned(), EventValue::Text("Aa\n".to_owned())),
            ("best".to_owned(), EventValue::Float(2.0)),
            ("next".to_owned(), EventValue::Null),
        ],
    };
    let rows = [row(
        "route.Dijkstra",
        "run(I)V",
        (Some(4), None),
        77,
        Measurement::Log {
            events: 5_000,
            dropped: 12,
        },
    )];
    let events = [event(1_000, 1), event(2_500, 2), event(1_500_000, 3)];
    check(
        &render_events(&rows, &events, 2),
        r#"
   time  thread  class           method    at  line  values
2.50 µs       1  route.Dijkstra  run(int)  f4    77  i=2 name="Aa\n" best=2.0 next=null
1.50 ms       1  route.Dijkstra  run(int)  f4    77  i=3 name="Aa\n" best=2.0 next=null
2 shown of 5,000 events, 12 dropped
"#,
    );
    check(
        &render_rows(&rows, 9),
        r"
events  dropped  class           method    at  line
 5,000       12  route.Dijkstra  run(int)  f4    77
5,000 in 1 row
",
    );
}

#[test]
fn a_table_fits_into_a_narrow_terminal() {
    let rows = [row(
        "com.acme.shop.orders.incoming.OrderDesk",
        "serve(Ljava/lang/String;)Lroute/Station;",
        (Some(0), None),
        112,
        count(1_234_567),
    )];
    let tally = Tally {
        entries: vec![TallyEntry {
            keys: vec![TallyKey::Text(Some("customer ".repeat(9)))],
            count: 7,
            ..TallyEntry::default()
        }],
        ..Tally::default()
    };
    for text in [
        render_rows_within(&rows, 3, 60),
        render_tally_within(&tally, TallyKind::Count, 3, &[], 60),
    ] {
        for line in text.lines() {
            assert!(line.chars().count() <= 60, "{text}");
        }
    }
    assert!(render_rows(&rows, 3).contains("com.acme.shop.orders.incoming.OrderDesk"));
}

#[test]
fn nothing_to_show() {
    assert!(render_rows(&[], 10).starts_with("no points yet"));
    assert_eq!(render_events(&[], &[], 3), "0 shown of 0 events, 0 dropped");
    assert_eq!(
        render_rows(&[row("a.B", "m()V", (None, None), 1, count(7))], 0),
        "7 in 1 row, of which 0 are shown"
    );
}

#[test]
fn rows_serialise_flat() {
    let rows = [
        row("a.B", "m(I)I", (Some(3), None), 12, count(1_000)),
        row(
            "a.B",
            "m(I)I",
            (None, None),
            12,
            Measurement::Time {
                count: 1,
                total_ns: 2,
                min_ns: 3,
                max_ns: 4,
            },
        ),
        row(
            "a.B",
            "m(I)I",
            (None, None),
            12,
            Measurement::Log {
                events: 1,
                dropped: 0,
            },
        ),
    ];
    let json = serde_json::to_value(&rows).expect("json");
    assert_eq!(json[0]["hits"], 1_000);
    assert_eq!(json[1]["total_ns"], 2);
    assert_eq!(
        serde_json::from_value::<Vec<PointRow>>(json).expect("json"),
        rows
    );
}
