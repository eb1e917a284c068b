//! Which loads of a function's own variables need no copy.
//!
//! Unoptimised code loads a variable before each use. Where nobody writes the variable before what
//! was loaded is used for the last time, its registers serve as well.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, StorageClass};

use super::function::Blocks;

/// Loads, by their ids, whose result may be the registers of the variable themselves.
pub(super) fn borrowed(instructions: &[Instruction], blocks: &Blocks) -> HashSet<u32> {
    let roots = roots(instructions);
    let far = used_far(instructions, blocks);
    let own = blocks.list.iter().map(|block| &instructions[block.range.clone()]);
    own.flat_map(|own| of_block(own, &roots, &far)).collect()
}

/// Ids that are used in another block than the one that defines them, after anything there.
fn used_far(instructions: &[Instruction], blocks: &Blocks) -> HashSet<u32> {
    let mut homes: HashMap<u32, usize> = HashMap::new();
    for (at, block) in blocks.list.iter().enumerate() {
        let own = &instructions[block.range.clone()];
        homes.extend(own.iter().filter_map(|one| one.result_id).map(|id| (id, at)));
    }
    let mut far = HashSet::new();
    for (at, block) in blocks.list.iter().enumerate() {
        for instruction in &instructions[block.range.clone()] {
            let is_phi = instruction.class.opcode == Op::Phi;
            let is_far = |id: &u32| is_phi || homes.get(id).is_some_and(|home| *home != at);
            far.extend(ids(instruction).filter(is_far));
        }
    }
    far
}

/// The variable that each pointer into one comes from.
fn roots(instructions: &[Instruction]) -> HashMap<u32, u32> {
    let mut roots = HashMap::new();
    for instruction in instructions {
        let Some(own) = instruction.result_id else { continue };
        match instruction.class.opcode {
            Op::Variable => {
                let class = instruction.operands.first();
                if class == Some(&Operand::StorageClass(StorageClass::Function)) {
                    roots.insert(own, own);
                }
            }
            op if is_chain(op) => {
                if let Some(root) = ids(instruction).next().and_then(|base| roots.get(&base)) {
                    roots.insert(own, *root);
                }
            }
            _ => {}
        }
    }
    roots
}

const fn is_chain(op: Op) -> bool {
    matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject)
}

fn ids(instruction: &Instruction) -> impl Iterator<Item = u32> + use<'_> {
    instruction.operands.iter().filter_map(Operand::id_ref_any)
}

/// Looks at a block from its end to its start: where each id is used for the last time, and where
/// each variable is written next.
fn of_block(own: &[Instruction], roots: &HashMap<u32, u32>, far: &HashSet<u32>) -> Vec<u32> {
    let mut last: HashMap<u32, usize> = far.iter().map(|id| (*id, usize::MAX)).collect();
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut found = Vec::new();
    for (at, instruction) in own.iter().enumerate().rev() {
        let op = instruction.class.opcode;
        let end_of = |id: u32| last.get(&id).copied().unwrap_or(at);
        // What an operation doesn't compute anew may be its operands' registers.
        let renamed = instruction.result_id.filter(|_| op != Op::Load && !computes(op));
        let until = renamed.map_or(at, end_of);
        if let (Op::Load, Some(loaded)) = (op, instruction.result_id)
            && let Some(root) = ids(instruction).next().and_then(|pointer| roots.get(&pointer))
            && written.get(root).copied().unwrap_or(usize::MAX) > end_of(loaded)
        {
            found.push(loaded);
        }
        for id in ids(instruction) {
            if op != Op::Load
                && !is_chain(op)
                && let Some(root) = roots.get(&id)
            {
                written.insert(*root, at);
            }
            let end = last.entry(id).or_insert(until);
            *end = until.max(*end);
        }
    }
    found
}

