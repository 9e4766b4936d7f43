use crate::step::{Kind, Label, Owner, Step};

/// A compiled probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The parameters: names and types of the variables of the point that the probe reads.
    pub reads: Vec<(String, Kind)>,
    /// The probe's own variables, which follow the parameters. The emitter must initialise each of
    /// them before the first step.
    pub own: Vec<Kind>,
    pub steps: Vec<Step>,
    /// The maximum depth of the operand stack, in words.
    pub max_stack: u16,
    /// The slot of the flag that is set if this probe has called `enter`, for a probe that calls
    /// methods of the application. If the flag is set, the probe must call `leave` on every exit,
    /// including exceptions.
    pub entered: Option<u16>,
}

impl Method {
    pub fn descriptor(&self) -> String {
        let words: String = self.reads.iter().map(|r| r.1.descriptor()).collect();
        format!("({words})V")
    }

    /// Returns a probe that acts only for the first `most` passes. `cell` is the address of the
    /// word in memory that counts the passes.
    #[must_use]
    pub fn first(mut self, cell: i64, most: u64) -> Self {
        // No other label has this number, because there are fewer labels than steps.
        let skipped = Label(u32::MAX);
        let guard = [
            Step::Long(cell),
            Step::Long(most as i64),
            Step::Helper {
                of: Owner::Probe,
                name: "first",
                descriptor: "(JJ)Z".into(),
            },
            Step::IfZero(skipped),
        ];
        self.steps.splice(0..0, guard);
        self.steps.extend([Step::Here(skipped), Step::Return]);
        self.max_stack = self.max_stack.max(4);
        self
    }

    /// Returns this probe with table numbers replaced by the addresses that `place` returns.
    #[must_use]
    pub fn placed(mut self, place: &dyn Fn(u32) -> i64) -> Self {
        for step in &mut self.steps {
            if let Step::Table(n) = step {
                *step = Step::Long(place(*n));
            }
        }
        self
    }
}
