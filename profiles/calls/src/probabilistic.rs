//! Probabilistic calling contexts (Bond and McKinley, *Probabilistic calling context*, OOPSLA 2007).
//!
//! A thread holds one number, which identifies its calling context with high probability. At a call
//! site with the number `s`, the value of the callee is `3 V + s` (mod 2³² or 2⁶⁴), where `V` is the
//! value of the caller. The root of a thread has the value 0.
//!
//! This module decodes values in two ways:
//!
//! * [`ContextTable`] notes the stack of a value when the value first occurs, as answers to an agent
//!   that then walks the stack. Two stacks with one value are detected, and counted as a collision.
//! * [`ContextSearch`] reconstructs stacks from a call graph without any note. The multiplication by
//!   3 can be undone, because 3 is odd, so the value of the caller is `(V - s) / 3`. Each incoming
//!   edge of the method is tried until a root with the value 0 is reached. (Bond, Baker and Guyer,
//!   *Breadcrumbs*, PLDI 2010, search in this way among recorded values.)

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::call::CallEdge;
use crate::method::MethodId;
use crate::profile::CallProfile;

/// The number of bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueWidth {
    /// Values from 0 to 2³² − 1.
    Bits32,
    /// Values from 0 to 2⁶⁴ − 1.
    Bits64,
}

impl ValueWidth {
    /// The value of a callee that is called at `site` by a caller with this value.
    pub fn enter(self, value: u64, site: u64) -> u64 {
        self.cut(value.wrapping_mul(3).wrapping_add(site))
    }

    /// The value of the caller of a callee that was called at `site` and has this value.
    pub fn leave(self, value: u64, site: u64) -> u64 {
        // 3 × 0xAAAA…AB = 1 mod 2⁶⁴, and therefore also mod 2³².
        self.cut(value.wrapping_sub(site).wrapping_mul(0xAAAA_AAAA_AAAA_AAAB))
    }

    /// The value of a stack of sites, from the outermost to the innermost one.
    pub fn value_of(self, sites: &[u64]) -> u64 {
        sites.iter().fold(0, |value, site| self.enter(value, *site))
    }

    /// The number of pairs of contexts that are expected to have the same value, if `contexts`
    /// different contexts have random values.
    pub fn expected_collisions(self, contexts: u64) -> f64 {
        let n = contexts as f64;
        let values = match self {
            ValueWidth::Bits32 => 32,
            ValueWidth::Bits64 => 64,
        };
        n * (n - 1.0).max(0.0) / 2.0 / 2f64.powi(values)
    }

    fn cut(self, value: u64) -> u64 {
        match self {
            ValueWidth::Bits32 => value & u64::from(u32::MAX),
            ValueWidth::Bits64 => value,
        }
    }
}

/// The stacks of the values that have occurred.
#[derive(Clone, Debug, Default)]
pub struct ContextTable {
    /// The stacks of each value: one, unless values collide.
    stacks: HashMap<u64, Vec<Vec<u64>>>,
}

/// The answer of [`ContextTable`] for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded<'t> {
    /// The value has not occurred.
    Unknown,
    /// The sites of the only stack with this value, from the outermost to the innermost one.
    Stack(&'t [u64]),
    /// Several stacks have this value.
    Collision(&'t [Vec<u64>]),
}

impl ContextTable {
    /// A table without values.
    pub fn new() -> ContextTable {
        ContextTable::default()
    }

    /// Notes the stack of a value. Returns whether the pair is new.
    pub fn note(&mut self, value: u64, sites: &[u64]) -> bool {
        let stacks = self.stacks.entry(value).or_default();
        let is_new = !stacks.iter().any(|stack| stack == sites);
        if is_new {
            stacks.push(sites.to_vec());
        }
        is_new
    }

    /// The stack of a value.
    pub fn decode(&self, value: u64) -> Decoded<'_> {
        match self.stacks.get(&value).map(Vec::as_slice) {
            None | Some([]) => Decoded::Unknown,
            Some([stack]) => Decoded::Stack(stack),
            Some(stacks) => Decoded::Collision(stacks),
        }
    }

    /// The number of values that belong to several stacks.
    pub fn collisions(&self) -> usize {
        self.stacks
            .values()
            .filter(|stacks| stacks.len() > 1)
            .count()
    }
}

/// The sites of a call graph, by callee.
#[derive(Debug)]
pub struct ContextSearch {
    width: ValueWidth,
    /// The sites and callers of each callee.
    callers: HashMap<MethodId, Vec<(u64, MethodId)>>,
    /// Methods that threads start with.
    roots: HashSet<MethodId>,
}

/// A stack that a value can mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Candidate {
    /// The methods from the root to the innermost one.
    pub methods: Vec<MethodId>,
    /// The numbers of the sites between these methods.
    pub sites: Vec<u64>,
}

/// The stacks that were found, and whether the search saw everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The stacks, the shortest one first.
    pub candidates: Vec<Candidate>,
    /// Whether the search ended because a limit was reached. Other stacks may then exist.
    pub is_cut: bool,
}

