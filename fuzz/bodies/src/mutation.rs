//! A mutator that knows class files: what libFuzzer alone changes is hardly ever a class file afterwards.
//!
//! One of three times the bytes are left to libFuzzer. Otherwise one method's code is changed in a few places, each change
//! of the same length, so that offsets, frames and tables still mean something:
//!
//! ```text
//!   iadd → isub       an opcode by one of the same stack effect
//!   iload_1 → iload_2 another variable                  goto 9 → goto 12    another instruction as the target
//!   a..b → c     an exception range or its handler moved to other instructions
//! ```

use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{ClassFile, Code};

use crate::pipeline::{join, split};

/// libFuzzer's own mutator: changes the first `size` bytes within `max_size`; gives the new size.
type Default = fn(data: &mut [u8], size: usize, max_size: usize) -> usize;

/// Changes an input of the target `reader`.
pub fn reader(data: &mut [u8], size: usize, max: usize, seed: u32, default: Default) -> usize {
    let mut draw = Draw(u64::from(seed));
    if draw.below(3) != 0
        && let Some(changed) = class(&data[..size], &mut draw)
        && changed.len() <= max
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    default(data, size, max)
}

/// Changes an input of the target `pipeline`.
pub fn pipeline(data: &mut [u8], size: usize, max: usize, seed: u32, default: Default) -> usize {
    let mut draw = Draw(u64::from(seed));
    let Some((choices, file)) = split(&data[..size]) else {
        return default(data, size, max);
    };
    let changed = match draw.below(8) {
        0 => return default(data, size, max),
        1 | 2 => {
            let mut choices = choices.to_vec();
            if choices.len() < 64 && draw.below(2) == 0 {
                choices.extend((0..=draw.below(8)).map(|n| (draw.0 >> (n % 32)) as u8));
            } else {
                let at = draw.below(choices.len());
                if let Some(choice) = choices.get_mut(at) {
                    *choice = draw.below(256) as u8;
                }
            }
            Some(join(&choices, file))
        }
        _ => class(file, &mut draw).map(|file| join(choices, &file)),
    };
    match changed {
        Some(changed) if changed.len() <= max => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => default(data, size, max),
    }
}

/// A sequence of numbers from a seed (Knuth's multiplier, the upper bits).
struct Draw(u64);

impl Draw {
    /// A number below `bound`, 0 where that is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// The class file with one method's code changed; `None` where there is none, or no code.
fn class(bytes: &[u8], draw: &mut Draw) -> Option<Vec<u8>> {
    let mut file = ClassFile::parse(bytes).ok()?;
    let with_code: Vec<(usize, usize)> = file
        .methods
        .iter()
        .enumerate()
        .filter_map(|(m, method)| {
            let at = method
                .attributes
                .iter()
                .position(|a| a.is(&file.pool, "Code"))?;
            Some((m, at))
        })
        .collect();
    let (method, attribute) = *with_code.get(draw.below(with_code.len()))?;
    let info = file.methods[method].attributes[attribute].info.to_vec();
    let mut code = Code::parse(&info).ok()?;
    let instructions = decode(&code.code).ok()?;
    let mut bytes = code.code.to_vec();
    for _ in 0..=draw.below(3) {
        let (pc, instruction) = &instructions[draw.below(instructions.len())];
        change(
            &mut bytes,
            usize::from(*pc),
            instruction,
            &instructions,
            draw,
        );
    }
    if draw.below(4) == 0 && !code.exceptions.is_empty() {
        let row = draw.below(code.exceptions.len());
        let row = &mut code.exceptions[row];
        let pc = instructions[draw.below(instructions.len())].0;
        match draw.below(3) {
            0 => row.start = pc,
            1 => row.end = pc,
            _ => row.handler = pc,
        }
    }
    code.code = bytes.into();
    let info = code.to_bytes().ok()?;
    file.methods[method].attributes[attribute].info = info.into();
    file.to_bytes().ok()
}

/// Opcodes that take and give the same types, one group a line.
const ALIKE: &[&[u8]] = &[
    &[2, 3, 4, 5, 6, 7, 8],
    &[9, 10],
    &[11, 12, 13],
    &[14, 15],
    &[26, 27, 28, 29],
    &[30, 31, 32, 33],
    &[34, 35, 36, 37],
    &[38, 39, 40, 41],
    &[42, 43, 44, 45],
    &[46, 51, 52, 53],
    &[59, 60, 61, 62],
    &[63, 64, 65, 66],
    &[67, 68, 69, 70],
    &[71, 72, 73, 74],
    &[75, 76, 77, 78],
    &[79, 84, 85, 86],
    &[87, 89, 90, 91, 92, 93, 94, 95, 0],
    &[96, 100, 104, 108, 112, 120, 122, 124, 126, 128, 130],
    &[97, 101, 105, 109, 113, 127, 129, 131],
    &[98, 102, 106, 110, 114],
    &[99, 103, 107, 111, 115],
    &[121, 123, 125],
    &[116, 145, 146, 147, 0],
    &[149, 150],
    &[151, 152],
    &[153, 154, 155, 156, 157, 158],
    &[159, 160, 161, 162, 163, 164],
    &[165, 166],
    &[198, 199],
    &[172, 173, 174, 175, 176, 177, 191],
    &[194, 195, 87],
];

fn change(
    code: &mut [u8],
    pc: usize,
    instruction: &Instruction,
    all: &[(u16, Instruction)],
    draw: &mut Draw,
) {
    let Some(op) = code.get(pc).copied() else {
        return;
    };
    if let (Instruction::Branch { .. }, 153..=168 | 198 | 199) = (instruction, op)
        && draw.below(2) == 0
    {
        let target = all[draw.below(all.len())].0;
        let offset = i32::from(target) - pc as i32;
        if let (Ok(offset), Some(place)) = (i16::try_from(offset), code.get_mut(pc + 1..pc + 3)) {
            place.copy_from_slice(&offset.to_be_bytes());
        }
        return;
    }
    match instruction {
        // The long forms, with the variable in one byte.
        Instruction::Local { .. } if matches!(op, 21..=25 | 54..=58) => {
            if let Some(place) = code.get_mut(pc + 1) {
                *place = draw.below(12) as u8;
            }
        }
        _ => {
            let group = ALIKE.iter().find(|group| group.contains(&op));
            if let (Some(group), Some(place)) = (group, code.get_mut(pc)) {
                *place = group[draw.below(group.len())];
            }
        }
    }
}
