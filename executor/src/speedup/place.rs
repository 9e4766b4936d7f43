//! The place of a virtual speed-up: whether a frame belongs to a selected method.

use crate::jvm::frames::Frame;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use crate::jvm::version_frames::is_version;
use std::collections::HashMap;
use veneer_instruments::MethodPattern;

/// The most methods whose answer is kept. Then all are asked for anew, because methods of unloaded
/// classes would otherwise stay.
const MAX_METHODS: usize = 1 << 16;

/// The selected methods, and the answer for each method that was met.
pub struct Place {
    patterns: Vec<MethodPattern>,
    known: HashMap<Frame, bool>,
}

impl Place {
    /// The methods that any of the patterns selects.
    pub fn new(patterns: Vec<MethodPattern>) -> Place {
        Place {
            patterns,
            known: HashMap::new(),
        }
    }

    /// Whether a frame belongs to the place.
    pub fn contains(&mut self, tool: Tool, env: Env, frame: Frame) -> bool {
        let method = frame.at(0);
        if let Some(known) = self.known.get(&method) {
            return *known;
        }
        if self.known.len() >= MAX_METHODS {
            self.known.clear();
        }
        let described = tool.described(env, method);
        let is_selected = described.is_some_and(|(class, name, descriptor)| {
            selects(&self.patterns, &class, &name, &descriptor)
        });
        self.known.insert(method, is_selected);
        is_selected
    }
}

/// Whether a pattern selects a method. A call in a version also has the frame of its own method, so
/// versions need not be selected.
fn selects(patterns: &[MethodPattern], class: &str, name: &str, descriptor: &str) -> bool {
    let mut patterns = patterns.iter();
    !is_version(class) && patterns.any(|pattern| pattern.matches(class, name, descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_belongs_to_the_place_if_its_method_is_selected() {
        let pattern = MethodPattern::parse("*..*::serve(int)").expect("a pattern");
        let found = |class: &str, name: &str, descriptor: &str| {
            selects(std::slice::from_ref(&pattern), class, name, descriptor)
        };
        assert!(found("shop.Desk", "serve", "(I)V"));
        assert!(!found("shop.Desk", "serve", "(J)V"));
        assert!(!found("shop.Desk", "close", "(I)V"));
        assert!(!found("shop.Desk$V/0x0000f00", "serve", "(I)V"));
    }
}
