//! The flow graphs of methods before and after edits, for plans that look at the effect of an edit or of a
//! transformation. Nothing is installed.

use super::RuntimeHandle;
use super::edit::method_refused;
use crate::classes::method_analysis::analyse;
use veneer_fragmenter::listing::{MethodListing, TypeNames, edited};
use veneer_instruments::{ArmedMethod, AttachError, EditSpec, EditedGraph, GraphDump};

impl RuntimeHandle {
    /// The graphs of all loaded methods that the spec selects: of the class file, and with the edits that are in effect
    /// and those of the spec.
    pub(super) fn graphs_with_edits(
        &self,
        spec: &EditSpec,
    ) -> Result<Vec<EditedGraph>, AttachError> {
        let agent = self.agent;
        self.arm_matching_classes(&spec.patterns);
        self.refresh_patterns();
        let mut graphs = Vec::new();
        self.for_selected_methods(spec, &mut |class, file, (id, label)| {
            let (edits, _) = self.check_method(spec, class, file, (id, label))?;
            let analysed = analyse(&agent.policy, file, class, id)
                .map_err(|reason| method_refused(class, label, &reason))?;
            let (method, points) = (&analysed.method, &analysed.armed.points);
            let kept = agent.methods.edit_points(id);
            let mut all = agent.methods.edits(id);
            all.extend(edits.iter().cloned());
            let listed = |edits| edited(method, edits, points, &kept).map(|one| dump(&one));
            let refused = |reason| method_refused(class, label, &reason);
            graphs.push(EditedGraph {
                method: ArmedMethod {
                    id,
                    class: class.dotted.to_string(),
                    method: label.to_owned(),
                },
                before: listed(&[]).map_err(refused)?,
                after: listed(&all).map_err(refused)?,
            });
            Ok(edits)
        })?;
        match graphs.is_empty() {
            true => Err(self.nothing_matches(spec)),
            false => Ok(graphs),
        }
    }
}

fn dump(listing: &MethodListing) -> GraphDump {
    GraphDump {
        text: listing.to_string(),
        dot: listing.to_dot(TypeNames::Full),
        json: serde_json::to_string(listing).unwrap_or_default(),
    }
}
