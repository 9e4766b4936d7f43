//! The objects that the JVM samples during a recording of heap allocations, by allocation site.
//!
//! ```text
//!   planner ─▶ sites: (method, position in the armed body) ─▶ number of the instruction
//!   application thread: top frame, type, bytes ─▶ counts             one entry for each different sample
//!   end of the recording: top frames ─▶ sites ─▶ HeapSamples         the agent asks the JVM and VeneerWalk
//! ```
//!
//! An application thread that has allocated a sampled object only asks JVMTI for its top frame. The meaning
//! of a frame is found when the recording ends, because that calls Java code. Until then a reference keeps
//! the class of each frame loaded.

use crate::jvm::frames::Frame;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::{Env, Global};
use crate::jvm::jvmti::Tool;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use veneer_memory::heap::{HeapSample, HeapSamples, TypeSize};
use veneer_names::{MethodId, java_form, site_id};

/// The most frames of a recording. Each has a global reference to its class.
const MAX_FRAMES: usize = 1 << 16;
/// The index of the frame of a thread that runs no Java code.
const NO_FRAME: u32 = u32::MAX;
/// The most different samples of a recording, about 50 MB.
const MAX_COUNTS: usize = 1 << 20;

/// An instruction that allocates, as the planner sees it.
pub struct AllocationSite<'a> {
    pub method: MethodId,
    /// The class in Java form, name and descriptor of the method, and the position of the instruction.
    pub class: &'a str,
    pub label: &'a str,
    pub pc: u16,
    /// The position of the instruction in the armed body.
    pub armed_pc: u16,
    /// The class of the new object in Java form; `None` for an array.
    pub instance_of: Option<&'a str>,
}

/// A frame in which objects were allocated.
struct AllocatingFrame {
    frame: Frame,
    class: Global,
}

/// The samples with one frame, one type and one size.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SampleKey {
    /// The index of the frame.
    frame: u32,
    type_id: u32,
    bytes: u64,
}

#[derive(Default)]
struct SampledAllocations {
    /// The numbers of the instructions, by method and position in the armed body.
    sites: HashMap<(MethodId, u16), i64>,
    /// The same numbers, by the number that the position in the armed body would have.
    armed_sites: HashMap<i64, i64>,
    /// The classes of new objects.
    classes: HashSet<String>,
    indices: HashMap<Frame, u32>,
    frames: Vec<AllocatingFrame>,
    counts: HashMap<SampleKey, u64>,
    lost: u64,
}

/// The samples of the current recording.
#[derive(Default)]
pub struct HeapSampler {
    is_active: AtomicBool,
    state: Mutex<SampledAllocations>,
}

impl HeapSampler {
    /// Forgets what an earlier recording has left.
    pub fn clear(&self) {
        self.is_active.store(false, Ordering::SeqCst);
        // The references are deleted without the lock.
        let earlier = mem::take(&mut *self.state.lock());
        drop(earlier);
    }

    /// Samples belong to the recording from now on.
    pub fn begin(&self) {
        self.is_active.store(true, Ordering::SeqCst);
    }

    /// Whether samples belong to a recording.
    pub fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Relaxed)
    }

    /// Adds an instruction of the recorded methods.
    pub fn add_site(&self, site: &AllocationSite<'_>) {
        let number = |pc| site_id(site.class, site.label, pc);
        let mut state = self.state.lock();
        let own = number(site.pc);
        state.sites.insert((site.method, site.armed_pc), own);
        state.armed_sites.insert(number(site.armed_pc), own);
        if let Some(class) = site.instance_of
            && !state.classes.contains(class)
        {
            state.classes.insert(class.to_owned());
        }
    }

    /// The current thread has allocated a sampled object.
    pub fn add_sample(&self, tool: Tool, env: Env, type_id: u32, bytes: u64) {
        let mut frames = Vec::with_capacity(1);
        tool.frames_here(1, &mut frames);
        let index = match frames.first() {
            Some(frame) => {
                let known = self.state.lock().indices.get(frame).copied();
                known.or_else(|| self.add_frame(tool, env, *frame))
            }
            // The JVM allocates objects for itself, too.
            None => Some(NO_FRAME),
        };
        let mut state = self.state.lock();
        let Some(frame) = index else {
            state.lost += 1;
            return;
        };
        let key = SampleKey {
            frame,
            type_id,
            bytes,
        };
        if state.counts.len() >= MAX_COUNTS && !state.counts.contains_key(&key) {
            state.lost += 1;
            return;
        }
        *state.counts.entry(key).or_default() += 1;
    }

    /// Adds a frame of the current thread. `None` if there is no room.
    fn add_frame(&self, tool: Tool, env: Env, frame: Frame) -> Option<u32> {
        if self.state.lock().frames.len() >= MAX_FRAMES {
            return None;
        }
        let (class, _) = tool.method_of(frame)?;
        let held = env.global(class);
        // SAFETY: `method_of` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
        let mut state = self.state.lock();
        // Another thread may have added the frame. The reference is then dropped after the lock.
        if let Some(known) = state.indices.get(&frame).copied() {
            drop(state);
            drop(held);
            return Some(known);
        }
        let index = u32::try_from(state.frames.len()).ok()?;
        state.frames.push(AllocatingFrame { frame, class: held });
        state.indices.insert(frame, index);
        Some(index)
    }

    /// Ends the recording and returns its samples, which the JVM has refused if the recording never began.
    /// `type_number` numbers the name of a type.
    pub fn finish(
        &self,
        (tool, library, env): (Tool, &Library, Env),
        interval: u64,
        type_number: impl Fn(&str) -> u32,
    ) -> HeapSamples {
        let is_refused = !self.is_active.swap(false, Ordering::SeqCst);
        let state = mem::take(&mut *self.state.lock());
        let frames = state.frames.iter();
        let sites: Vec<i64> = frames
            .map(|frame| state.site(tool, library, env, frame).unwrap_or(0))
            .collect();
        let mut samples: HashMap<(i64, u32, u64), u64> = HashMap::new();
        for (key, count) in &state.counts {
            let site = sites.get(key.frame as usize).copied().unwrap_or(0);
            *samples.entry((site, key.type_id, key.bytes)).or_default() += count;
        }
        let samples = samples.into_iter();
        let samples = samples.map(|((site, type_id, object_bytes), samples)| HeapSample {
            site: site.cast_unsigned(),
            type_id: type_id.into(),
            object_bytes,
            samples,
        });
        HeapSamples {
            interval,
            is_refused,
            lost: state.lost,
            samples: samples.collect(),
            sizes: instance_sizes(tool, env, &state.classes, type_number),
        }
    }
}

