//! Descriptions of armed methods and their flow graphs, from which a plan can choose its targets.
//!
//! An *armed* method is a method whose body has a switchable check at each capture point, a point
//! where a running activation can leave its code.

use serde::{Deserialize, Serialize};
use veneer_names::{MethodId, MethodRef};

/// The identity of an armed method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmedMethod {
    /// The method's id. Ids distinguish methods of equal name and class name in different class
    /// loaders.
    #[serde(default)]
    pub id: MethodId,
    /// The dotted class name: `a.b.Outer$Inner`.
    pub class: String,
    /// The method's name and descriptor: `m(I)I`.
    pub method: String,
}

impl ArmedMethod {
    /// Returns a pattern that selects this method. The pattern also selects bridge methods of the
    /// same name and arguments in the same class. Returns `None` if the descriptor is malformed.
    pub fn pattern(&self) -> Option<String> {
        let method = MethodRef::parse(&self.method).ok()?;
        Some(format!("{}::{}", self.class, method.java_form()))
    }
}

/// The properties of an armed class that a plan can query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmedClass {
    /// The dotted class name.
    pub name: String,
    /// The access flags, as in the class file.
    pub flags: u16,
    /// The dotted names of the annotation types.
    pub annotations: Vec<String>,
    /// The dotted names of all superclasses and superinterfaces, direct and indirect.
    pub supertypes: Vec<String>,
    /// Whether the static initialiser has run.
    pub is_initialised: bool,
    /// The methods that the query has selected.
    pub methods: Vec<DescribedMethod>,
}

/// The properties of an armed method that a plan can query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMethod {
    /// The name of the method, with its class and id.
    pub method: ArmedMethod,
    /// The access flags, as in the class file.
    pub flags: u16,
    /// The dotted names of the annotation types.
    pub annotations: Vec<String>,
    /// The size of the bytecode, in bytes.
    pub size: u32,
}

/// The flow graph of an armed method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// The name of the method, with its class and id.
    #[serde(flatten)]
    pub method: ArmedMethod,
    /// The number of fragments. Fragments are numbered from 0.
    pub fragments: u32,
    /// The hash of the code. Methods with the same hash have the same fragments.
    pub hash: String,
    /// The edges between fragments, in order, without the edges to exception handlers.
    pub edges: Vec<(u32, u32)>,
    /// The fragments, by number.
    pub blocks: Vec<Block>,
    /// The parameters without the receiver.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
}

/// A parameter of a method, by its number from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name by which code can read the parameter at the entry.
    pub name: String,
    /// The Java type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether an edit can make the parameter a constant.
    pub can_be_constant: bool,
}

/// A virtual call whose receiver an edit can test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualCallSite {
    /// The pc of the call.
    pub pc: u16,
    /// The source line.
    pub line: Option<u16>,
    /// The class that the call names, the method and the parameters: `a.I::m(int)`.
    pub target: String,
}

/// The graph of a method in the forms of `veneer fragments`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphDump {
    /// The listing as text.
    pub text: String,
    /// A graph in the DOT language.
    pub dot: String,
    /// The listing as JSON.
    pub json: String,
}

/// The graph of a method before and after edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedGraph {
    /// The name of the method, with its class and id.
    #[serde(flatten)]
    pub method: ArmedMethod,
    /// The graph of the class file.
    pub before: GraphDump,
    /// The graph with the edits that are in effect, and with those that are tried.
    pub after: GraphDump,
}

/// A fragment (here a basic block) of the original class file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The pc of the first instruction.
    #[serde(default)]
    pub pc: u16,
    /// The source line of the first instruction.
    pub line: Option<u16>,
    /// The mnemonics of the instructions.
    pub instructions: Vec<String>,
    /// The number of loops that contain the fragment.
    pub depth: u32,
    /// Whether the fragment is a loop header.
    pub is_header: bool,
    /// Whether an activation can reach the fragment. Instruments are placed in reachable fragments
    /// only.
    pub is_reachable: bool,
    /// The names and types of the variables that a probe can read at the beginning of the fragment.
    pub variables: Vec<(String, String)>,
    /// The virtual calls whose receivers an edit can test.
    #[serde(default)]
    pub calls: Vec<VirtualCallSite>,
}

/// A request for a random sample of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomSample {
    /// The maximum size of the sample. Each item is drawn at most once.
    pub count: usize,
    /// The seed of the generator. Equal seeds draw equal samples from equal lists.
    pub seed: u64,
}

impl RandomSample {
    /// Returns indices into a list of `length` items, in the order in which they were drawn. The
    /// method is a partial Fisher–Yates shuffle.
    pub fn draw(self, length: usize) -> Vec<usize> {
        let mut state = self.seed;
        let mut places: Vec<usize> = (0..length).collect();
        let count = self.count.min(length);
        for i in 0..count {
            let j = i + (split_mix(&mut state) % (length - i) as u64) as usize;
            places.swap(i, j);
        }
        places.truncate(count);
        places
    }
}

/// Returns the next number of the SplitMix64 generator (Steele, Lea, Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MethodPattern;

    #[test]
    fn the_pattern_selects_the_method_and_no_overload() {
        let method = ArmedMethod {
            id: MethodId(1),
            class: "a.B$C".into(),
            method: "m(I[[Ljava/lang/String;J)V".into(),
        };
        let text = method.pattern().expect("it has a descriptor");
        assert_eq!(text, "a.B$C::m(int, java.lang.String[][], long)");
        let pattern = MethodPattern::parse(&text).expect("it is one");
        assert!(pattern.matches("a.B$C", "m", "(I[[Ljava/lang/String;J)V"));
        assert!(!pattern.matches("a.B$C", "m", "(I[Ljava/lang/String;J)V"));
    }

    #[test]
    fn a_sample_has_no_duplicates_and_depends_on_its_seed() {
        let draw = |seed| RandomSample { count: 10, seed }.draw(1000);
        let mut first = draw(1);
        assert_eq!(first, draw(1));
        assert_ne!(first, draw(2));
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 10);
        assert_eq!(RandomSample { count: 10, seed: 3 }.draw(4).len(), 4);
        assert!(RandomSample { count: 10, seed: 3 }.draw(0).is_empty());
    }
}
