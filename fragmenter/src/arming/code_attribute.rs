//! Writes the armed `Code` attribute of a method: the spliced code, the exception table, and the
//! tables of the code with new pcs. Unchanged bytes are copied in one piece, and pcs are then
//! overwritten in place.

use super::fast_path::{AcceptedMethod, FastPath};
use super::known_names::AttributeKind;
use super::layout::BodyConstants;
use super::splice;
use super::stackmap_relocation::{EncodedType, NO_PC, OBJECT, StackMap};
use super::word::Word;
use crate::classfile::{Attribute, Code, ConstantPool, remap_code_attributes};
use crate::osr_exit::ExitForm;

impl<'f> FastPath<'f> {
    /// Appends the content of the armed `Code` attribute to `out`. Returns `None` if the full path
    /// must handle the method.
    pub fn write(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        constants: &BodyConstants,
        pool: &mut ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let code = method.code;
        let buffers = &mut *self.buffers;
        let points = &buffers.points;
        let stack = splice::stack_words(points, &method.parameters);
        let max_stack = code.max_stack.max(stack);
        let max_locals = code.max_locals.checked_add(splice::spill_words(points))?;
        out.reserve(code.code.len() + 64 * points.points.len() + 64);
        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&max_locals.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        let begin = out.len();
        let original = method.original(&buffers.scan);
        buffers.splice.write(original, points, constants, out)?;
        let length = (out.len() - begin) as u32;
        out[begin - 4..begin].copy_from_slice(&length.to_be_bytes());
        self.write_ranges(code, out)?;
        self.write_attributes(method, pool, out)
    }

