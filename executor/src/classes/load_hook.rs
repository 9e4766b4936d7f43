//! The class hook: arming at load, and of loaded classes when they are brought through it again.
//!
//! ```text
//!   class file ─▶ wanted? ─▶ arm ─▶ define the anchor in the class's own loader ─▶ initialise it ─▶ record ─▶ armed file
//!                   no          refused: recorded, and the class stays byte for byte what it was
//! ```
//!
//! No lock is held while Java code runs: defining and initialising the anchor happens between two short looks at the registry.

use crate::agent::Agent;
use crate::classes::arming_filter::{self, Filter, Want};
use crate::classes::registry::Class;
use crate::classes::selection;
use crate::jvm::jni::{Env, jclass, jobject};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::{Refusal, anchor, arming, check, inference, verify};

/// What comes to the hook.
pub struct Coming<'c> {
    /// Internal name.
    pub name: &'c str,
    /// Its loader, null for the boot loader.
    pub loader: jobject,
    /// The loaded class that is redefined or retransformed; null at load.
    pub class: jclass,
    /// The class file, as agents before this one made it.
    pub bytes: &'c [u8],
}

/// Arms a class. `None` leaves it as it is.
pub fn arm(agent: &Agent, env: Env, coming: &Coming) -> Option<Vec<u8>> {
    if anchor::is_anchor(coming.name) {
        return None;
    }
    let dotted = coming.name.replace('/', ".");
    let of_jdk = Filter::of_jdk(env, &agent.loaders, coming.name, coming.loader);
    let plans = agent.plan_patterns();
    let known = agent.registry.find(env, coming.name, coming.loader);
    if agent.left.load(Ordering::SeqCst) {
        // Its own class file, as something that an agent has made: so the JVM goes on keeping the original, which it would
        // otherwise forget (JDK 25) and make up from the class when somebody asks, with all that was ever in its constant pool.
        let back = known.is_some() && !coming.class.is_null();
        return back.then(|| coming.bytes.to_vec());
    }
    // One that was given its code back is armed again only where it is wanted.
    let stays = known.as_ref().is_some_and(|c| !c.state().restored);
    let filter = &agent.filter;
    let all = plans.iter().chain(&filter.arm).chain(&filter.skip);
    let facts = selection::coming(agent.tool, env, (coming.class, coming.bytes), &dotted, all);
    let facts = facts.as_ref();
    if !stays && !filter.class(&dotted, of_jdk, &plans, facts) {
        return None;
    }
    let want = |name: &str, descriptor: &str| {
        filter.method(&dotted, of_jdk, &plans, facts, (name, descriptor))
    };
    if arming_filter::on_cell_path(coming.name) {
        agent.refuse(
            &dotted,
            "",
            "OnCellPath",
            "the JVM needs the class to run a cell; it is never armed",
        );
        return None;
    }
    match try_arm(agent, env, coming, known, &dotted, &want) {
        Ok(bytes) => bytes,
        Err(reason) => {
            agent.refuse(&dotted, "", &reason.name(), &reason.to_string());
            None
        }
    }
}

/// The internal name in a class file. A file that has none is recorded and left alone.
pub fn name_in(agent: &Agent, bytes: &[u8]) -> Option<String> {
    let name = ClassFile::parse(bytes).and_then(|file| file.name().map(|n| n.into_owned()));
    name.map_err(|e| agent.refuse("(unnamed)", "", "BrokenClass", &e.to_string()))
        .ok()
}

fn try_arm(
    agent: &Agent,
    env: Env,
    coming: &Coming,
    known: Option<Arc<Class>>,
    dotted: &str,
    want: &dyn Fn(&str, &str) -> Want,
) -> Result<Option<Vec<u8>>, Refusal> {
    // What everything after this reads: an old class file in the form of Java 7, any other as it is.
    let modern = inference::modern(coming.bytes)?;
    let raised = matches!(modern, Cow::Owned(_));
    let bytes = &*modern;
    let methods = ClassFile::parse(bytes)?.methods.len();
    // Another agent may have given a known class other code: then its methods are others too.
    let same = known.as_ref().is_some_and(|c| {
        let state = c.state();
        *state.original == *bytes || state.original.is_empty()
    });
    let class = match &known {
        Some(class) if same => class.clone(),
        _ => agent
            .registry
            .reserve(env, coming.name, coming.loader, methods)
            .ok_or(Refusal::PoolFull)?,
    };
    let (before, newest) = if same {
        let state = class.state();
        (state.methods.clone(), state.anchor.clone())
    } else {
        Default::default()
    };
    // The methods of an earlier arming keep their anchors.
    let earlier = (!before.is_empty()).then_some(arming::Earlier {
        anchor: &newest,
        methods: &before,
    });
    let generation = match &known {
        Some(class) => class.state().generation + 1,
        None => 0,
    };
    let already = |name: &str, descriptor: &str| {
        let is = |m: &arming::ArmedMethod| m.name == name && m.descriptor == descriptor;
        before.iter().any(is)
    };
    let wanted = |name: &str, descriptor: &str| {
        already(name, descriptor) || want(name, descriptor) != Want::No
    };
    let forced = |name: &str, descriptor: &str| {
        already(name, descriptor) || want(name, descriptor) == Want::Named
    };
    let request = arming::Request {
        policy: &agent.policy,
        first_id: class.first_id,
        generation,
        wanted: &wanted,
        forced: &forced,
        points: agent.config.check,
        earlier,
    };
    // The ids of a class that is not armed are free again.
    let give_back = || {
        if !same {
            agent.registry.give_back(&class);
        }
    };
    let armed = if agent.config.check {
        check::guard::arm(bytes, &request)
    } else if raised {
        verify::guard::arm(bytes, &request)
    } else {
        arming::arm(bytes, &request)
    };
    let armed = armed.inspect_err(|_| give_back())?;
    for (method, reason) in &armed.refusals {
        agent.refuse(dotted, method, &reason.name(), &reason.to_string());
    }
    if armed.methods.is_empty() {
        give_back();
        return Ok(None);
    }
    let access = agent
        .runtime_access
        .check(env, coming.loader, coming.class.is_null());
    access.map_err(|why| {
        give_back();
        Refusal::AnchorFailed(why.to_string())
    })?;
    let new_anchor = !armed.anchor_bytes.is_empty();
    if new_anchor {
        let anchor = env.define(&armed.anchor, coming.loader, &armed.anchor_bytes);
        let anchor = anchor.map_err(|e| Refusal::AnchorFailed(e.to_string()))?;
        let declared = armed.methods.iter().filter(|m| m.anchor == armed.anchor);
        let ids: Vec<i32> = declared.map(|m| m.id as i32).collect();
        let ready = agent.library.anchor(env, anchor, &ids);
        env.delete(anchor);
        ready.map_err(|e| Refusal::AnchorFailed(e.to_string()))?;
    }
    {
        let mut state = class.state();
        state.original = bytes.into();
        state.restored = false;
        state.anchor = armed.anchor.clone();
        if new_anchor {
            state.generation = generation;
        }
        state.methods = armed.methods;
        state.unarmed = None;
        state.facts = None;
        if !coming.class.is_null() && state.class.is_none() && agent.tool.is_prepared(coming.class)
        {
            state.class = Some(Arc::new(env.weak(coming.class)));
        }
    }
    if !same {
        agent.registry.add(class.clone());
    }
    if !same && known.is_some() {
        // Redefined: no event will say that it is prepared. What is attached stands in the new code from its first call.
        crate::weaving::weaver::weave_loaded(agent, env, &class);
    }
    Ok(Some(armed.bytes))
}
