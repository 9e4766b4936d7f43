//! Edits of the flow graph: `methods("…").redirect(3, 4, 7)` and the other edit functions.
//!
//! A fragment is named by its number, or by the source line at which it begins: `skip(line(64))`. A
//! line is resolved when the edit is made, because it has a number only in a method.

use super::armed::fragment_at;
use super::convert::{ApiResult, api_error, downcast_element, int};
use super::selection::{SelectedMethods, fragment_number};
use crate::context::PlanContext;
use crate::ownership::Attachment;
use rhai::{Array, Dynamic, Engine, INT, Map};
use std::fmt;
use std::sync::Arc;
use veneer_instruments::{EditKind, EditSpec, PatchId, PatchSummary};
use veneer_names::FragmentId;

/// The handle of an edit, or of the edits that a transformation has made of several methods.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    ids: Vec<PatchId>,
}

impl Patch {
    /// The handle of the edits of all these handles.
    pub(super) fn join(patches: Vec<Patch>) -> Patch {
        Patch {
            ids: patches.into_iter().flat_map(|patch| patch.ids).collect(),
        }
    }

    /// Takes the edits back, the last one first.
    pub(super) fn detach(&self, context: &PlanContext) -> ApiResult<()> {
        for id in self.ids.iter().rev() {
            context
                .with_runtime(|runtime| runtime.undo(*id))
                .or_else(api_error)?;
            context.ownership.record_detached(Attachment::Patch(*id));
        }
        Ok(())
    }

    /// The ids, such as `p3` or `p3, p4`.
    fn text(&self) -> String {
        let ids: Vec<String> = self.ids.iter().map(PatchId::to_string).collect();
        ids.join(", ")
    }
}

/// `line(64)`: the fragment that begins at this source line.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceLine(INT);

/// The name of a fragment in an edit.
#[derive(Clone, Copy, Debug)]
pub(super) enum FragmentName {
    Number(FragmentId),
    Line(SourceLine),
}

/// An edit as the plan writes it.
#[derive(Clone, Debug)]
pub(super) enum WrittenEdit {
    Redirect([FragmentName; 3]),
    Skip(FragmentName),
    Replace([FragmentName; 2]),
    Duplicate(Vec<FragmentName>),
    Unswitch(FragmentName),
    /// A transformation, which only `optimise` makes.
    Optimise(EditKind),
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line({})", self.0)
    }
}

impl fmt::Display for FragmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FragmentName::Number(number) => write!(f, "{number}"),
            FragmentName::Line(line) => write!(f, "{line}"),
        }
    }
}

impl fmt::Display for WrittenEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrittenEdit::Redirect([from, to, target]) => {
                write!(f, "redirect {from}->{to} to {target}")
            }
            WrittenEdit::Skip(fragment) => write!(f, "skip {fragment}"),
            WrittenEdit::Replace([fragment, by]) => write!(f, "replace {fragment} by {by}"),
            WrittenEdit::Duplicate(path) => {
                write!(f, "duplicate")?;
                path.iter().try_for_each(|name| write!(f, " {name}"))
            }
            WrittenEdit::Unswitch(fragment) => write!(f, "unswitch {fragment}"),
            WrittenEdit::Optimise(edit) => write!(f, "{edit}"),
        }
    }
}

impl From<EditKind> for WrittenEdit {
    fn from(edit: EditKind) -> WrittenEdit {
        match edit {
            EditKind::Redirect { from, to, target } => {
                WrittenEdit::Redirect([from, to, target].map(FragmentName::Number))
            }
            EditKind::Skip { fragment } => WrittenEdit::Skip(FragmentName::Number(fragment)),
            EditKind::Replace { fragment, by } => {
                WrittenEdit::Replace([fragment, by].map(FragmentName::Number))
            }
            EditKind::Unswitch { fragment } => {
                WrittenEdit::Unswitch(FragmentName::Number(fragment))
            }
            EditKind::Duplicate { path } if !path.is_empty() => {
                WrittenEdit::Duplicate(path.into_iter().map(FragmentName::Number).collect())
            }
            transformation @ (EditKind::Split { .. }
            | EditKind::Duplicate { .. }
            | EditKind::Devirtualise { .. }
            | EditKind::Specialise { .. }) => WrittenEdit::Optimise(transformation),
        }
    }
}

