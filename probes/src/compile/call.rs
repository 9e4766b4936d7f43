//! Compiles calls of functions.

use super::value::may_be_collection;
use super::{Compiler, ProbeResult, helper_descriptor, refuse};
use crate::error::Reason;
use crate::function::{self, COUNTED_PER_CALL_SITE, ParameterType, TOLD_SITE, unknown_function};
use crate::step::ProbeStep;
use crate::tree::{Expr, ExprKind, SourcePosition};
use crate::ty::Ty;
use std::sync::atomic::{AtomicI64, Ordering};

/// The number of the next call site of a counting function.
static NEXT_CALL_SITE: AtomicI64 = AtomicI64::new(1);

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        values: &[Expr],
        place: SourcePosition,
    ) -> ProbeResult<Ty> {
        if (name, values.len()) == ("here", 0) {
            self.step(ProbeStep::Text(self.scope.here()), 0, 1);
            return Ok(Ty::Object(veneer_names::STRING.into()));
        }
        if (name, values.len()) == ("site_id", 0) {
            self.step(ProbeStep::Long(self.scope.site_id()), 0, 2);
            return Ok(Ty::Long);
        }
        if (name, values.len()) == ("hash_of_method", 0) {
            let hash = function::hash_of_method(&self.scope.method_label());
            self.step(ProbeStep::Long(hash), 0, 2);
            return Ok(Ty::Long);
        }
        if let ("as_a", [value, class]) = (name, values) {
            return self.cast(value, class);
        }
        match (name, values) {
            ("describe", [value]) => return self.describe(value),
            ("size", [value]) => return self.size(value),
            _ => {}
        }
        let Some(function) = function::find(name, values.len()) else {
            return refuse(place, unknown_function(name));
        };
        let mut pops = 0;
        for (takes, value) in function.parameters.iter().zip(values) {
            let found = self.value(value)?;
            pops += match takes {
                ParameterType::Integer => {
                    self.fit(&Ty::Long, found, value.place)?;
                    2
                }
                ParameterType::Number => {
                    self.fit(&Ty::Double, found, value.place)?;
                    2
                }
                ParameterType::Text if found.is_text() || found == Ty::Null => 1,
                ParameterType::Object if found.is_reference() => 1,
                ParameterType::Text | ParameterType::Object => {
                    let wanted = if *takes == ParameterType::Text {
                        "a string"
                    } else {
                        "an object"
                    };
                    let wanted = wanted.to_string();
                    return refuse(value.place, Reason::Type { wanted, found });
                }
            };
        }
        let mut words: String = function.parameters.iter().map(|t| t.descriptor()).collect();
        if COUNTED_PER_CALL_SITE.contains(&name) {
            // Each call site has a count of its own.
            let call_site = NEXT_CALL_SITE.fetch_add(1, Ordering::Relaxed);
            self.step(ProbeStep::Long(call_site), 0, 2);
            words.push('J');
            pops += 2;
        }
        if TOLD_SITE.contains(&name) {
            self.step(ProbeStep::Text(self.scope.site()), 0, 1);
            words.push_str("Ljava/lang/Object;");
            pops += 1;
        }
        if name == "inline_cache" {
            self.step(ProbeStep::Long(self.scope.inline_cache()), 0, 2);
            words.push('J');
            pops += 2;
        }
        let gives = function.result.ty();
        let given = format!("({words}){}", helper_descriptor(&gives));
        self.helper(function.helper, given, pops, gives.words());
        Ok(gives)
    }

    /// Compiles `size(value)`: the number of elements of a string, an array or a collection of the JDK.
    fn size(&mut self, value: &Expr) -> ProbeResult<Ty> {
        let found = self.value(value)?;
        match &found {
            Ty::Array(_) => self.length(&found),
            ty if ty.is_text() => self.length(&found),
            Ty::Object(class) if may_be_collection(class) => {
                self.helper("size", "(Ljava/lang/Object;)J", 1, 2);
            }
            _ => {
                let wanted = "a collection of the JDK".to_string();
                return refuse(value.place, Reason::Type { wanted, found });
            }
        }
        Ok(Ty::Long)
    }

    /// Compiles `as_a(value, "a.b.C")`: the object if it is an instance of the class, otherwise
    /// null.
    fn cast(&mut self, value: &Expr, class: &Expr) -> ProbeResult<Ty> {
        let ExprKind::Text(name) = &class.kind else {
            return refuse(class.place, Reason::ClassName);
        };
        let found = self.value(value)?;
        if !found.is_reference() {
            let wanted = "an object".to_string();
            return refuse(value.place, Reason::Type { wanted, found });
        }
        let name = veneer_names::internal_form(name);
        match self.scope.cast(&name) {
            Ok(number) => {
                self.step(ProbeStep::Long(number), 0, 2);
                self.helper("asA", "(Ljava/lang/Object;J)Ljava/lang/Object;", 3, 1);
                Ok(Ty::Object(name))
            }
            Err(reason) => refuse(class.place, reason),
        }
    }
}