/// Operations whose result has registers of its own, and which use their operands at once.
fn computes(op: Op) -> bool {
    use Op::{
        BitwiseAnd, BitwiseOr, BitwiseXor, ConvertFToS, ConvertFToU, ConvertSToF, ConvertUToF, Dot,
        FAdd, FConvert, FDiv, FMul, FNegate, FOrdEqual, FOrdGreaterThan, FOrdGreaterThanEqual,
        FOrdLessThan, FOrdLessThanEqual, FSub, FUnordNotEqual, IAdd, IEqual, IMul, INotEqual, ISub,
        LogicalAnd, LogicalNot, LogicalOr, Not, SConvert, SDiv, SGreaterThan, SGreaterThanEqual,
        SLessThan, SLessThanEqual, SMod, SNegate, SRem, Select, ShiftLeftLogical,
        ShiftRightArithmetic, ShiftRightLogical, UConvert, UDiv, UGreaterThan, UGreaterThanEqual,
        ULessThan, ULessThanEqual, UMod, VectorTimesScalar,
    };
    matches!(
        op,
        IAdd | ISub
            | IMul
            | UDiv
            | SDiv
            | UMod
            | SMod
            | SRem
            | SNegate
            | FAdd
            | FSub
            | FMul
            | FDiv
            | FNegate
            | Dot
            | VectorTimesScalar
            | Not
            | BitwiseAnd
            | BitwiseOr
            | BitwiseXor
            | ShiftLeftLogical
            | ShiftRightLogical
            | ShiftRightArithmetic
            | LogicalAnd
            | LogicalOr
            | LogicalNot
            | Select
            | IEqual
            | INotEqual
            | ULessThan
            | ULessThanEqual
            | UGreaterThan
            | UGreaterThanEqual
            | SLessThan
            | SLessThanEqual
            | SGreaterThan
            | SGreaterThanEqual
            | FOrdEqual
            | FUnordNotEqual
            | FOrdLessThan
            | FOrdLessThanEqual
            | FOrdGreaterThan
            | FOrdGreaterThanEqual
            | ConvertFToS
            | ConvertFToU
            | ConvertSToF
            | ConvertUToF
            | UConvert
            | SConvert
            | FConvert
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a block borrows whose instructions are these, with 1 a variable and 90 used elsewhere.
    fn loads(lines: &[(Option<u32>, Op, &[u32])]) -> Vec<u32> {
        let variable = Instruction::new(
            Op::Variable,
            None,
            Some(1),
            vec![Operand::StorageClass(StorageClass::Function)],
        );
        let made = lines.iter().map(|(result, op, operands)| {
            let operands = operands.iter().map(|id| Operand::IdRef(*id)).collect();
            Instruction::new(*op, None, *result, operands)
        });
        let own: Vec<Instruction> = std::iter::once(variable).chain(made).collect();
        let mut found = of_block(&own, &roots(&own), &HashSet::from([90]));
        found.sort_unstable();
        found
    }

    #[test]
    fn a_load_borrows_until_its_variable_is_written() {
        let add: (Option<u32>, Op, &[u32]) = (Some(11), Op::IAdd, &[10, 10]);
        let load: (Option<u32>, Op, &[u32]) = (Some(10), Op::Load, &[1]);
        let store: (Option<u32>, Op, &[u32]) = (None, Op::Store, &[1, 11]);
        assert_eq!(loads(&[load, add, store]), [10]);
        assert!(loads(&[load, (None, Op::Store, &[1, 5]), add]).is_empty());
        assert!(loads(&[load, (None, Op::Store, &[1, 10])]).is_empty(), "of its own components");
        let chain: (Option<u32>, Op, &[u32]) = (Some(20), Op::AccessChain, &[1, 7]);
        assert!(loads(&[chain, load, (None, Op::Store, &[20, 5]), add]).is_empty());
        assert_eq!(loads(&[chain, (Some(10), Op::Load, &[20]), add, store]), [10]);
        let call: (Option<u32>, Op, &[u32]) = (Some(12), Op::FunctionCall, &[3, 1]);
        assert!(loads(&[load, call, add]).is_empty(), "the function may write it");
    }

    #[test]
    fn what_only_has_another_name_keeps_the_loan() {
        let load: (Option<u32>, Op, &[u32]) = (Some(10), Op::Load, &[1]);
        let part: (Option<u32>, Op, &[u32]) = (Some(11), Op::CompositeExtract, &[10]);
        let store: (Option<u32>, Op, &[u32]) = (None, Op::Store, &[1, 5]);
        let late: (Option<u32>, Op, &[u32]) = (Some(12), Op::IAdd, &[11, 11]);
        assert_eq!(loads(&[load, part, late, store]), [10]);
        assert!(loads(&[load, part, store, late]).is_empty());
        let far: (Option<u32>, Op, &[u32]) = (Some(90), Op::CopyObject, &[10]);
        assert!(loads(&[load, far]).is_empty(), "another block may write it before it uses it");
    }
}
