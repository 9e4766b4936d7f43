//! Compares rendered tables of probes with the expected text.

use veneer_instruments::table::{render_bars, render_csv, render_tally};
use veneer_instruments::{LinearBuckets, Occurrence, Rate, Tally, TallyEntry, TallyKey, TallyKind};

fn entry(key: &str, count: u64) -> TallyEntry {
    TallyEntry {
        keys: vec![TallyKey::Text(Some(key.into()))],
        marks: vec![[1, 1]],
        count,
        ..TallyEntry::default()
    }
}

fn table(entries: Vec<TallyEntry>, rest: u64) -> Tally {
    let rest = TallyEntry {
        count: rest,
        ..TallyEntry::default()
    };
    Tally {
        entries,
        rest,
        given: None,
    }
}

fn check(found: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    assert_eq!(found, expected.join("\n"), "found:\n{found}");
}

fn csv_text(tally: &Tally, kind: TallyKind) -> String {
    render_csv(tally, kind).expect("a text")
}

#[test]
fn cells_with_special_characters_are_quoted() {
    let special = ["a \"b\"", "line\r\nbreak", "漢字", ""].map(|key| entry(key, 1));
    let tally = table(special.into(), 0);
    assert_eq!(
        csv_text(&tally, TallyKind::Count),
        "key1,count\r\n\"a \"\"b\"\"\",1\r\n\"line\r\nbreak\",1\r\n漢字,1\r\n,1\r\n"
    );
    let empty = table(Vec::new(), 0);
    assert_eq!(csv_text(&empty, TallyKind::Top), "count,error\r\n");
}

#[test]
fn linear_histograms() {
    let linear = LinearBuckets::new(0, 10, 3).expect("buckets");
    let kind = TallyKind::Linear(linear);
    let one = TallyEntry {
        sum: 118,
        min: -3,
        max: 70,
        buckets: vec![1, 4, 0, 2, 1],
        ..entry("ann", 8)
    };
    let tally = table(vec![one], 5);
    check(
        &render_bars(&tally, kind, 3),
        r"
ann
     below 0  1  ████████████
       0 … 9  4  ██████████████████████████████████████████████████
     10 … 19  0
     20 … 29  2  █████████████████████████
30 and above  1  ████████████
8 values, 14.8 on average, -3 … 70
5 more found no room
",
    );
    let csv = "key1,count,sum,min,max,below,0,10,20,above\r\nann,8,118,-3,70,1,4,0,2,1\r\n";
    assert_eq!(csv_text(&tally, kind), csv);
    check(
        &render_tally(&tally, kind, 3, &[]),
        r"
count   avg  min  max  key
    8  14.8   -3   70  ann
8 in 1 entries; 5 more found no room
",
    );
}

#[test]
fn titles_replace_the_names_of_columns_from_the_left() {
    let tally = table(vec![entry("ann", 7)], 0);
    let titles = |titles: &[&str]| {
        let titles: Vec<String> = titles.iter().map(ToString::to_string).collect();
        render_tally(&tally, TallyKind::Count, 3, &titles)
    };
    check(
        &titles(&["calls", "customer"]),
        r"
calls  customer
    7  ann
7 in 1 entries
",
    );
    check(
        &titles(&["calls"]),
        r"
calls  key
    7  ann
7 in 1 entries
",
    );
    let more = titles(&["calls", "customer", "more"]);
    assert_eq!(more, titles(&["calls", "customer"]));
}

#[test]
fn rates_sets_and_the_most_frequent() {
    let rate = TallyEntry {
        rate: Some(Rate {
            now: 100,
            first: 80,
            seconds: vec![(100, 7), (99, 3), (95, 27), (81, 10)],
        }),
        ..entry("ann", 1_047)
    };
    let tally = table(vec![rate], 0);
    check(
        &render_tally(&tally, TallyKind::Rate, 3, &[]),
        r"
count  1 s  10 s  60 s  key
1,047  3.0   3.0   2.0  ann
1,047 in 1 entries
",
    );
    assert_eq!(
        csv_text(&tally, TallyKind::Rate),
        "key1,count,per_second\r\nann,1047,2\r\n"
    );
    let set = TallyEntry {
        distinct: 12,
        ..entry("a, b", 40)
    };
    let tally = table(vec![set], 0);
    check(
        &render_tally(&tally, TallyKind::Distinct, 3, &[]),
        r"
distinct  count  key
      12     40  a, b
40 in 1 entries
",
    );
    assert_eq!(
        csv_text(&tally, TallyKind::Distinct),
        "key1,distinct,count\r\n\"a, b\",12,40\r\n"
    );
    let top = TallyEntry {
        error: 4,
        ..entry("ann", 40)
    };
    let tally = table(vec![top], 2);
    check(
        &render_tally(&tally, TallyKind::Top, 3, &[]),
        r"
count  error  key
   40      4  ann
40 in 1 entries; 2 more found no room
",
    );
    assert_eq!(
        csv_text(&tally, TallyKind::Top),
        "key1,count,error\r\nann,40,4\r\n"
    );
}

#[test]
fn a_sample_shows_the_number_of_recorded_values() {
    let drawn = |number| TallyEntry {
        at: Some(Occurrence {
            number,
            time_ns: 1_500_000 * number,
            thread_id: 7,
        }),
        ..entry("x", 1)
    };
    let mut tally = table(vec![drawn(3), drawn(12)], 98);
    tally.given = Some(100);
    assert_eq!(tally.total(), 100);
    check(
        &render_tally(&tally, TallyKind::Sample, 1, &[]),
        r"
    ms  thread  value
18.000       7  x
2 of 100 values, of which 1 are shown
",
    );
}
