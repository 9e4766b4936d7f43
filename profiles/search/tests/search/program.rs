//! Simulated programs: methods with steps, and threads that run them.

use veneer_search::cause::Cause;

use crate::draw::Draw;

/// One step of a method.
#[derive(Clone, Debug)]
pub enum Step {
    /// The method's own code at a line takes a random time with this mean, in nanoseconds.
    Work {
        nanos: f64,
        cause: Cause,
        line: u32,
        loop_line: Option<u32>,
    },
    /// The thread waits for work.
    Idle { nanos: f64 },
    /// A method is called this many times.
    Call { method: usize, times: u32 },
    /// One of the methods is called, each with the same probability, as at a virtual call site.
    OneOf { methods: Vec<usize> },
    /// A leaf method is called `calls` times, each for `nanos` on average. The simulator runs these
    /// calls as one.
    Bulk {
        method: usize,
        calls: u32,
        nanos: f64,
    },
    /// The method calls itself until the recursion is `depth` levels deep.
    Recurse { depth: u32 },
    /// The first step runs in the first `on` seconds of each `period`, else the second one.
    Phase {
        period: f64,
        on: f64,
        first: Box<Step>,
        second: Box<Step>,
    },
}

/// A method: its name, and steps that a call runs once or for ever.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: String,
    pub steps: Vec<Step>,
    pub forever: bool,
    /// Whether the driver knows the callees from bytecode alone.
    pub is_static: bool,
}

/// A simulated program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub methods: Vec<Method>,
    /// The thread group and the first method of each thread.
    pub threads: Vec<(String, usize)>,
}

impl Program {
    /// Adds a method whose steps run once in each call. Returns its number.
    pub fn method(&mut self, name: &str, steps: Vec<Step>) -> usize {
        self.methods.push(Method {
            name: name.to_string(),
            steps,
            forever: false,
            is_static: true,
        });
        self.methods.len() - 1
    }

    /// Adds a method whose steps run for ever, and a thread that begins in it.
    pub fn thread(&mut self, group: &str, name: &str, steps: Vec<Step>) -> usize {
        let method = self.method(name, steps);
        self.methods[method].forever = true;
        self.threads.push((group.to_string(), method));
        method
    }

    /// Returns the number of the method with this name.
    pub fn find(&self, name: &str) -> usize {
        let found = self.methods.iter().position(|m| m.name == name);
        found.unwrap_or_else(|| panic!("no method {name}"))
    }

    /// Returns the methods that a method calls.
    pub fn callees(&self, method: usize) -> Vec<usize> {
        let mut all = Vec::new();
        let mut steps: Vec<&Step> = self.methods[method].steps.iter().collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Call { method, .. } | Step::Bulk { method, .. } => all.push(*method),
                Step::OneOf { methods } => all.extend(methods),
                Step::Recurse { .. } => all.push(method),
                Step::Phase { first, second, .. } => steps.extend([&**first, &**second]),
                Step::Work { .. } | Step::Idle { .. } => {}
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Returns processor time at a line.
pub fn work(micros: f64, line: u32) -> Step {
    wait(micros, line, Cause::Processor)
}

/// Returns time of a cause at a line.
pub fn wait(micros: f64, line: u32, cause: Cause) -> Step {
    Step::Work {
        nanos: micros * 1e3,
        cause,
        line,
        loop_line: None,
    }
}

/// Returns one call.
pub fn call(method: usize) -> Step {
    Step::Call { method, times: 1 }
}

/// Returns a random duration with a mean, between half and one and a half of it.
pub fn jitter(draw: &mut Draw, nanos: f64) -> u64 {
    (nanos * (0.5 + draw.unit())) as u64 + 1
}
