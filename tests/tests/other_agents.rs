//! Other agents in the same JVM, with the storm from the start, in both orders; `make trust` starts
//! each 50 times. (`agents.rs` compares exact counts and coverage with JaCoCo and with an agent
//! made with Byte Buddy.)

use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::trust::hostile::agents::{Agent, Order, ProgramWithAgent};
use veneer_tests::trust::hostile::settings::{C1, DEFAULT};

/// Starts the program once in each order, on the JDKs for this test. In each order, one of the
/// JDKs uses all compilers, and the other one C1 only.
fn run_with_other_agent(agent: Agent) -> Outcome {
    let mut failures = Vec::new();
    let oldest = jdk::oldest();
    for jdk in jdk::for_this_test() {
        let [first, last] = if jdk == oldest {
            [DEFAULT, C1]
        } else {
            [C1, DEFAULT]
        };
        let beside = ProgramWithAgent::prepare(&jdk, agent)?;
        for (seed, (order, setting)) in
            (12_345..).zip([(Order::VeneerFirst, first), (Order::VeneerLast, last)])
        {
            let failure = match beside.start(order, setting, seed) {
                Ok(failure) => failure,
                Err(error) => Some(error.to_string()),
            };
            failures.extend(
                failure
                    .map(|text| format!("{jdk}, {order}, {}, seed {seed}: {text}", setting.name)),
            );
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}

#[test]
fn a_storm_beside_jacoco() -> Outcome {
    run_with_other_agent(Agent::Jacoco)
}

#[test]
fn a_storm_beside_the_weaver_of_aspectj() -> Outcome {
    run_with_other_agent(Agent::AspectJ)
}

#[test]
fn a_storm_beside_byteman() -> Outcome {
    run_with_other_agent(Agent::Byteman)
}

#[test]
fn a_storm_beside_inline_mocks() -> Outcome {
    run_with_other_agent(Agent::Mockito)
}

#[test]
fn a_storm_beside_opentelemetry() -> Outcome {
    run_with_other_agent(Agent::OpenTelemetry)
}
