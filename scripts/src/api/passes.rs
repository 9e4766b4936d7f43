//! How often blocks were passed, from a counter that a plan gives to a transformation.

use super::convert::{ApiResult, api_error};
use super::handle::InstrumentHandle;
use rhai::Dynamic;
use std::collections::BTreeMap;
use veneer_instruments::{InstrumentId, MethodPasses, PointRow};

/// The counter of blocks that is given by its handle or by its id.
pub(super) fn counter(value: &Dynamic) -> ApiResult<InstrumentId> {
    if let Some(handle) = value.clone().try_cast::<InstrumentHandle>() {
        return Ok(handle.id);
    }
    let text = value.clone().into_string().unwrap_or_default();
    text.parse().or_else(|_| {
        api_error(format!(
            "counts: `{value}` is no counter: write counts: m.blocks().before(counter()), or the id of a counter"
        ))
    })
}

/// How often the blocks of each method were passed.
pub(super) fn passes(rows: Vec<PointRow>) -> Vec<MethodPasses> {
    let mut all: BTreeMap<(String, String), MethodPasses> = BTreeMap::new();
    for row in rows {
        let (Some(fragment), None) = (row.fragment, row.to) else {
            continue;
        };
        let key = (row.class, row.method);
        let passes = all.entry(key.clone()).or_insert_with(|| MethodPasses {
            class: key.0,
            method: key.1,
            passes: BTreeMap::new(),
        });
        passes.passes.insert(fragment, row.data.hits());
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::Measurement;
    use veneer_names::FragmentId;

    fn row(method: &str, fragment: Option<u32>, to: Option<u32>, hits: u64) -> PointRow {
        PointRow {
            class: "a.B".into(),
            method: method.into(),
            fragment: fragment.map(FragmentId),
            to: to.map(FragmentId),
            what: None,
            line: None,
            data: Measurement::Count { hits },
        }
    }

    #[test]
    fn passes_are_those_of_blocks_by_method() {
        let rows = vec![
            row("m()V", Some(2), None, 20),
            row("n()V", Some(0), None, 7),
            row("m()V", Some(0), None, 1),
            row("m()V", Some(0), Some(2), 9),
            row("m()V", None, None, 5),
        ];
        let found = passes(rows);
        let of = |n: usize| (&*found[n].method, found[n].passes.clone());
        let counts = |list: &[(u32, u64)]| list.iter().map(|(f, n)| (FragmentId(*f), *n)).collect();
        assert_eq!(of(0), ("m()V", counts(&[(0, 1), (2, 20)])));
        assert_eq!(of(1), ("n()V", counts(&[(0, 7)])));
        assert_eq!(found.len(), 2);
    }
}
