//! Named cache descriptions.

use crate::description::{CacheDescription, DescriptionError};

/// A cache description with a name and a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The word that selects the preset.
    pub name: &'static str,
    /// The description as text.
    pub text: &'static str,
    /// The publication that the figures are from.
    pub source: &'static str,
}

/// All presets, in no order.
pub const PRESETS: [Preset; 1] = [Preset {
    name: "dj",
    text: "L1:32K/4/32,L2:1M/8/128",
    source: "Maebe, Buytaert, Eeckhout, De Bosschere: Vertical Profiling of Java Applications through \
             Aspect-Oriented Dynamic Binary Instrumentation (DJ and VAOMI), 2005, section 5.1",
}];

/// Parses the name of a preset, or a description.
pub fn parse(text: &str) -> Result<CacheDescription, DescriptionError> {
    let preset = PRESETS.iter().find(|preset| preset.name == text.trim());
    preset.map_or(text, |preset| preset.text).parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_description() {
        for preset in PRESETS {
            let description = parse(preset.name).expect(preset.name);
            assert_eq!(description.to_string(), preset.text);
        }
    }

    #[test]
    fn any_other_text_is_parsed_as_a_description() {
        assert_eq!(parse("L1:4K/4/64"), "L1:4K/4/64".parse());
        assert_eq!(parse("dk").map_err(|e| e.code()), Err("CacheUnknownPart"));
    }
}
