//! Armed methods and their flow graphs, as lists that a plan can ask for: to choose targets among what there is.

use serde::{Deserialize, Serialize};

/// An armed method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmedMethod {
    /// Tells methods of one name apart that classes of several loaders have.
    #[serde(default)]
    pub id: u32,
    /// Dotted: `a.b.Outer$Inner`.
    pub class: String,
    /// Name and descriptor: `m(I)I`.
    pub method: String,
}

impl ArmedMethod {
    /// The pattern that selects it and, where its class has bridge methods of the same name and arguments, those; none where
    /// the descriptor is none.
    pub fn pattern(&self) -> Option<String> {
        let (name, descriptor) = self.method.split_at(self.method.find('(')?);
        let types = crate::pattern::argument_names(descriptor)?;
        Some(format!("{}::{name}({})", self.class, types.join(", ")))
    }
}

/// What is known of an armed class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmedClass {
    /// Dotted.
    pub name: String,
    /// Access flags, as in the class file.
    pub flags: u16,
    /// Dotted names of its annotation types.
    pub annotations: Vec<String>,
    /// Dotted names of all classes and interfaces above it.
    pub supertypes: Vec<String>,
    /// Whether its static initialiser has run.
    pub is_initialised: bool,
    /// Its selected methods.
    pub methods: Vec<DescribedMethod>,
}

/// What is known of an armed method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMethod {
    /// Which.
    pub method: ArmedMethod,
    /// Access flags, as in the class file.
    pub flags: u16,
    /// Dotted names of its annotation types.
    pub annotations: Vec<String>,
    /// Bytes of its code.
    pub size: u32,
}

/// Its flow graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// Whose.
    #[serde(flatten)]
    pub method: ArmedMethod,
    /// Fragments are numbered from 0 to this less 1.
    pub fragments: u32,
    /// Edges between fragments, those to exception handlers aside, in order.
    pub edges: Vec<(u32, u32)>,
    /// The fragments themselves, by their numbers.
    pub blocks: Vec<Block>,
}

/// A fragment, as the class file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The source line at which it begins.
    pub line: Option<u16>,
    /// Mnemonics of its instructions.
    pub instructions: Vec<String>,
    /// How many loops it is in.
    pub depth: u32,
    /// Whether a loop begins there.
    pub is_header: bool,
    /// Whether an activation can be reached there: whether instruments stand there.
    pub is_reachable: bool,
    /// Names and types of the variables that code can read at its beginning.
    pub variables: Vec<(String, String)>,
}

/// So many of a list, drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// At most so many, each once.
    pub count: usize,
    /// The same seed draws the same from the same list.
    pub seed: u64,
}

impl Sample {
    /// Places in a list of `length`, in the order in which they were drawn: Fisher and Yates' shuffle, broken off.
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

/// The next number of SplitMix64 (Steele, Lea, Flood 2014).
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
            id: 1,
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
    fn a_sample_has_each_once_and_depends_on_its_seed() {
        let draw = |seed| Sample { count: 10, seed }.draw(1000);
        let mut first = draw(1);
        assert_eq!(first, draw(1));
        assert_ne!(first, draw(2));
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 10);
        assert_eq!(Sample { count: 10, seed: 3 }.draw(4).len(), 4);
        assert!(Sample { count: 10, seed: 3 }.draw(0).is_empty());
    }
}
