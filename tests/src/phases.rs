//! Phases of one running program, without and with a change, and the times of its rounds in each phase.

use std::time::{Duration, Instant};

use crate::live::{Live, LiveError};

/// The quartiles of the times of a phase in microseconds.
pub type Quartiles = [u64; 3];

/// The times of the rounds without a change and with it.
#[derive(Debug)]
pub struct Phases {
    pub plain: Quartiles,
    pub changed: Quartiles,
}

/// The times of some rounds: a quarter is below the first, half below the second, three quarters below the third.
pub fn quartiles(mut times: Vec<u64>) -> Quartiles {
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 4).copied().unwrap_or(0);
    [at(1), at(2), at(3)]
}

/// Reads the rounds that a program prints for some time, and returns the times of the later half of them. In the
/// earlier half, the JIT compiler still compiles.
fn phase(live: &mut Live, length: Duration) -> Result<Vec<u64>, LiveError> {
    let mut times = Vec::new();
    let end = Instant::now() + length;
    while Instant::now() < end {
        let line = live.line("round ")?;
        let time = line.split_once(" ms ");
        times.extend(time.and_then(|(_, time)| time.parse::<u64>().ok()));
    }
    Ok(times.split_off(times.len() / 2))
}

/// Measures phases without, with and without a change, as many times as wanted. `change` is an expression of a plan that
/// makes the change and yields its handle.
pub fn alternate(
    live: &mut Live,
    change: &str,
    (times, length): (usize, Duration),
) -> Result<Phases, LiveError> {
    let (mut plain, mut changed) = (Vec::new(), Vec::new());
    for _ in 0..times {
        plain.extend(phase(live, length)?);
        let seconds = 2.0 * length.as_secs_f64();
        live.value(&format!(
            "let change = {change}; after({seconds:.1}, || change.detach());"
        ))?;
        changed.extend(phase(live, 2 * length)?);
        plain.extend(phase(live, length)?);
    }
    Ok(Phases {
        plain: quartiles(plain),
        changed: quartiles(changed),
    })
}
