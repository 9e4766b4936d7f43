//! `component("slow orders", "1.2")` and `analyse(|| …)` declare the plan's component.
//! `components()`, `component_report(name)` and `component_detach(name)` manage the components of
//! all plans.

use super::convert::{ApiResult, api_error, int, optional};
use crate::component::{Component, Components, detach_all};
use crate::context::{CallbackSlot, ComponentDeclaration, PlanContext};
use crate::limits;
use crate::ownership::Attachment;
use crate::running_plan::CallbackCall;
use rhai::{Array, Dynamic, Engine, FLOAT, FnPtr, ImmutableString, Map, NativeCallContext};
use std::sync::{Arc, Weak};
use veneer_instruments::table::format_count;

fn declare(context: &PlanContext, name: &str, version: &str) -> ApiResult<()> {
    for (what, text) in [("name", name), ("version", version)] {
        let long = text.chars().count() > limits::MAX_COMPONENT_NAME_CHARS;
        if text.trim().is_empty() || long || text.chars().any(char::is_control) {
            return api_error(format!(
                "{text:?} is no {what} of a component: write 1 to {} printable characters",
                limits::MAX_COMPONENT_NAME_CHARS
            ));
        }
    }
    if !context.is_loading() {
        return api_error("component(…) is for a plan's top level: a callback comes too late");
    }
    let declared = ComponentDeclaration {
        name: name.to_owned(),
        version: version.to_owned(),
    };
    match context.declare_component(declared) {
        Ok(()) => Ok(()),
        Err(first) => api_error(format!(
            "a plan is one component: this one is `{}` already",
            first.name
        )),
    }
}

fn analyse(context: &PlanContext, call: &NativeCallContext, function: FnPtr) -> ApiResult<()> {
    if !context.is_loading() {
        return api_error("analyse(…) is for a plan's top level: a callback comes too late");
    }
    let Some(slot) = CallbackSlot::reserve(&context.slots) else {
        return api_error(format!(
            "{} callbacks wait already, the limit of a session: cancel some with .cancel()",
            format_count(limits::MAX_CALLBACKS as u64)
        ));
    };
    if context.set_analyser(function, call.call_position(), slot) {
        Ok(())
    } else {
        api_error("a component has one analyser: this one has it already")
    }
}

fn map(component: Component) -> Dynamic {
    let mut map = Map::new();
    let mut set = |name: &str, value: Dynamic| map.insert(name.into(), value);
    let things = component.things.iter();
    let instruments = things.filter(|thing| matches!(thing, Attachment::Instrument(_)));
    let instruments: Array = instruments.map(|thing| thing.to_string().into()).collect();
    let parameters = component.parameters.into_iter();
    let parameters: Map = parameters
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    set("id", component.instance.to_string().into());
    set("name", component.name.into());
    set("version", optional(component.version));
    set("plan", component.plan.into());
    let since = component.since.elapsed().as_secs_f64() as FLOAT;
    set("since", since.into());
    set("parameters", parameters.into());
    set("instruments", instruments.into());
    set("things", int(component.things.len()).into());
    set("analyser", component.analyser.into());
    set("attached", component.attached.into());
    map.into()
}

/// Returns the report of any component. The duration of the analyser counts towards the time limit
/// of the plan that calls this function.
fn report(
    context: &PlanContext,
    components: &Weak<Components>,
    call: &NativeCallContext,
    name: &str,
) -> ApiResult<Dynamic> {
    let Some(components) = components.upgrade() else {
        return api_error("the JVM is shutting down");
    };
    let asked = components.run_analyser(name, call.call_level());
    context.runtime.set_current_plan(context.instance);
    match asked {
        Ok((_, report)) => Ok(report.value),
        Err(failed) => api_error(failed),
    }
}

/// Detaches a component as a whole. Returns the number of its instruments and edits.
fn detach(
    context: &PlanContext,
    components: &Weak<Components>,
    name: &str,
) -> ApiResult<rhai::INT> {
    let Some(components) = components.upgrade() else {
        return api_error("the JVM is shutting down");
    };
    let named = components.by_name(name);
    if named.is_empty() {
        return api_error(format!(
            "there is no component `{name}`: components() lists those that there are"
        ));
    }
    let mut detached = 0;
    for one in named {
        detached += context.ownership.instance_attachments(one.instance).len();
        context.with_runtime(|_| detach_all(&one));
    }
    Ok(int(detached))
}

/// Returns the id of the plan instance from a map of `components()`.
fn id(component: &Map) -> ApiResult<String> {
    match component
        .get("id")
        .and_then(|id| id.clone().try_cast::<ImmutableString>())
    {
        Some(id) => Ok(id.to_string()),
        None => api_error("this map is no component: take one of components()"),
    }
}

/// Returns the registered analyser of a plan as a call.
pub(crate) fn registered_analyser(
    running_plan: &Arc<crate::running_plan::RunningPlan>,
) -> Option<CallbackCall> {
    let (function, position, slot) = running_plan.context.take_analyser()?;
    Some(CallbackCall {
        running_plan: running_plan.clone(),
        function,
        condition: None,
        position,
        cancelled: Arc::default(),
        _slot: slot,
    })
}

pub(super) fn register(
    engine: &mut Engine,
    context: &Arc<PlanContext>,
    components: &Arc<Components>,
) {
    // The references are weak, because the components own the engine.
    let components = Arc::downgrade(components);
    let plan = context.clone();
    engine.register_fn(
        "component",
        move |name: ImmutableString, version: ImmutableString| declare(&plan, &name, &version),
    );
    let plan = context.clone();
    engine.register_fn(
        "analyse",
        move |call: NativeCallContext, function: FnPtr| analyse(&plan, &call, function),
    );
    let (plan, of_session) = (context.clone(), components.clone());
    engine.register_fn("components", move || {
        let all = of_session.upgrade();
        let all = all.map_or_else(Vec::new, |all| all.list(&plan.ownership));
        all.into_iter().map(map).collect::<Array>()
    });
    let (plan, of_session) = (context.clone(), components.clone());
    engine.register_fn(
        "component_report",
        move |call: NativeCallContext, name: ImmutableString| {
            report(&plan, &of_session, &call, &name)
        },
    );
    let (plan, of_session) = (context.clone(), components.clone());
    engine.register_fn(
        "report",
        move |call: NativeCallContext, component: &mut Map| {
            report(&plan, &of_session, &call, &id(component)?)
        },
    );
    let (plan, of_session) = (context.clone(), components.clone());
    engine.register_fn("component_detach", move |name: ImmutableString| {
        detach(&plan, &of_session, &name)
    });
    let (plan, of_session) = (context.clone(), components);
    engine.register_fn("detach", move |component: &mut Map| {
        detach(&plan, &of_session, &id(component)?)
    });
}