impl SampledAllocations {
    /// The number of the instruction at which a frame allocates. `None` if it is not one of the recorded
    /// methods.
    fn site(&self, tool: Tool, library: &Library, env: Env, of: &AllocatingFrame) -> Option<i64> {
        let class = of.class.raw();
        let (local, method) = tool.method_of(of.frame)?;
        // SAFETY: `method_of` has made the local reference, which is not used again.
        unsafe { env.delete(local) };
        if tool.is_version(class) {
            let armed = library.place(env, class, &method, of.frame.bci()).ok()?;
            let key = (version_method(&method)?, u16::try_from(armed).ok()?);
            return self.sites.get(&key).copied();
        }
        let (name, method, descriptor) = tool.described(env, of.frame)?;
        let pc = u16::try_from(of.frame.bci()).ok()?;
        let armed = site_id(&name, &format!("{method}{descriptor}"), pc);
        self.armed_sites.get(&armed).copied()
    }
}

/// The method of a version's body, whose name ends with its id: `run$e17`.
fn version_method(name: &str) -> Option<MethodId> {
    let (_, end) = name.rsplit_once('$')?;
    let id = end.strip_prefix(|kind: char| kind.is_ascii_lowercase())?;
    id.parse().ok().map(MethodId)
}

/// The sizes of the instances of initialised classes with these names. An instance is made of each one, as
/// JNI's `AllocObject` makes it: no constructor runs.
fn instance_sizes(
    tool: Tool,
    env: Env,
    names: &HashSet<String>,
    type_number: impl Fn(&str) -> u32,
) -> Vec<TypeSize> {
    let mut sizes = Vec::new();
    if names.is_empty() {
        return sizes;
    }
    for class in tool.loaded(env) {
        let name = tool.class_name(class).map(|name| java_form(&name));
        let name = name.filter(|name| names.contains(name) && tool.is_initialised(class));
        if let Some(name) = name
            && let Some(instance) = env.allocate(class)
        {
            let bytes = u64::try_from(tool.object_size(instance)).unwrap_or(0);
            if bytes > 0 {
                sizes.push(TypeSize {
                    type_id: type_number(&name).into(),
                    object_bytes: bytes,
                });
            }
            // SAFETY: `allocate` has made the local reference, which is not used again.
            unsafe { env.delete(instance) };
        }
        // SAFETY: `loaded` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_a_version_names_its_method() {
        assert_eq!(version_method("run$e17"), Some(MethodId(17)));
        assert_eq!(version_method("lambda$run$0$e3"), Some(MethodId(3)));
        assert_eq!(version_method("run"), None);
        assert_eq!(version_method("access$000"), None);
    }

    #[test]
    fn a_site_is_known_by_its_positions_in_versions_and_in_the_armed_body() {
        let sampler = HeapSampler::default();
        let site = AllocationSite {
            method: MethodId(4),
            class: "shop.Desk",
            label: "serve()V",
            pc: 7,
            armed_pc: 12,
            instance_of: Some("shop.Order"),
        };
        sampler.add_site(&site);
        let own = site_id("shop.Desk", "serve()V", 7);
        let state = mem::take(&mut *sampler.state.lock());
        assert_eq!(state.sites.get(&(MethodId(4), 12)), Some(&own));
        let armed = site_id("shop.Desk", "serve()V", 12);
        assert_eq!(state.armed_sites.get(&armed), Some(&own));
        assert!(state.classes.contains("shop.Order"));
    }
}
