//! Edits of the flow graph: `methods("…").redirect(3, 4, 7)` and the other edit functions.

use super::convert::{ApiResult, api_error, downcast_element};
use super::selection::{SelectedMethods, fragment_number};
use crate::context::PlanContext;
use crate::ownership::Attachment;
use rhai::{Array, Engine, INT};
use std::sync::Arc;
use veneer_instruments::{EditKind, EditSpec, PatchId};
use veneer_names::FragmentId;

/// The handle of an edit.
#[derive(Clone, Copy, Debug)]
struct Patch {
    id: PatchId,
}

fn fragment(number: INT) -> ApiResult<FragmentId> {
    fragment_number(number).map(FragmentId)
}

fn redirect(from: INT, to: INT, target: INT) -> ApiResult<EditKind> {
    Ok(EditKind::Redirect {
        from: fragment(from)?,
        to: fragment(to)?,
        target: fragment(target)?,
    })
}

fn skip(number: INT) -> ApiResult<EditKind> {
    Ok(EditKind::Skip {
        fragment: fragment(number)?,
    })
}

fn replace(number: INT, by: INT) -> ApiResult<EditKind> {
    Ok(EditKind::Replace {
        fragment: fragment(number)?,
        by: fragment(by)?,
    })
}

fn edit(
    context: &PlanContext,
    methods: &SelectedMethods,
    edits: Vec<EditKind>,
) -> ApiResult<Patch> {
    if edits.is_empty() {
        return api_error("the array is empty: write edit([skip(3)])");
    }
    let spec = EditSpec {
        plan: context.name.clone(),
        patterns: methods.exact_patterns()?,
        edits,
    };
    let edited = context
        .with_runtime(|runtime| runtime.edit(spec))
        .or_else(api_error)?;
    let id = edited.id;
    context
        .ownership
        .record_attached(context.instance, &context.name, Attachment::Patch(id));
    for warning in &edited.warnings {
        let name = &context.name;
        context.with_runtime(|runtime| runtime.print(&format!("{name}: warning: {warning}")));
    }
    Ok(Patch { id })
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<EditKind>("Edit");
    engine.register_type_with_name::<Patch>("Patch");
    engine.register_fn("redirect", redirect);
    engine.register_fn("skip", skip);
    engine.register_fn("replace", replace);
    let plan = context.clone();
    engine.register_fn(
        "redirect",
        move |methods: &mut SelectedMethods, from: INT, to: INT, target: INT| {
            edit(&plan, methods, vec![redirect(from, to, target)?])
        },
    );
    let plan = context.clone();
    engine.register_fn("skip", move |methods: &mut SelectedMethods, number: INT| {
        edit(&plan, methods, vec![skip(number)?])
    });
    let plan = context.clone();
    engine.register_fn(
        "replace",
        move |methods: &mut SelectedMethods, number: INT, by: INT| {
            edit(&plan, methods, vec![replace(number, by)?])
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "edit",
        move |methods: &mut SelectedMethods, edits: Array| {
            let edits = edits
                .iter()
                .map(|edit| downcast_element::<EditKind>("edits such as skip(3)", edit));
            edit(&plan, methods, edits.collect::<ApiResult<_>>()?)
        },
    );
    let plan = context.clone();
    engine.register_fn("detach", move |patch: &mut Patch| -> ApiResult<()> {
        plan.with_runtime(|runtime| runtime.undo(patch.id))
            .or_else(api_error)?;
        plan.ownership.record_detached(Attachment::Patch(patch.id));
        Ok(())
    });
    engine.register_fn("id", |patch: &mut Patch| patch.id.to_string());
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |patch: &mut Patch| patch.id.to_string());
        engine.register_fn(show, |edit: &mut EditKind| edit.to_string());
    }
}