/// The limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// The most calls on a stack.
    pub depth: usize,
    /// The most pairs of method and value that are looked at.
    pub steps: usize,
    /// The most stacks that are returned.
    pub candidates: usize,
}

impl ContextSearch {
    /// A search over the edges of a profile. `site_number` is the number that the recorder gave to
    /// the site of an edge, and `roots` are the methods that threads start with.
    pub fn new(
        profile: &CallProfile,
        width: ValueWidth,
        roots: impl IntoIterator<Item = MethodId>,
        site_number: impl Fn(&CallEdge) -> u64,
    ) -> ContextSearch {
        let mut callers: HashMap<MethodId, Vec<(u64, MethodId)>> = HashMap::new();
        for edge in profile.edges() {
            let sites = callers.entry(edge.callee).or_default();
            sites.push((site_number(edge), edge.caller));
        }
        for sites in callers.values_mut() {
            sites.sort_unstable();
            sites.dedup();
        }
        ContextSearch {
            width,
            callers,
            roots: roots.into_iter().collect(),
        }
    }

    /// The stacks that end in a method with this value.
    pub fn find(&self, method: MethodId, value: u64, limits: SearchLimits) -> SearchResult {
        let mut result = SearchResult::default();
        let mut steps = 0;
        let mut all: Vec<SearchStep> = vec![(method, value, None)];
        let mut current = 0..1;
        for depth in 0..=limits.depth {
            let next = all.len();
            for index in current.clone() {
                let (method, value, _) = all[index];
                if value == 0 && self.roots.contains(&method) {
                    if result.candidates.len() == limits.candidates {
                        result.is_cut = true;
                        return result;
                    }
                    result.candidates.push(candidate(&all, index));
                }
                for (site, caller) in self.callers.get(&method).into_iter().flatten() {
                    if steps == limits.steps || depth == limits.depth {
                        result.is_cut = true;
                        break;
                    }
                    steps += 1;
                    let value = self.width.leave(value, *site);
                    all.push((*caller, value, Some((index, *site))));
                }
            }
            current = next..all.len();
        }
        result
    }
}

/// A step of the search: its method and value, and the step that it calls with the site of the call.
type SearchStep = (MethodId, u64, Option<(usize, u64)>);

/// The stack that begins with a step.
fn candidate(steps: &[SearchStep], mut index: usize) -> Candidate {
    let mut candidate = Candidate {
        methods: vec![steps[index].0],
        sites: Vec::new(),
    };
    while let Some((callee, site)) = steps[index].2 {
        candidate.sites.push(site);
        candidate.methods.push(steps[callee].0);
        index = callee;
    }
    candidate
}

/// The numbers of the sites of a profile: 1, 2, … in the order of method name and bytecode index, so
/// that every run of the same program has the same numbers. Sites without a bytecode index have the
/// number of their method's beginning.
pub fn site_numbers(profile: &CallProfile) -> HashMap<(MethodId, u16), u64> {
    let mut sites = BTreeMap::new();
    for edge in profile.edges() {
        let method = profile.method(edge.caller);
        let loader = &profile.loaders()[method.loader.index()];
        let bci = edge.site.bci.unwrap_or(0);
        sites.insert((&method.name, loader, bci), (edge.caller, bci));
    }
    sites.into_values().zip(1..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_undone_by_its_return() {
        for width in [ValueWidth::Bits32, ValueWidth::Bits64] {
            for (value, site) in [(0, 1), (1, 0), (u64::MAX, 7), (0x1234_5678, u64::MAX)] {
                let value = width.cut(value);
                assert_eq!(width.leave(width.enter(value, site), site), value);
            }
        }
    }

    #[test]
    fn the_order_of_sites_makes_a_difference() {
        let width = ValueWidth::Bits32;
        assert_ne!(width.value_of(&[1, 2]), width.value_of(&[2, 1]));
        assert_eq!(width.value_of(&[1, 2]), 5);
    }

    #[test]
    fn ten_million_contexts_have_thousands_of_collisions_with_32_bits_and_none_with_64() {
        // n (n - 1) / 2 pairs, each with the probability 2⁻ʷ
        let few = ValueWidth::Bits32.expected_collisions(10_000_000);
        assert!((11_641.0..11_642.0).contains(&few), "{few}");
        assert!(ValueWidth::Bits64.expected_collisions(10_000_000) < 1e-5);
    }

    #[test]
    fn two_stacks_with_one_value_are_a_collision() {
        let mut table = ContextTable::new();
        let width = ValueWidth::Bits32;
        // 3 × 1 + 4 = 7 = 3 × 2 + 1
        let (one, other) = ([1, 4], [2, 1]);
        assert_eq!(width.value_of(&one), width.value_of(&other));
        assert!(table.note(7, &one) && !table.note(7, &one));
        assert_eq!(table.decode(7), Decoded::Stack(&one));
        assert!(table.note(7, &other));
        assert!(matches!(table.decode(7), Decoded::Collision(stacks) if stacks.len() == 2));
        assert_eq!((table.collisions(), table.decode(8)), (1, Decoded::Unknown));
    }
}
