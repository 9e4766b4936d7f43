//! The result of arming a class, to and from the class cache.
//!
//! ```text
//!   class file ─▶ key ─▶ candidates ─▶ same selection of methods? ─▶ ids filled in ─▶ Armed
//!                          none              no: next candidate
//! ```
//!
//! The key is a hash of the class file and of the policy; the build of Veneer decides which segments
//! are looked at. The selection of methods depends on patterns, which may ask for more than names.
//! Therefore a cached class lists its methods with the selection under which it was armed, and the
//! filter of this run is asked about each of them. A hit is therefore what arming would return now.
//!
//! Three kinds of arming pass the cache by: the second arming of a class, because its methods keep
//! their anchors; the arming of a class that was redefined; and every arming of an agent that checks
//! its code (`--check`), because it checks the arming itself.

use crate::agent::Agent;
use crate::classes::arming_filter::{ArmingCandidate, ArmingDecision, ArmingFilter};
use std::borrow::Cow;
use std::sync::Arc;
use veneer_class_cache::{
    CachedClass, CachedMethod, CachedRefusal, ClassCache, ClassKey, Digest, IdTemplate,
    NamedMethod, StoredFile,
};
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{Armed, ArmedMethod, CodeDigest};
use veneer_fragmenter::classfile::{Attribute, ClassFile};
use veneer_fragmenter::runtime::{cell_field, enter_method};
use veneer_names::MethodId;

/// The class file of one call of the class hook, and the cache in which it may be.
pub struct CacheLookup<'a> {
    cache: &'a ClassCache,
    filter: &'a ArmingFilter,
    key: ClassKey,
    class_file_len: u32,
}

/// A class that this process has armed itself.
pub struct FreshArming<'a> {
    /// The class file that was armed.
    pub file: &'a ClassFile<'a>,
    /// The bytes of `file`.
    pub original: &'a [u8],
    /// The result of arming it.
    pub armed: &'a Armed,
    /// The id of method 0.
    pub first_id: MethodId,
}

/// A refusal that an earlier run has recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedArmingRefusal {
    /// The method, and the position if the refusal concerns one.
    pub method: String,
    /// The public code of the refusal.
    pub code: String,
    /// The sentence for the user.
    pub detail: String,
}

/// An armed class from the cache.
pub struct CacheHit {
    /// The hot section. It has been decoded once without an error.
    hot: Vec<u8>,
    /// The number of methods of the class, armed or not.
    pub method_count: usize,
    /// The refusals for methods and positions.
    pub refusals: Vec<CachedArmingRefusal>,
    /// The original class file.
    pub original: StoredFile,
}

/// How a method is selected: whether it is wanted, and whether it may exceed the inlining limit.
fn selection(
    filter: &ArmingFilter,
    class: &ArmingCandidate,
    name: &str,
    descriptor: &str,
) -> (bool, bool) {
    let decision = filter.wants_method(class, name, descriptor);
    (
        decision != ArmingDecision::No,
        decision == ArmingDecision::ByName,
    )
}

