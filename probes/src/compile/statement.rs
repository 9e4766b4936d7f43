//! Compiles statements.

use super::opcode::{I2L, LADD};
use super::tag::KeyTag;
use super::{Compiler, MAX_TABLE_KEYS, ProbeResult, refuse};
use crate::error::Reason;
use crate::function::unknown_function;
use crate::step::{HelperClass, Label, ProbeStep};
use crate::tree::{Expr, SourcePosition, Statement};
use crate::ty::Ty;

impl Compiler<'_> {
    pub(super) fn statement(&mut self, statement: &Statement) -> ProbeResult<()> {
        match statement {
            Statement::Let { name, value } => {
                let value = self.hoist(value)?;
                let ty = self.value(&value)?;
                let n = self.variable(&ty);
                self.store_own(n);
                self.visible.push((name.clone(), ty, n));
            }
            Statement::Assign { name, value } => {
                let Some((_, ty, n)) = self.find(name) else {
                    let name = name.clone();
                    return refuse(value.place, Reason::Unknown { name });
                };
                let place = value.place;
                let value = self.hoist(value)?;
                let found = self.value(&value)?;
                self.fit(&ty, found, place)?;
                self.store_own(n);
            }
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                self.condition(condition)?;
                let (no, end) = (self.label(), self.label());
                self.step(ProbeStep::IfZero(no), 1, 0);
                self.block(then)?;
                if otherwise.is_empty() {
                    self.step(ProbeStep::BindLabel(no), 0, 0);
                } else {
                    self.step(ProbeStep::Goto(end), 0, 0);
                    self.step(ProbeStep::BindLabel(no), 0, 0);
                    self.block(otherwise)?;
                    self.step(ProbeStep::BindLabel(end), 0, 0);
                }
            }
            Statement::For { name, array, body } => self.for_loop(name, array, body)?,
            Statement::UpdateTable {
                table,
                operation,
                values,
                place,
            } => self.aggregate(*table, operation, values, *place)?,
            Statement::Keep { stacks, value } => self.keep(*stacks, value)?,
            Statement::TraceEvent { part, label, value } => {
                self.trace_event(&part.marked_label(label), value.as_ref())?;
            }
            Statement::Return => self.step(ProbeStep::Return, 0, 0),
        }
        Ok(())
    }

    fn trace_event(&mut self, label: &str, value: Option<&Expr>) -> ProbeResult<()> {
        let value = value.map(|value| self.hoist(value)).transpose()?;
        self.step(ProbeStep::Text(label.into()), 0, 1);
        let Some(value) = value else {
            self.helper("event", "(Ljava/lang/Object;)V", 1, 0);
            return Ok(());
        };
        let (descriptor, words) = match self.value(&value)? {
            Ty::Long => ("(Ljava/lang/Object;J)V", 2),
            Ty::Double => ("(Ljava/lang/Object;D)V", 2),
            Ty::Bool => ("(Ljava/lang/Object;Z)V", 1),
            found @ Ty::Stack => {
                let wanted = "a value".into();
                return refuse(value.place, Reason::Type { wanted, found });
            }
            Ty::Object(_) | Ty::Array(_) | Ty::Null => {
                ("(Ljava/lang/Object;Ljava/lang/Object;)V", 1)
            }
        };
        self.helper("event", descriptor, 1 + words, 0);
        Ok(())
    }

    /// Emits the steps that push the value of a condition.
    pub(super) fn condition(&mut self, e: &Expr) -> ProbeResult<()> {
        let hoisted = self.hoist(e)?;
        let found = self.value(&hoisted)?;
        self.fit(&Ty::Bool, found, e.place)
    }

    fn for_loop(&mut self, name: &str, array: &Expr, body: &[Statement]) -> ProbeResult<()> {
        let place = array.place;
        let array = self.hoist(array)?;
        let of = match self.value(&array)? {
            Ty::Array(of) => of,
            found => {
                let wanted = "an array".into();
                return refuse(place, Reason::Type { wanted, found });
            }
        };
        let ty = Ty::Array(of.clone());
        let element = Ty::from_descriptor(&of).unwrap_or(Ty::Null);
        let (all, at, one) = (
            self.variable(&ty),
            self.variable(&Ty::Long),
            self.variable(&element),
        );
        self.store_own(all);
        self.step(ProbeStep::Long(0), 0, 2);
        self.store_own(at);
        let (head, end) = (self.label(), self.label());
        self.step(ProbeStep::BindLabel(head), 0, 0);
        self.load_own(at);
        self.load_own(all);
        self.length(&ty);
        self.helper("more", "(JJ)Z", 4, 1);
        self.step(ProbeStep::IfZero(end), 1, 0);
        self.load_own(all);
        self.load_own(at);
        self.element(&of);
        self.store_own(one);
        let names = self.visible.len();
        self.visible.push((name.to_string(), element, one));
        self.block(body)?;
        self.visible.truncate(names);
        self.load_own(at);
        self.step(ProbeStep::Long(1), 0, 2);
        self.step(ProbeStep::Plain(LADD), 4, 2);
        self.store_own(at);
        self.step(ProbeStep::Goto(head), 0, 0);
        self.step(ProbeStep::BindLabel(end), 0, 0);
        Ok(())
    }

    fn aggregate(
        &mut self,
        table: u32,
        operation: &str,
        values: &[Expr],
        place: SourcePosition,
    ) -> ProbeResult<()> {
        let hoisted: Vec<Expr> = values
            .iter()
            .map(|v| self.hoist(v))
            .collect::<ProbeResult<_>>()?;
        if let ("push" | "keep", [value]) = (operation, &hoisted[..]) {
            return self.push(table, operation, value);
        }
        if let ("set", [object, value]) = (operation, &hoisted[..]) {
            self.step(ProbeStep::Table(table), 0, 2);
            self.object(object)?;
            let found = self.value(value)?;
            self.fit(&Ty::Long, found, value.place)?;
            self.helper("set", "(JLjava/lang/Object;J)V", 5, 0);
            return Ok(());
        }
        let (keys, helper) = match (operation, hoisted.len()) {
            ("count", n) => (n, "count"),
            ("count_rate", n) => (n, "countRate"),
            ("count_top", n) => (n, "countTop"),
            ("put", n) => (n, "put"),
            ("put_sample", n) => (n, "putSample"),
            ("add" | "add_linear" | "add_distinct", 0) => {
                let what = "`add` without a value".into();
                return refuse(place, Reason::TooLarge { what });
            }
            ("add", n) => (n - 1, "add"),
            ("add_linear", n) => (n - 1, "addLinear"),
            // The value is one of the keys of its entry.
            ("add_distinct", n) if n > MAX_TABLE_KEYS => {
                let what = format!(
                    "{} keys and a value, and a distinct() has {} keys at most",
                    n - 1,
                    MAX_TABLE_KEYS - 1
                );
                return refuse(place, Reason::TooLarge { what });
            }
            ("add_distinct", n) => (n, "addDistinct"),
            (name, _) => return refuse(place, unknown_function(name)),
        };
        if keys > MAX_TABLE_KEYS {
            let what = format!("{keys} keys, and a table has {MAX_TABLE_KEYS} at most");
            return refuse(place, Reason::TooLarge { what });
        }
        let drawn = (helper == "putSample").then(|| self.draw_sample(table));
        // The tag word precedes the keys, but is known only after the keys are compiled.
        self.step(ProbeStep::Table(table), 0, 2);
        let tags = self.steps.len();
        self.step(ProbeStep::Long(0), 0, 2);
        let mut tag = 0;
        for (n, key) in hoisted[..keys].iter().enumerate() {
            tag |= (self.key(table, key, helper == "put")? as i64) << (4 * n);
        }
        for _ in keys..MAX_TABLE_KEYS {
            self.step(ProbeStep::Long(0), 0, 2);
        }
        if let Some(step) = self.steps.get_mut(tags) {
            *step = ProbeStep::Long(tag);
        }
        match (hoisted.get(keys), drawn) {
            (None, None) => self.helper_of(HelperClass::Tables, helper, "(JJJJJJ)V", (12, 0)),
            (None, Some((number, end))) => {
                self.load_own(number);
                self.helper_of(HelperClass::Tables, helper, "(JJJJJJJ)V", (14, 0));
                self.step(ProbeStep::BindLabel(end), 0, 0);
            }
            (Some(value), _) => {
                let found = self.value(value)?;
                match self.unboxed(found) {
                    Ty::Double => self.helper("round", "(D)J", 2, 2),
                    found => self.fit(&Ty::Long, found, value.place)?,
                }
                self.helper_of(HelperClass::Tables, helper, "(JJJJJJJ)V", (14, 0));
            }
        }
        Ok(())
    }

    /// Emits the steps that decide whether this pass is part of a sample. If not, they jump to the
    /// returned label, so the values are not evaluated; most passes are not part of the sample.
    /// Returns the variable with the drawn number, and the label.
    fn draw_sample(&mut self, table: u32) -> (usize, Label) {
        self.step(ProbeStep::Table(table), 0, 2);
        self.helper_of(HelperClass::Tables, "draw", "(J)J", (2, 2));
        let number = self.variable(&Ty::Long);
        self.store_own(number);
        let end = self.label();
        self.load_own(number);
        self.step(ProbeStep::Long(0), 0, 2);
        self.helper("differ", "(JJ)Z", 4, 1);
        self.step(ProbeStep::IfZero(end), 1, 0);
        (number, end)
    }

    /// Compiles `push` and `keep`, which push a value on a per-thread stack.
    fn push(&mut self, table: u32, operation: &str, value: &Expr) -> ProbeResult<()> {
        self.step(ProbeStep::Table(table), 0, 2);
        let found = self.value(value)?;
        if operation == "push" {
            self.fit(&Ty::Long, found, value.place)?;
            self.helper_of(HelperClass::Threads, "push", "(JJ)V", (4, 0));
            return Ok(());
        }
        check_object(found, value.place)?;
        self.helper_of(
            HelperClass::Threads,
            "keep",
            "(JLjava/lang/Object;)V",
            (3, 0),
        );
        Ok(())
    }

    /// Emits the steps that push an object.
    pub(super) fn object(&mut self, e: &Expr) -> ProbeResult<()> {
        let found = self.value(e)?;
        check_object(found, e.place)
    }

    /// Emits the steps that push a key as one word. Returns the type of the word. `latest`: whether the
    /// table keeps the latest values, which has its strings in a ring.
    fn key(&mut self, table: u32, key: &Expr, latest: bool) -> ProbeResult<KeyTag> {
        Ok(match self.value(key)? {
            Ty::Long => KeyTag::Integer,
            Ty::Stack => KeyTag::Stack,
            Ty::Bool => {
                self.step(ProbeStep::Plain(I2L), 1, 2);
                KeyTag::Bool
            }
            Ty::Double => {
                self.helper("bits", "(D)J", 2, 2);
                KeyTag::Float
            }
            ty if ty.is_text() => {
                // The table has a number for each string.
                self.step(ProbeStep::Table(table), 0, 2);
                let name = if latest { "latestText" } else { "text" };
                self.helper(name, "(Ljava/lang/Object;J)J", 3, 2);
                KeyTag::Text
            }
            _ => {
                // At run time the object may still be a string or another value with a text.
                self.step(ProbeStep::Table(table), 0, 2);
                let name = if latest { "latestObject" } else { "object" };
                self.helper(name, "(Ljava/lang/Object;J)J", 3, 2);
                KeyTag::Object
            }
        })
    }
}

fn check_object(found: Ty, place: SourcePosition) -> ProbeResult<()> {
    if found.is_reference() {
        return Ok(());
    }
    let wanted = "an object".into();
    refuse(place, Reason::Type { wanted, found })
}
