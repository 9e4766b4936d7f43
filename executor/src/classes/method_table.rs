//! The methods of an armed class that have cells, in little memory.
//!
//! A program has about ten armed methods for each class, and the agent keeps them as long as the class
//! lives. Therefore a method takes 12 bytes here, and its name and its descriptor are parts of one
//! text for the whole class:
//!
//! ```text
//!   records   index │ anchor │ end of the name │ end of the descriptor
//!   text      run()Vloop(I)I…
//! ```

use std::sync::Arc;
use veneer_fragmenter::arming::ArmedMethod;
use veneer_fragmenter::points::Point;
use veneer_names::MethodId;

/// A method that has a cell.
#[derive(Clone, Copy)]
pub struct MethodEntry<'t> {
    /// Position in the class file's method list.
    pub index: usize,
    /// The id of the method's cell.
    pub id: MethodId,
    /// The simple name.
    pub name: &'t str,
    /// The method's descriptor (JVMS §4.3.3).
    pub descriptor: &'t str,
    /// Internal name of the anchor that declares the method.
    pub anchor: &'t Arc<str>,
}

#[derive(Clone, Copy)]
struct Record {
    /// A class file has 65,535 methods at most.
    index: u16,
    /// Position in the list of anchors, of which there is one for each arming of the class.
    anchor: u16,
    /// Offsets in the text. The name begins where the previous descriptor ends.
    name_end: u32,
    descriptor_end: u32,
}

/// The methods of one class that have cells. See the module documentation.
#[derive(Default)]
pub struct MethodTable {
    first_id: MethodId,
    records: Box<[Record]>,
    text: Box<str>,
    anchors: Box<[Arc<str>]>,
    /// The capture points of each method, if the agent checks its code. Otherwise the list is empty.
    points: Box<[Vec<Point>]>,
}

impl MethodTable {
    /// The table of a class whose method number `i` has the id `first_id + i`. Returns `None` if a
    /// number is too large for its field, which no class file reaches.
    pub fn new(first_id: MethodId, methods: Vec<ArmedMethod>) -> Option<MethodTable> {
        let mut records = Vec::with_capacity(methods.len());
        let (mut text, mut anchors) = (String::new(), Vec::<Arc<str>>::new());
        for method in &methods {
            let known = anchors.iter().position(|anchor| *anchor == method.anchor);
            let anchor = known.unwrap_or_else(|| {
                anchors.push(method.anchor.clone());
                anchors.len() - 1
            });
            text.push_str(&method.name);
            let name_end = u32::try_from(text.len()).ok()?;
            text.push_str(&method.descriptor);
            records.push(Record {
                index: u16::try_from(method.index).ok()?,
                anchor: u16::try_from(anchor).ok()?,
                name_end,
                descriptor_end: u32::try_from(text.len()).ok()?,
            });
        }
        let has_points = methods.iter().any(|method| !method.points.is_empty());
        let points = match has_points {
            true => methods.into_iter().map(|method| method.points).collect(),
            false => Box::default(),
        };
        Some(MethodTable {
            first_id,
            records: records.into(),
            text: text.into(),
            anchors: anchors.into(),
            points,
        })
    }

    /// The number of methods.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no method has a cell.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The method at a position of the table.
    pub fn get(&self, position: usize) -> Option<MethodEntry<'_>> {
        let record = self.records.get(position)?;
        let start = match position.checked_sub(1) {
            Some(previous) => self.records[previous].descriptor_end as usize,
            None => 0,
        };
        let (name_end, end) = (record.name_end as usize, record.descriptor_end as usize);
        Some(MethodEntry {
            index: record.index.into(),
            id: self.first_id.plus(record.index.into()),
            name: &self.text[start..name_end],
            descriptor: &self.text[name_end..end],
            anchor: &self.anchors[usize::from(record.anchor)],
        })
    }

    /// The methods, in the order of the class file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = MethodEntry<'_>> {
        (0..self.len()).map(|position| self.entry(position))
    }

    fn entry(&self, position: usize) -> MethodEntry<'_> {
        self.get(position)
            .expect("the position is below the length")
    }

    /// The method with an id.
    pub fn with_id(&self, id: MethodId) -> Option<MethodEntry<'_>> {
        self.iter().find(|method| method.id == id)
    }

    /// The method with a name and a descriptor.
    pub fn named(&self, name: &str, descriptor: &str) -> Option<MethodEntry<'_>> {
        let mut methods = self.iter();
        methods.find(|method| (method.name, method.descriptor) == (name, descriptor))
    }

    /// The methods in the form of the fragmenter, for another arming of the class and for checks.
    pub fn to_armed_methods(&self) -> Vec<ArmedMethod> {
        let method = |(position, m): (usize, MethodEntry)| ArmedMethod {
            index: m.index,
            id: m.id,
            name: m.name.to_owned(),
            descriptor: m.descriptor.to_owned(),
            anchor: m.anchor.clone(),
            points: self.points.get(position).cloned().unwrap_or_default(),
        };
        self.iter().enumerate().map(method).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(index: usize, name: &str, descriptor: &str, anchor: &str) -> ArmedMethod {
        ArmedMethod {
            index,
            id: MethodId(10 + index as u32),
            name: name.into(),
            descriptor: descriptor.into(),
            anchor: anchor.into(),
            points: Vec::new(),
        }
    }

    #[test]
    fn a_table_has_the_methods_of_the_arming() {
        let methods = vec![
            method(0, "<init>", "()V", "a/B$Veneer"),
            method(3, "run", "(I)Ljava/lang/String;", "a/B$Veneer1"),
            method(4, "größe", "()I", "a/B$Veneer"),
        ];
        let table = MethodTable::new(MethodId(10), methods.clone()).expect("a table");
        assert_eq!((table.len(), table.is_empty()), (3, false));
        assert_eq!(table.anchors.len(), 2);
        let row = |m: &ArmedMethod| {
            let texts = [m.name.clone(), m.descriptor.clone(), m.anchor.to_string()];
            (m.index, m.id, texts)
        };
        let rows: Vec<_> = table.to_armed_methods().iter().map(row).collect();
        assert_eq!(rows, methods.iter().map(row).collect::<Vec<_>>());
        assert_eq!(table.with_id(MethodId(13)).map(|m| m.name), Some("run"));
        assert_eq!(table.with_id(MethodId(12)).map(|m| m.name), None);
        assert_eq!(table.named("größe", "()I").map(|m| m.index), Some(4));
        assert!(table.named("größe", "()V").is_none());
        assert!(table.get(3).is_none());
    }

    #[test]
    fn a_class_without_cells_has_an_empty_table() {
        let table = MethodTable::new(MethodId(0), Vec::new()).expect("a table");
        assert!(table.is_empty() && table.iter().next().is_none());
    }
}
