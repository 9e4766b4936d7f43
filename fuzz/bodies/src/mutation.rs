//! A mutator that knows class files. The default mutator of libFuzzer hardly ever produces a valid
//! class file.
//!
//! The mutator chooses at random:
//!
//! - For `reader`, libFuzzer's default mutator changes the bytes in one of three cases.
//! - For `pipeline` and `maps`, the default mutator changes the bytes in one of eight cases, and two
//!   of eight cases change the input's choices.
//! - In all other cases, this mutator changes a few places in the code of one method. Each change
//!   keeps the length, so offsets, frames and tables remain meaningful:
//!
//! ```text
//!   iadd → isub       an opcode is replaced by one with the same stack effect
//!   iload_1 → iload_2 another variable                  goto 9 → goto 12    another branch target
//!   a..b → c     an exception range or its handler is moved to other instructions
//! ```

use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{ClassFile, Code};

use crate::pipeline::{join, split};

/// libFuzzer's default mutator. Changes the first `size` bytes of `data`, which may grow to
/// `max_size`, and returns the new size.
type DefaultMutator = fn(data: &mut [u8], size: usize, max_size: usize) -> usize;

/// Changes an input of the target `reader`.
pub fn reader(
    data: &mut [u8],
    size: usize,
    max: usize,
    seed: u32,
    default: DefaultMutator,
) -> usize {
    let mut random = Generator(u64::from(seed));
    if random.below(3) != 0
        && let Some(changed) = change_method(&data[..size], &mut random)
        && changed.len() <= max
    {
        data[..changed.len()].copy_from_slice(&changed);
        return changed.len();
    }
    default(data, size, max)
}

/// Changes an input of the targets `pipeline` and `maps`.
pub fn pipeline(
    data: &mut [u8],
    size: usize,
    max: usize,
    seed: u32,
    default: DefaultMutator,
) -> usize {
    let mut random = Generator(u64::from(seed));
    let Some((choices, file)) = split(&data[..size]) else {
        return default(data, size, max);
    };
    let changed = match random.below(8) {
        0 => return default(data, size, max),
        1 | 2 => {
            let mut choices = choices.to_vec();
            if choices.len() < 64 && random.below(2) == 0 {
                choices.extend((0..=random.below(8)).map(|n| (random.0 >> (n % 32)) as u8));
            } else {
                let at = random.below(choices.len());
                if let Some(choice) = choices.get_mut(at) {
                    *choice = random.below(256) as u8;
                }
            }
            Some(join(&choices, file))
        }
        _ => change_method(file, &mut random).map(|file| join(choices, &file)),
    };
    match changed {
        Some(changed) if changed.len() <= max => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => default(data, size, max),
    }
}

/// A pseudo-random generator: a linear congruential one with Knuth's multiplier, of which the upper
/// bits are used.
struct Generator(u64);

impl Generator {
    /// Returns a number below `bound`, or 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Changes the code of one method. Returns `None` if the bytes are not a class file or if no method
/// has code.
fn change_method(bytes: &[u8], random: &mut Generator) -> Option<Vec<u8>> {
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
    let (method, attribute) = *with_code.get(random.below(with_code.len()))?;
    let info = file.methods[method].attributes[attribute].info.to_vec();
    let mut code = Code::parse(&info).ok()?;
    let instructions = decode(&code.code).ok()?;
    let mut bytes = code.code.to_vec();
    for _ in 0..=random.below(3) {
        let (pc, instruction) = &instructions[random.below(instructions.len())];
        change_instruction(
            &mut bytes,
            usize::from(*pc),
            instruction,
            &instructions,
            random,
        );
    }
    if random.below(4) == 0 && !code.exceptions.is_empty() {
        let row = random.below(code.exceptions.len());
        let row = &mut code.exceptions[row];
        let pc = instructions[random.below(instructions.len())].0;
        match random.below(3) {
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

/// Groups of opcodes that pop and push the same types.
const SAME_STACK_EFFECT: &[&[u8]] = &[
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

fn change_instruction(
    code: &mut [u8],
    pc: usize,
    instruction: &Instruction,
    all: &[(u16, Instruction)],
    random: &mut Generator,
) {
    let Some(op) = code.get(pc).copied() else {
        return;
    };
    if let (Instruction::Branch { .. }, 153..=168 | 198 | 199) = (instruction, op)
        && random.below(2) == 0
    {
        let target = all[random.below(all.len())].0;
        let offset = i32::from(target) - pc as i32;
        if let (Ok(offset), Some(place)) = (i16::try_from(offset), code.get_mut(pc + 1..pc + 3)) {
            place.copy_from_slice(&offset.to_be_bytes());
        }
        return;
    }
    match instruction {
        // The two-byte forms, which have the variable's number in the second byte.
        Instruction::Local { .. } if matches!(op, 21..=25 | 54..=58) => {
            if let Some(place) = code.get_mut(pc + 1) {
                *place = random.below(12) as u8;
            }
        }
        _ => {
            let group = SAME_STACK_EFFECT.iter().find(|group| group.contains(&op));
            if let (Some(group), Some(place)) = (group, code.get_mut(pc)) {
                *place = group[random.below(group.len())];
            }
        }
    }
}
