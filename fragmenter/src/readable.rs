//! The local variables and operand-stack values that code at a join point can read.
//!
//! A variable that is not live at a fragment has no value in a version of the method, even if it
//! has one in the original code. Control that enters a version at a capture point brings only the
//! live values.

use crate::advice::Site;
use crate::bytecode::Instruction;
use crate::flowgraph::FragmentId;
use crate::method::Method;
use crate::patch::{self, Patched};
use crate::point_values::frame_state;
use crate::points::Point;
use crate::types::{self, State, Type};
use crate::value_type::java_type_name;
use veneer_names::{FieldDescriptor, LocalSlot};

/// The values that code can read at the sites of a method.
pub struct Readable<'m> {
    method: &'m Method<'m>,
    /// The capture points of the armed body.
    points: &'m [Point],
    /// The method's graph, unless its versions are refused.
    graph: Option<Patched>,
}

impl<'m> Readable<'m> {
    /// Analyses a method with the capture points of its armed body.
    pub fn new(method: &'m Method<'m>, points: &'m [Point]) -> Readable<'m> {
        Readable {
            method,
            points,
            graph: patch::apply(method, &[], points).ok(),
        }
    }

    /// The verification types of the values that can be read at a site, and the pc by which variables are
    /// named there.
    pub fn state(&self, site: Site) -> (State, u16) {
        let method = self.method;
        match site {
            Site::At(pc) | Site::AfterCode(pc) => {
                let fragment = method.flow.fragment_containing(pc);
                let mut state = self.at_head(fragment);
                for (at, instruction) in self.instructions(fragment) {
                    let is_last = *at == pc;
                    if is_last && matches!(site, Site::At(_)) {
                        break;
                    }
                    let (pool, class) = (&method.file.pool, &method.class);
                    if types::step(&mut state, *at, instruction, pool, class).is_err() || is_last {
                        break;
                    }
                }
                (state, pc)
            }
            Site::After(f) => match self.instructions(f).last() {
                Some((pc, _)) => self.state(Site::At(*pc)),
                None => (self.at_head(f), 0),
            },
            Site::Before(f) | Site::Edge(_, f) => {
                let start = method.flow.get(f).map_or(0, |f| f.start);
                (self.at_head(f), start)
            }
            Site::Entry | Site::Return | Site::Throw | Site::Crossing | Site::Guard(_) => {
                match self.points.first() {
                    Some(p) => (frame_state(p, method.code.max_locals), p.pc),
                    None => (State::default(), 0),
                }
            }
        }
    }

    fn at_head(&self, f: FragmentId) -> State {
        match &self.graph {
            Some(patched) => patched.state(self.method, f),
            None => self
                .method
                .states
                .get(f.index())
                .cloned()
                .unwrap_or_default(),
        }
    }

    fn instructions(&self, f: FragmentId) -> &'m [(u16, Instruction)] {
        let range = self
            .method
            .flow
            .get(f)
            .map_or(0..0, |f| f.instructions.clone());
        &self.method.instructions[range]
    }

    /// Names of the local variables that can be read at a site, and their types in source form, such as
    /// `int[]`.
    pub fn variables(&self, site: Site) -> Vec<(String, String)> {
        let method = self.method;
        let (state, pc) = self.state(site);
        let known = |(slot, t): (LocalSlot, &Type)| {
            let name = method.variable_name(slot, pc);
            let declared = method.variable(slot, pc).map(|v| v.descriptor.as_str());
            // A variable that holds a null constant has the type that the source declares.
            let shown = match (t, declared) {
                (Type::Top, _) => return None,
                (t, _) if t.is_uninitialized() => return None,
                (Type::Int | Type::Null, Some(declared)) => FieldDescriptor::parse(declared)
                    .map_or_else(|_| declared.to_owned(), FieldDescriptor::java_form),
                (Type::Int, None) => "int".into(),
                (Type::Long, _) => "long".into(),
                (Type::Float, _) => "float".into(),
                (Type::Double, _) => "double".into(),
                (Type::Object(class), _) => java_type_name(class),
                _ => "()".into(),
            };
            Some((name, shown))
        };
        state.numbered_locals().filter_map(known).collect()
    }
}
