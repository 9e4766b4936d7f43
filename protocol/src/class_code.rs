//! The class files of an armed class, and those of the versions of its methods.
//!
//! Class files are base64 texts in messages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An armed class: the answer to `classcode`, one for each class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCode {
    /// The class name with dots.
    pub class: String,
    /// The class file from which the armed class was made.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub original: Vec<u8>,
    /// The class file with the checks at the capture points, as the JVM runs it.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub armed: Vec<u8>,
    /// The selected methods, in the order of the class file.
    pub methods: Vec<MethodCode>,
}

/// The versions of a method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodCode {
    /// Name and descriptor, for instance `m(I)V`.
    pub method: String,
    /// The version that new activations enter; `None` if they run the armed body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enter: Option<VersionFile>,
    /// The version in which running activations resume; `None` until one was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<VersionFile>,
}

/// The class file of a version, with one method of the application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionFile {
    /// The name of the method with the specialised code.
    pub body: String,
    /// The class file.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub bytes: Vec<u8>,
}

impl ClassCode {
    /// The size of all class files in bytes.
    pub fn size(&self) -> usize {
        let versions = self.methods.iter().flat_map(|m| [&m.enter, &m.resume]);
        let versions: usize = versions.flatten().map(|v| v.bytes.len()).sum();
        self.original.len() + self.armed.len() + versions
    }
}

fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_files_are_base64_texts() {
        let version = VersionFile {
            body: "m".into(),
            bytes: vec![0xca, 0xfe],
        };
        let code = ClassCode {
            class: "a.B".into(),
            original: vec![0xca, 0xfe, 0xba],
            armed: vec![1],
            methods: vec![MethodCode {
                method: "m()V".into(),
                enter: Some(version),
                resume: None,
            }],
        };
        let text = r#"{"class":"a.B","original":"yv66","armed":"AQ==","methods":[{"method":"m()V","enter":{"body":"m","bytes":"yv4="}}]}"#;
        assert_eq!(serde_json::to_string(&code).unwrap(), text);
        assert_eq!(serde_json::from_str::<ClassCode>(text).unwrap(), code);
        assert_eq!(code.size(), 6);
        assert!(serde_json::from_str::<ClassCode>(&text.replace("AQ==", "?")).is_err());
    }
}
