//! Subscriptions to the figures of a JVM: the updates that a client receives, and those that it
//! does not.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use veneer_tests::command::json;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::sample_service::{handle_orders, stop_and_check};

/// A connection to the agent. Each request and each reply is one line.
struct Connection {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Connection {
    fn to(live: &Live) -> std::io::Result<Connection> {
        let writer = live.connect()?;
        let reader = BufReader::new(writer.try_clone()?);
        Ok(Connection { writer, reader })
    }

    fn say(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.writer, "{text}")
    }

    fn next(&mut self) -> Result<Value, Box<dyn std::error::Error>> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn update(&mut self) -> Result<Value, Box<dyn std::error::Error>> {
        let mut next = self.next()?;
        match next.get_mut("update") {
            Some(update) => Ok(update.take()),
            None => Err(format!("no update: {next}").into()),
        }
    }
}

#[test]
fn a_subscription_reports_only_changes() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        handle_orders(&mut live, 1)?;
        let calls = live.value("methods(\"Desk::serve(..)\").before(counter()).id()")?;
        let log = live.value("methods(\"Desk::serve(..)\").before(log(\"order\")).id()")?;
        handle_orders(&mut live, 5)?;
        let mut line = Connection::to(&live)?;
        line.say("{\"subscribe\":{\"every\":50,\"events\":true}}")?;
        let first = line.update()?;
        assert_eq!(first["number"], 1, "{first}");
        let of = |update: &Value, id: &str| -> Option<Value> {
            let all = update["instruments"].as_array()?;
            all.iter().find(|one| one["id"] == id).cloned()
        };
        let counted = of(&first, &calls).ok_or("no counter")?;
        assert_eq!(counted["points"][0]["hits"], 5, "{first}");
        let mut events = first["events"].as_array().cloned().unwrap_or_default();
        // Nothing changes, and the updates say so.
        for number in 2..5 {
            let update = line.update()?;
            assert_eq!(update["instruments"], Value::Array(vec![]), "{update}");
            assert!(update["number"].as_u64() >= Some(number), "{update}");
            events.extend(update["events"].as_array().cloned().unwrap_or_default());
        }
        handle_orders(&mut live, 7)?;
        let mut hits = 0;
        while hits < 12 || events.len() < 12 {
            let update = line.update()?;
            assert_eq!(update["events_lost"], 0, "{update}");
            if let Some(now) = of(&update, &calls) {
                hits = now["points"][0]["hits"].as_u64().unwrap_or(0);
            }
            events.extend(update["events"].as_array().cloned().unwrap_or_default());
        }
        assert_eq!((hits, events.len()), (12, 12));
        assert!(
            events
                .iter()
                .all(|e| e["instrument"] == log.as_str() && e["values"]["order"].is_string()),
            "{events:?}"
        );
        // Other requests are answered between the updates.
        line.say("{\"hello\":{}}")?;
        while line.next()?.get("hello").is_none() {}
        // A detached instrument is reported once more, and then not any more.
        live.exec("instruments()")?;
        json(&["detach", &live.pid().to_string(), &calls, "--json"])?;
        loop {
            if let Some(last) = of(&line.update()?, &calls) {
                assert_eq!(last["attached"], false);
                break;
            }
        }
        line.say("{\"unsubscribe\":{}}")?;
        line.say("{\"hello\":{}}")?;
        while line.next()?.get("hello").is_none() {}
        thread::sleep(Duration::from_millis(200));
        line.say("{\"hello\":{}}")?;
        assert!(line.next()?.get("hello").is_some());
        stop_and_check(live)
    })
}

#[test]
fn points_beyond_the_update_size_are_sent_in_the_next_updates() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        handle_orders(&mut live, 1)?;
        // Two instruments whose points change only when orders are handled.
        let attach = "methods([\"Desk::serve(..)\", \"Desk::main(..)\"]).blocks().before(counter().each()).id()";
        let ids = [live.value(attach)?, live.value(attach)?];
        let mut line = Connection::to(&live)?;
        line.say("{\"subscribe\":{\"every\":50,\"points\":4}}")?;
        let mut told: BTreeMap<String, u64> = BTreeMap::new();
        for round in 1..4 {
            handle_orders(&mut live, 10 * round)?;
            let (mut most, mut left) = (0, 0);
            loop {
                let update = line.update()?;
                let mut points = 0;
                for one in update["instruments"].as_array().ok_or("no array")? {
                    for point in one["points"].as_array().ok_or("no points")? {
                        let (id, method) = (&one["id"], &point["method"]);
                        let place = format!("{id} {method} {}", point["fragment"]);
                        told.insert(place, point["hits"].as_u64().ok_or("no hits")?);
                        points += 1;
                    }
                }
                assert!(points <= 4, "{update}");
                most = most.max(points);
                left = left.max(update["points_left"].as_u64().unwrap_or(0));
                // Updates that were made before the orders were handled arrive first.
                if points == 0 && most > 0 {
                    break;
                }
            }
            assert!(most == 4 && left > 0, "{most}, {left}");
            for id in &ids {
                let of = |place: &String| place.starts_with(&format!("\"{id}\" "));
                let seen = told.iter().filter(|(place, _)| of(place));
                let mut seen: Vec<u64> = seen.map(|(_, hits)| *hits).collect();
                let mut known: Vec<u64> = live.hits(id)?.iter().map(|p| p.1).collect();
                seen.sort_unstable();
                known.sort_unstable();
                assert_eq!(seen, known, "{round}");
            }
        }
        stop_and_check(live)
    })
}

#[test]
fn a_subscriber_that_does_not_read_loses_updates_and_blocks_no_other_client() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        handle_orders(&mut live, 1)?;
        live.value("for n in 0..200 { methods(\"Desk::serve(..)\").blocks().before(counter()); }")?;
        let mut lazy = Connection::to(&live)?;
        lazy.say("{\"subscribe\":{\"every\":50}}")?;
        // Each update has the figures of two hundred instruments, and the socket's buffer has room
        // for only a few.
        let mut last = 0;
        for _ in 0..60 {
            handle_orders(&mut live, 1000)?;
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(live.value("1 + 1")?, "2");
        let mut gap = false;
        while !gap {
            let number = lazy.update()?["number"].as_u64().ok_or("no number")?;
            gap = number > last + 1;
            last = number;
            handle_orders(&mut live, 1000)?;
        }
        stop_and_check(live)
    })
}