impl FragmentName {
    /// Converts an argument of an edit function.
    fn from_value(value: &Dynamic) -> ApiResult<FragmentName> {
        if let Ok(number) = value.as_int() {
            return Ok(FragmentName::Number(FragmentId(fragment_number(number)?)));
        }
        match value.clone().try_cast::<SourceLine>() {
            Some(line) => Ok(FragmentName::Line(line)),
            None => api_error(format!(
                "`{value}` names no fragment: write its number, or line(64) for the fragment that begins at that line"
            )),
        }
    }

    fn of_each<const N: usize>(values: [Dynamic; N]) -> ApiResult<[FragmentName; N]> {
        let mut names = [FragmentName::Number(FragmentId(0)); N];
        for (name, value) in names.iter_mut().zip(&values) {
            *name = FragmentName::from_value(value)?;
        }
        Ok(names)
    }

    /// The number of the fragment in the selected methods.
    fn resolve(self, context: &PlanContext, methods: &SelectedMethods) -> ApiResult<FragmentId> {
        match self {
            FragmentName::Number(number) => Ok(number),
            FragmentName::Line(line) => {
                let number = fragment_at(context, methods, line.0)?;
                Ok(FragmentId(fragment_number(number)?))
            }
        }
    }
}

impl WrittenEdit {
    /// Whether no result changes, whatever the edit is applied to.
    pub(super) fn keeps_results(&self) -> bool {
        match self {
            WrittenEdit::Duplicate(_) | WrittenEdit::Unswitch(_) | WrittenEdit::Optimise(_) => true,
            WrittenEdit::Redirect(_) | WrittenEdit::Skip(_) | WrittenEdit::Replace(_) => false,
        }
    }

    pub(super) fn resolve(
        &self,
        context: &PlanContext,
        methods: &SelectedMethods,
    ) -> ApiResult<EditKind> {
        let number = |name: FragmentName| name.resolve(context, methods);
        Ok(match *self {
            WrittenEdit::Redirect([from, to, target]) => EditKind::Redirect {
                from: number(from)?,
                to: number(to)?,
                target: number(target)?,
            },
            WrittenEdit::Skip(fragment) => EditKind::Skip {
                fragment: number(fragment)?,
            },
            WrittenEdit::Replace([fragment, by]) => EditKind::Replace {
                fragment: number(fragment)?,
                by: number(by)?,
            },
            WrittenEdit::Duplicate(ref path) => EditKind::Duplicate {
                path: path
                    .iter()
                    .map(|name| number(*name))
                    .collect::<ApiResult<_>>()?,
            },
            WrittenEdit::Unswitch(fragment) => EditKind::Unswitch {
                fragment: number(fragment)?,
            },
            WrittenEdit::Optimise(ref edit) => edit.clone(),
        })
    }
}

fn redirect(from: Dynamic, to: Dynamic, target: Dynamic) -> ApiResult<WrittenEdit> {
    FragmentName::of_each([from, to, target]).map(WrittenEdit::Redirect)
}

fn skip(fragment: Dynamic) -> ApiResult<WrittenEdit> {
    FragmentName::from_value(&fragment).map(WrittenEdit::Skip)
}

fn replace(fragment: Dynamic, by: Dynamic) -> ApiResult<WrittenEdit> {
    FragmentName::of_each([fragment, by]).map(WrittenEdit::Replace)
}

/// The path of `duplicate`, which has two fragments or more.
fn path_of(path: &Array) -> ApiResult<Vec<FragmentName>> {
    match path.len() {
        0 | 1 => api_error(format!(
            "a path of {} fragments has no edge: write duplicate([2, 5, 6])",
            path.len()
        )),
        _ => path.iter().map(FragmentName::from_value).collect(),
    }
}

fn duplicate(path: Array) -> ApiResult<WrittenEdit> {
    path_of(&path).map(WrittenEdit::Duplicate)
}

/// Copies a path of the selected methods; see [`super::optimise`].
pub(super) fn duplicate_path(
    context: &PlanContext,
    methods: &SelectedMethods,
    path: Array,
) -> ApiResult<Patch> {
    edit(context, methods, &[duplicate(path)?])
}

