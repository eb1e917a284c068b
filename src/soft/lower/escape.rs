//! Which values are used outside the loop that defines them.
//!
//! Invocations leave a loop at different turns. Registers of inactive invocations are overwritten
//! freely, so what one took out of the loop must be kept apart from the turns that others go on
//! with.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::function::Blocks;

/// Ids of a function that are used outside of a loop in which they are defined.
pub(super) fn escaping(instructions: &[Instruction], blocks: &Blocks) -> HashSet<u32> {
    let loops = loops(blocks);
    let mut defined: HashMap<u32, usize> = HashMap::new();
    for (at, block) in blocks.list.iter().enumerate() {
        for instruction in &instructions[block.range.clone()] {
            if let Some(id) = instruction.result_id {
                defined.insert(id, at);
            }
        }
    }
    let leaves = |id: u32, used: usize| {
        let Some(home) = defined.get(&id) else { return false };
        loops[*home].iter().any(|header| !loops[used].contains(header))
    };
    let mut found = HashSet::new();
    for (at, block) in blocks.list.iter().enumerate() {
        for instruction in &instructions[block.range.clone()] {
            if instruction.class.opcode == Op::Phi {
                // A phi reads at the end of the block that it comes from.
                for pair in instruction.operands.chunks(2) {
                    if let [Operand::IdRef(id), Operand::IdRef(from)] = pair
                        && let Some(from) = blocks.by_label.get(from)
                        // The copy on the edge that leaves a loop has its turn after the loop's.
                        && (leaves(*id, *from) || leaves(*id, at))
                    {
                        found.insert(*id);
                    }
                }
                continue;
            }
            for operand in &instruction.operands {
                if let Some(id) = operand.id_ref_any()
                    && leaves(id, at)
                {
                    found.insert(id);
                }
            }
        }
    }
    found
}

/// For every block the headers of the loops that it lies in.
fn loops(blocks: &Blocks) -> Vec<HashSet<usize>> {
    let mut inside = vec![HashSet::new(); blocks.list.len()];
    for (header, block) in blocks.list.iter().enumerate() {
        let (Some(merge), true) = (block.merge, block.next.is_some()) else { continue };
        let merge = blocks.by_label.get(&merge).copied();
        let mut pending = vec![header];
        while let Some(at) = pending.pop() {
            if Some(at) == merge || !inside[at].insert(header) {
                continue;
            }
            let targets = blocks.list[at].targets.iter();
            pending.extend(targets.filter_map(|label| blocks.by_label.get(label)));
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(op: Op, id: Option<u32>, operands: &[u32]) -> Instruction {
        let operands = operands.iter().map(|id| Operand::IdRef(*id)).collect();
        Instruction::new(op, id.map(|_| 1), id, operands)
    }

    /// A loop of one block, which computes 20 and leaves from its end; `behind` stands after it.
    fn escaped(behind: Instruction) -> HashSet<u32> {
        let (entry, header, merge, next) = (10, 11, 12, 13);
        let mut merging = made(Op::LoopMerge, None, &[merge, header]);
        merging.operands.push(Operand::LoopControl(rspirv::spirv::LoopControl::NONE));
        let instructions = [
            made(Op::Label, Some(entry), &[]),
            made(Op::Branch, None, &[header]),
            made(Op::Label, Some(header), &[]),
            made(Op::IAdd, Some(20), &[2, 3]),
            merging,
            made(Op::BranchConditional, None, &[4, header, merge]),
            made(Op::Label, Some(merge), &[]),
            behind,
            made(Op::Branch, None, &[next]),
            made(Op::Label, Some(next), &[]),
            made(Op::Return, None, &[]),
        ];
        let blocks = Blocks::of(&instructions).expect("blocks");
        escaping(&instructions, &blocks)
    }

    #[test]
    fn a_phi_behind_a_loop_takes_its_value_out_of_it() {
        assert_eq!(escaped(made(Op::IAdd, Some(21), &[20, 2])), HashSet::from([20]));
        assert_eq!(escaped(made(Op::Phi, Some(21), &[20, 11])), HashSet::from([20]));
        assert_eq!(escaped(made(Op::IAdd, Some(21), &[2, 3])), HashSet::new());
    }
}
