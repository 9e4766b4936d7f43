//! The values that `veneer watch` prints: one line for each call, with the time of day and the name
//! of the thread.
//!
//! ```text
//!   {"unix_time": 1764079402.123, "thread_name": "worker-1", "values": [17, null], …}
//!     ─▶  14:03:22.123 worker-1: order.id = 17, order.user = null
//! ```

use std::mem::MaybeUninit;

use serde_json::Value;

/// Returns the line for a row of the plan. `names` are the expressions as the user typed them. `None`
/// if the object is no row.
pub fn line(row: &Value, names: &[String]) -> Option<String> {
    let values = row["values"].as_array()?;
    let thread = match row["thread_name"].as_str() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("thread {}", row["thread_id"]),
    };
    let values = names.iter().zip(values);
    let values = values.map(|(name, value)| format!("{name} = {}", text(value)));
    let values: Vec<String> = values.collect();
    let time = time_of_day(row["unix_time"].as_f64().unwrap_or(0.0));
    Some(format!("{time} {thread}: {}", values.join(", ")))
}

/// A value as text. The lines of a call stack are joined, the innermost frame first.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().map(text).collect::<Vec<_>>().join(" < "),
        other => other.to_string(),
    }
}

/// The local time of day of a Unix time: `14:03:22.123`.
fn time_of_day(unix_time: f64) -> String {
    let millis = (unix_time * 1_000.0).floor() as i64;
    let seconds: libc::time_t = millis.div_euclid(1_000);
    let mut local = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call, and the type of the result has no invalid values.
    let local = unsafe {
        libc::localtime_r(&seconds, local.as_mut_ptr());
        local.assume_init()
    };
    format!(
        "{:02}:{:02}:{:02}.{:03}",
        local.tm_hour,
        local.tm_min,
        local.tm_sec,
        millis.rem_euclid(1_000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_is_one_line_with_the_time_of_day_and_the_thread() {
        let names = ["order.id", "order.user", "stack(2)"].map(String::from);
        let row = json!({
            "unix_time": 1_764_079_402.123_7, "thread_id": 14, "thread_name": "worker-1",
            "values": [17, null, ["a.B.m:3", "a.B.main:9"]]
        });
        let found = line(&row, &names).unwrap();
        // The hour depends on the time zone of the machine; some zones also shift the minutes.
        let (time, rest) = found.split_at("14:03:22.123".len());
        assert!(time.ends_with(":22.123"), "{found}");
        assert_eq!(
            rest,
            " worker-1: order.id = 17, order.user = null, stack(2) = a.B.m:3 < a.B.main:9"
        );
        let nameless = json!({"thread_id": 14, "thread_name": "", "values": [1.5]});
        let found = line(&nameless, &names).unwrap();
        assert!(found.ends_with(" thread 14: order.id = 1.5"), "{found}");
        assert_eq!(line(&json!({"rows": []}), &names), None);
    }
}