impl<'a> CacheLookup<'a> {
    /// The lookup of a class file. `None` if there is no cache.
    pub fn new(agent: &'a Agent, class_file: &[u8]) -> Option<CacheLookup<'a>> {
        Some(CacheLookup {
            cache: agent.class_files.cache()?,
            filter: &agent.filter,
            key: agent.class_files.key(class_file),
            class_file_len: u32::try_from(class_file.len()).ok()?,
        })
    }

    /// Finds the class, armed under the selection of this run.
    pub fn find(&self, candidate: &ArmingCandidate) -> Option<CacheHit> {
        self.cache.find(self.key).into_iter().find_map(|found| {
            let hot = found.read()?;
            let class = CachedClass::decode(&hot)?;
            let is_selected_alike = |m: &CachedMethod| {
                let now = selection(self.filter, candidate, &m.name, &m.descriptor);
                now == (m.is_wanted, m.is_forced)
            };
            if class.class_file_len != self.class_file_len
                || !class.methods.iter().all(is_selected_alike)
            {
                return None;
            }
            let original = found.accept(&class);
            let refusals = class.refusals.iter().map(|r| CachedArmingRefusal {
                method: r.method.to_string(),
                code: r.code.to_string(),
                detail: r.detail.to_string(),
            });
            Some(CacheHit {
                method_count: class.method_count.into(),
                refusals: refusals.collect(),
                original,
                hot,
            })
        })
    }

    /// Stores a class. Returns its original class file as it is stored, or `None` if it cannot be
    /// stored.
    pub fn store(&self, candidate: &ArmingCandidate, fresh: &FreshArming) -> Option<StoredFile> {
        let select =
            |name: &str, descriptor: &str| selection(self.filter, candidate, name, descriptor);
        let class = cached_class(fresh, self.class_file_len, &select)?;
        let original = if fresh.armed.methods.is_empty() {
            &[]
        } else {
            fresh.original
        };
        self.cache.store(self.key, &class, original)
    }
}

impl CacheHit {
    /// The armed class with the ids of its methods. The refusals are in the hit.
    ///
    /// # Errors
    /// The cached class is damaged in a way that its checksum does not show.
    pub fn armed(&self, first_id: MethodId) -> Result<Armed, Refusal> {
        let damaged = || Refusal::Internal("a class in the class cache has been damaged".into());
        let class = CachedClass::decode(&self.hot).ok_or_else(damaged)?;
        let anchor: Arc<str> = Arc::from(&*class.anchor_name);
        let armed = class.methods.iter().filter(|m| m.is_armed);
        let methods = armed.map(|m| ArmedMethod {
            index: m.index.into(),
            id: first_id.plus(m.index.into()),
            name: m.name.to_string(),
            descriptor: m.descriptor.to_string(),
            anchor: anchor.clone(),
            points: Vec::new(),
        });
        Ok(Armed {
            name: String::new(),
            methods: methods.collect(),
            bytes: class.armed.fill(first_id.0).ok_or_else(damaged)?,
            anchor_bytes: class.anchor.fill(first_id.0).ok_or_else(damaged)?,
            anchor,
            code: CodeDigest(class.armed_code),
            refusals: Vec::new(),
        })
    }
}

/// The form of an armed class in the cache. `select` returns the selection of a method. `None` if
/// the class cannot be stored.
fn cached_class<'a>(
    fresh: &FreshArming<'a>,
    class_file_len: u32,
    select: &dyn Fn(&str, &str) -> (bool, bool),
) -> Option<CachedClass<'a>> {
    let armed = fresh.armed;
    let mut methods = Vec::new();
    for (index, member) in fresh.file.methods.iter().enumerate() {
        let is_code = |a: &Attribute| a.is(&fresh.file.pool, "Code");
        if !member.attributes.iter().any(is_code) {
            continue;
        }
        let name = fresh.file.pool.text(member.name).ok()?;
        let descriptor = fresh.file.pool.text(member.descriptor).ok()?;
        let (is_wanted, is_forced) = select(&name, &descriptor);
        methods.push(CachedMethod {
            index: u16::try_from(index).ok()?,
            is_wanted,
            is_forced,
            is_armed: armed.methods.iter().any(|m| m.index == index),
            name,
            descriptor,
        });
    }
    let refusals = armed.refusals.iter().map(|(method, reason)| CachedRefusal {
        method: Cow::Borrowed(method.as_str()),
        code: Cow::Borrowed(reason.name()),
        detail: Cow::Owned(reason.to_string()),
    });
    let refusals = refusals.collect();
    let first_id = fresh.first_id;
    let named = |text: &str| named_method(&methods, first_id, text);
    let is_armed = !armed.methods.is_empty();
    let (template, anchor) = match is_armed {
        true => (
            IdTemplate::of_armed_class(&armed.bytes, fresh.original, armed.methods.len(), &named)?,
            IdTemplate::of_anchor(&armed.anchor_bytes, &named)?,
        ),
        false => (IdTemplate::default(), IdTemplate::default()),
    };
    Some(CachedClass {
        class_file_len,
        method_count: u16::try_from(fresh.file.methods.len()).ok()?,
        original: if is_armed {
            Digest::new(fresh.original)
        } else {
            Digest::default()
        },
        original_len: if is_armed {
            u32::try_from(fresh.original.len()).ok()?
        } else {
            0
        },
        armed_code: armed.code.0,
        anchor_name: Cow::Borrowed(&*armed.anchor),
        methods,
        refusals,
        anchor,
        armed: template,
    })
}

/// The method that a name with an id at its end belongs to.
fn named_method(methods: &[CachedMethod], first_id: MethodId, text: &str) -> Option<NamedMethod> {
    let prefix = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let id: u32 = text[prefix.len()..].parse().ok()?;
    let method = u16::try_from(id.checked_sub(first_id.0)?).ok()?;
    let at = methods.binary_search_by_key(&method, |m| m.index).ok()?;
    let is_cell = text == cell_field(MethodId(id));
    let is_body = || text == enter_method(&methods[at].name, MethodId(id));
    (is_cell || is_body()).then_some(NamedMethod { method, is_cell })
}

#[cfg(test)]
mod tests;