/// Copies a loop of the selected methods; see [`super::optimise`].
pub(super) fn unswitch_loop(
    context: &PlanContext,
    methods: &SelectedMethods,
    fragment: &Dynamic,
) -> ApiResult<Patch> {
    let fragment = FragmentName::from_value(fragment)?;
    edit(context, methods, &[WrittenEdit::Unswitch(fragment)])
}

fn edit(
    context: &PlanContext,
    methods: &SelectedMethods,
    edits: &[WrittenEdit],
) -> ApiResult<Patch> {
    if edits.is_empty() {
        return api_error("the array is empty: write edit([skip(3)])");
    }
    let edits = edits.iter().map(|edit| edit.resolve(context, methods));
    let edits = edits.collect::<ApiResult<_>>()?;
    apply(context, spec(context, methods, edits)?)
}

/// The edits of an array of a plan.
pub(super) fn written_edits(edits: &Array) -> ApiResult<Vec<WrittenEdit>> {
    let edits = edits
        .iter()
        .map(|edit| downcast_element::<WrittenEdit>("edits such as skip(3)", edit));
    edits.collect()
}

/// A spec that makes edits of the selected methods.
pub(super) fn spec(
    context: &PlanContext,
    methods: &SelectedMethods,
    edits: Vec<EditKind>,
) -> ApiResult<EditSpec> {
    Ok(EditSpec {
        plan: context.name.clone(),
        edits,
        patterns: methods.exact_patterns()?,
        passes: Vec::new(),
        only: Vec::new(),
    })
}

/// Makes the edits of a spec.
pub(super) fn apply(context: &PlanContext, spec: EditSpec) -> ApiResult<Patch> {
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
    Ok(Patch { ids: vec![id] })
}

/// A patch of any plan, as a map. Its edits can be passed to `edit` again.
fn patch_map(patch: PatchSummary) -> Map {
    let edits = patch.edits.into_iter().map(WrittenEdit::from);
    let edits: Array = edits.map(Dynamic::from).collect();
    let patterns: Array = patch.patterns.into_iter().map(Dynamic::from).collect();
    let fields: [(&str, Dynamic); 6] = [
        ("id", patch.id.to_string().into()),
        ("plan", patch.plan.into()),
        ("patterns", patterns.into()),
        ("edits", edits.into()),
        ("methods", int(patch.methods).into()),
        ("active", patch.active.into()),
    ];
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name.into(), value)).collect()
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<WrittenEdit>("Edit");
    engine.register_type_with_name::<SourceLine>("Line");
    engine.register_type_with_name::<Patch>("Patch");
    engine.register_fn("line", SourceLine);
    engine.register_fn("redirect", redirect);
    engine.register_fn("skip", skip);
    engine.register_fn("replace", replace);
    engine.register_fn("duplicate", duplicate);
    register_edits(engine, context);
    let plan = context.clone();
    engine.register_fn("edits", move || -> Array {
        let all = plan.with_runtime(|runtime| runtime.edits());
        all.into_iter().map(patch_map).map(Dynamic::from).collect()
    });
    let plan = context.clone();
    engine.register_fn("detach", move |patch: &mut Patch| patch.detach(&plan));
    engine.register_fn("id", |patch: &mut Patch| patch.text());
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |patch: &mut Patch| patch.text());
        engine.register_fn(show, |edit: &mut WrittenEdit| edit.to_string());
        engine.register_fn(show, |line: &mut SourceLine| line.to_string());
    }
}

/// Registers the functions that edit selected methods.
fn register_edits(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn(
        "redirect",
        move |methods: &mut SelectedMethods, from: Dynamic, to: Dynamic, target: Dynamic| {
            edit(&plan, methods, &[redirect(from, to, target)?])
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "skip",
        move |methods: &mut SelectedMethods, fragment: Dynamic| {
            edit(&plan, methods, &[skip(fragment)?])
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "replace",
        move |methods: &mut SelectedMethods, fragment: Dynamic, by: Dynamic| {
            edit(&plan, methods, &[replace(fragment, by)?])
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "duplicate",
        move |methods: &mut SelectedMethods, path: Array| duplicate_path(&plan, methods, path),
    );
    let plan = context.clone();
    engine.register_fn(
        "edit",
        move |methods: &mut SelectedMethods, edits: Array| {
            edit(&plan, methods, &written_edits(&edits)?)
        },
    );
}
