//! Texts that name the methods of a profile.

use std::collections::HashMap;

use crate::method::{MethodForm, MethodId, MethodName};
use crate::profile::CallProfile;

/// The names of the methods of a profile. A name includes the loader if several loaders have a
/// method of this name.
#[derive(Debug)]
pub struct Labels<'p> {
    profile: &'p CallProfile,
    /// The number of methods of each name.
    counts: HashMap<&'p MethodName, u32>,
}

impl<'p> Labels<'p> {
    /// The names of the methods of this profile.
    pub fn new(profile: &'p CallProfile) -> Labels<'p> {
        let mut counts = HashMap::new();
        for method in profile.methods() {
            *counts.entry(&method.name).or_insert(0) += 1;
        }
        Labels { profile, counts }
    }

    /// The text for a method: `a.B::m(int)`, or `a.B::m(int) [app#2]`.
    pub fn label(&self, id: MethodId) -> String {
        let method = self.profile.method(id);
        let count = self.counts.get(&method.name).copied().unwrap_or(1);
        if count == 1 || method.form == MethodForm::Overflow {
            return method.name.to_string();
        }
        let loader = &self.profile.loaders()[method.loader.index()];
        format!("{} [{loader}]", method.name)
    }
}