    fn write_ranges(&mut self, code: &Code, out: &mut Vec<u8>) -> Option<()> {
        let buffers = &mut *self.buffers;
        let (rows, moved) = (&mut buffers.rows, &mut buffers.moved_rows);
        let points = &buffers.points.points;
        buffers
            .splice
            .relocate_ranges(&code.exceptions, points, rows, moved);
        out.extend_from_slice(&u16::try_from(rows.len()).ok()?.to_be_bytes());
        for row in rows {
            for number in [row.start, row.end, row.handler, row.catch_type] {
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
        Some(())
    }

    /// Writes the attributes of the code with new pcs. The line table also gets the lines of the
    /// stubs, and the stack map gets their frames.
    fn write_attributes(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        pool: &mut ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let code = method.code;
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        let mut count = 0u16;
        let mut stack_map = None;
        let mut has_lines = false;
        for attribute in &code.attributes {
            let kind = self.buffers.names.kind(attribute.name);
            if kind == AttributeKind::StackMap {
                // The JVM accepts one table.
                stack_map.is_none().then_some(())?;
                stack_map = Some(attribute);
                continue;
            }
            begin_attribute(out, attribute.name, |out| match kind {
                AttributeKind::Lines => {
                    let is_first = !std::mem::replace(&mut has_lines, true);
                    self.write_lines(code, &attribute.info, is_first, out)
                }
                AttributeKind::Variables => self.write_variables(code, &attribute.info, out),
                _ => self.write_other(code, attribute, pool, out),
            })?;
            count = count.checked_add(1)?;
        }
        let name = match stack_map {
            Some(attribute) => attribute.name,
            None => self.constants.stack_map_name(pool).ok()?,
        };
        let info = stack_map.map(|a| &*a.info);
        begin_attribute(out, name, |out| {
            self.write_stack_map(method, info, pool, out)
        })?;
        out[count_at..count_at + 2].copy_from_slice(&count.checked_add(1)?.to_be_bytes());
        Some(())
    }

    /// The new pc to which a branch to this pc leads. `None` if no instruction starts there.
    #[inline]
    fn new_target(&self, pc: usize) -> Option<u16> {
        let to = self.buffers.splice.targets.get(pc).copied();
        to.filter(|to| *to != NO_PC)
    }

    /// Writes a `LineNumberTable` with new pcs. If `stubs` is true, the lines of the stubs follow.
    fn write_lines(&self, code: &Code, info: &[u8], stubs: bool, out: &mut Vec<u8>) -> Option<()> {
        let (count, rows) = info.split_first_chunk::<2>()?;
        let mut count = u16::from_be_bytes(*count);
        (rows.len() == 4 * usize::from(count)).then_some(())?;
        let at = out.len();
        out.extend_from_slice(info);
        for row in out[at + 2..].chunks_exact_mut(4) {
            let start = usize::from(u16::from_be_bytes([row[0], row[1]]));
            (start < code.code.len()).then_some(())?;
            let to = self.new_target(start).unwrap_or(0);
            row[..2].copy_from_slice(&to.to_be_bytes());
        }
        if stubs {
            let lines = SourceLines::new(self, code, rows);
            let points = self.buffers.points.points.iter();
            for (p, stub) in points.zip(&self.buffers.splice.stubs) {
                let Some(line) = lines.at(p.pc) else {
                    continue;
                };
                out.extend_from_slice(&stub.to_be_bytes());
                out.extend_from_slice(&line.to_be_bytes());
                count = count.checked_add(1)?;
            }
        }
        out[at..at + 2].copy_from_slice(&count.to_be_bytes());
        Some(())
    }

    /// Writes a `LocalVariableTable` or `LocalVariableTypeTable` with new pcs.
    fn write_variables(&self, code: &Code, info: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (count, rows) = info.split_first_chunk::<2>()?;
        (rows.len() == 10 * usize::from(u16::from_be_bytes(*count))).then_some(())?;
        let at = out.len();
        out.extend_from_slice(info);
        for row in out[at + 2..].chunks_exact_mut(10) {
            let start = usize::from(u16::from_be_bytes([row[0], row[1]]));
            let end = start + usize::from(u16::from_be_bytes([row[2], row[3]]));
            (end <= code.code.len()).then_some(())?;
            let new_start = self.new_target(start).unwrap_or(0);
            let new_end = self.new_target(end).unwrap_or(0);
            row[..2].copy_from_slice(&new_start.to_be_bytes());
            row[2..4].copy_from_slice(&new_end.checked_sub(new_start)?.to_be_bytes());
        }
        Some(())
    }

    /// Writes another attribute with new pcs.
    fn write_other(
        &self,
        code: &Code,
        attribute: &Attribute,
        pool: &ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let map = |pc: u16| self.new_target(usize::from(pc)).unwrap_or(0);
        let moved = &self.buffers.moved_rows;
        let row = |e: u16| moved.get(usize::from(e)).copied().unwrap_or(e);
        let mut one = vec![attribute.clone()];
        let length = code.code.len() as u16;
        remap_code_attributes(&mut one, pool, length, &map, &row).ok()?;
        out.extend_from_slice(&one[0].info);
        Some(())
    }

    /// Writes the stack map with new pcs and with the frames of the stubs.
    fn write_stack_map(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        info: Option<&[u8]>,
        pool: &mut ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let [mut locals, mut stack, previous] = std::mem::take(&mut self.buffers.frame_types);
        let buffers = &*self.buffers;
        let (all, splice) = (&buffers.points, &buffers.splice);
        let places = (&splice.targets[..], &splice.new_pcs[..]);
        let mut map = StackMap::relocated(info, places, previous, out)?;
        let parameters = &method.parameters;
        let constants = &mut self.constants;
        let object = constants.object(pool).ok()?;
        let last_frame = buffers.types.last_frame.filter(|_| !method.constructor);
        let types = (last_frame != Some(0)).then_some(|out: &mut Vec<u8>| {
            out.extend_from_slice(&(parameters.loads.len() as u16).to_be_bytes());
            parameters.write_types(out, constants, pool)
        });
        let stubs = &splice.stubs;
        map.push_entry(out, *stubs.first()?, types, object).ok()?;
        let before = parameters.loads.len();
        let encoded = |word: Word| -> EncodedType {
            match word.tag() {
                OBJECT => (OBJECT, object),
                tag => (tag, 0),
            }
        };
        let last = |form: ExitForm| all.points.iter().rposition(|p| p.form == form);
        let (last_frame, last_return) = (last(ExitForm::Frame), last(ExitForm::Return));
        let is_return = |form: ExitForm| form == ExitForm::Return;
        let has_return_jumps = all.points.iter().position(|p| is_return(p.form)) != last_return;
        for (n, (p, stub)) in all.points.iter().zip(stubs).enumerate().skip(1) {
            locals.clear();
            let mut slot = 0;
            for value in all.locals(p) {
                while slot < value.slot {
                    locals.push((Word::TOP.tag(), 0));
                    slot += 1;
                }
                locals.push(encoded(value.word));
                slot += value.word.width();
            }
            stack.clear();
            stack.extend(all.operands(p).iter().map(|v| encoded(v.word)));
            map.push(out, *stub, before, &locals, &stack);
            if let Some(tail) = splice.return_tail
                && Some(n) == last_return
                && has_return_jumps
            {
                stack.push(encoded(Word::INT));
                map.push(out, tail, before, &[], &stack);
            }
            if let Some(tail) = splice.frame_tail
                && Some(n) == last_frame
            {
                let frame = self.constants.frame(pool).ok()?;
                map.push(out, tail, before, &[], &[(OBJECT, frame)]);
            }
        }
        let previous = map.finish(out);
        self.buffers.frame_types = [locals, stack, previous];
        Some(())
    }
}

/// Writes the name, the length and the content of an attribute.
fn begin_attribute(
    out: &mut Vec<u8>,
    name: u16,
    content: impl FnOnce(&mut Vec<u8>) -> Option<()>,
) -> Option<()> {
    out.extend_from_slice(&name.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    let begin = out.len();
    content(out)?;
    let length = u32::try_from(out.len() - begin).ok()?;
    out[begin - 4..begin].copy_from_slice(&length.to_be_bytes());
    Some(())
}

/// The source lines of a method's code.
struct SourceLines<'m> {
    /// The rows of all line tables. Each row is a start pc and a line.
    tables: Vec<&'m [u8]>,
    /// The only table, if its rows are in the order of their pcs.
    sorted: Option<&'m [[u8; 4]]>,
}

impl<'m> SourceLines<'m> {
    /// `rows` are the rows of the first line table.
    fn new(path: &FastPath, code: &'m Code, rows: &'m [u8]) -> SourceLines<'m> {
        let is_lines = |a: &&Attribute| path.buffers.names.kind(a.name) == AttributeKind::Lines;
        let others = code.attributes.iter().filter(is_lines).skip(1);
        let mut tables: Vec<&[u8]> = others.filter_map(|a| a.info.get(2..)).collect();
        let (chunks, _) = rows.as_chunks::<4>();
        if tables.is_empty() && chunks.is_sorted_by_key(row_start) {
            let sorted = Some(chunks);
            return SourceLines { tables, sorted };
        }
        tables.insert(0, rows);
        SourceLines {
            tables,
            sorted: None,
        }
    }

    /// The line of a pc: that of the last row with the greatest start that is not after the pc.
    fn at(&self, pc: u16) -> Option<u16> {
        if let Some(rows) = self.sorted {
            let after = rows.partition_point(|row| row_start(row) <= pc);
            let [_, _, high, low] = rows.get(after.checked_sub(1)?)?;
            return Some(u16::from_be_bytes([*high, *low]));
        }
        let mut best: Option<(u16, u16)> = None;
        let rows = self.tables.iter().flat_map(|rows| rows.as_chunks::<4>().0);
        for row in rows {
            let (start, line) = (row_start(row), u16::from_be_bytes([row[2], row[3]]));
            if start <= pc && best.is_none_or(|b| b.0 <= start) {
                best = Some((start, line));
            }
        }
        best.map(|b| b.1)
    }
}

/// The start pc of a row of a line table.
fn row_start(row: &[u8; 4]) -> u16 {
    u16::from_be_bytes([row[0], row[1]])
}
