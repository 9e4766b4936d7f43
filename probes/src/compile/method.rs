use crate::step::{ComputationalType, HelperClass, Label, ProbeStep};

/// A compiled probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeMethod {
    /// The parameters: names and types of the variables of the point that the probe reads.
    pub parameters: Vec<(String, ComputationalType)>,
    /// The probe's own variables, which follow the parameters. The emitter must initialise each of
    /// them before the first step.
    pub locals: Vec<ComputationalType>,
    /// The steps of the method's code, in order.
    pub steps: Vec<ProbeStep>,
    /// The maximum depth of the operand stack, in words.
    pub max_stack: u16,
    /// The slot of the flag that is set if this probe has called `enter`, for a probe that calls
    /// methods of the application. If the flag is set, the probe must call `leave` on every exit,
    /// including exceptions.
    pub enter_flag: Option<u16>,
    /// The numbers of the tables whose addresses are in the steps, as
    /// [`ProbeMethod::with_table_addresses`] has put them there; a number may occur twice.
    pub tables: Vec<u32>,
}

impl ProbeMethod {
    /// Returns the descriptor of the method (JVMS 4.3.3).
    pub fn descriptor(&self) -> String {
        let words: String = self.parameters.iter().map(|r| r.1.descriptor()).collect();
        format!("({words})V")
    }

    /// Returns a probe that acts only for the first `most` passes. `cell` is the address of the
    /// word in memory that counts the passes.
    #[must_use]
    pub fn limit_passes(mut self, cell: i64, most: u64) -> Self {
        // No other label has this number, because there are fewer labels than steps.
        let skipped = Label(u32::MAX);
        let guard = [
            ProbeStep::Long(cell),
            ProbeStep::Long(most as i64),
            ProbeStep::Helper {
                of: HelperClass::Probe,
                name: "first",
                descriptor: "(JJ)Z".into(),
            },
            ProbeStep::IfZero(skipped),
        ];
        self.steps.splice(0..0, guard);
        self.steps
            .extend([ProbeStep::BindLabel(skipped), ProbeStep::Return]);
        self.max_stack = self.max_stack.max(4);
        self
    }

    /// Returns this probe with [`ProbeStep::OwnWord`] replaced by an offset.
    #[must_use]
    pub fn with_own_word(mut self, offset: i64) -> Self {
        for step in &mut self.steps {
            if *step == ProbeStep::OwnWord {
                *step = ProbeStep::Long(offset);
            }
        }
        self
    }

    /// Returns this probe with table numbers replaced by the addresses that `place` returns.
    #[must_use]
    pub fn with_table_addresses(mut self, place: &dyn Fn(u32) -> i64) -> Self {
        for step in &mut self.steps {
            if let ProbeStep::Table(n) = step {
                self.tables.push(*n);
                *step = ProbeStep::Long(place(*n));
            }
        }
        self
    }
}
