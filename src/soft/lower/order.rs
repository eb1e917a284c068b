//! In which order blocks get their turn.
//!
//! The machine always runs the first block that anybody waits at. With every construct's merge
//! block behind the whole construct, this alone brings invocations together where SPIR-V says that
//! they come together, and needs no stack of masks.

use crate::soft::program::{BlockId, Code, End, Program};

/// The rank of every block. `schedule` chooses which arm of a branch comes first; 0 takes the
/// first one.
pub(crate) fn order(program: &Program, schedule: u64) -> Vec<u32> {
    let count = program.blocks.len();
    let mut seen = vec![false; count];
    let mut left: Vec<BlockId> = Vec::with_capacity(count);
    // A block and how many of its targets were looked at.
    let mut path: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
    if count > 0 {
        seen[0] = true;
        path.push((0, targets(program, 0, schedule)));
    }
    while let Some((block, rest)) = path.last_mut() {
        match rest.pop() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    path.push((next, targets(program, next, schedule)));
                }
            }
            None => {
                left.push(*block);
                path.pop();
            }
        }
    }
    let mut ranks = vec![u32::MAX; count];
    for (rank, block) in left.iter().rev().enumerate() {
        ranks[*block as usize] = u32::try_from(rank).unwrap_or(u32::MAX);
    }
    ranks
}

/// What follows a block, the last to be looked at first: whatever is left first gets its place
/// behind the others.
fn targets(program: &Program, block: BlockId, schedule: u64) -> Vec<BlockId> {
    let block_data = &program.blocks[block as usize];
    let mut targets = match &block_data.end {
        End::Jump(to) => vec![*to],
        End::Branch { yes, no, .. } => vec![*yes, *no],
        End::Switch { cases, default, .. } => {
            let mut targets: Vec<BlockId> = cases.iter().map(|(_, to)| *to).collect();
            targets.push(*default);
            targets
        }
        End::Return | End::Unreachable => Vec::new(),
    };
    if schedule != 0 && mix(schedule ^ u64::from(block)) & 1 == 1 {
        targets.reverse();
    }
    targets.extend(block_data.next);
    targets.extend(block_data.merge);
    targets
}

/// Whether an invocation may wait for another: it looks again and again at what others write. Such
/// a loop ends on a real device, where subgroups run for themselves.
pub(super) fn may_wait(program: &Program) -> bool {
    let looks = |code: &Code| match code {
        Code::Atomic(_) => true,
        Code::Load(access) => access.manner.coherent || access.manner.volatile,
        _ => false,
    };
    let ranks = order(program, 0);
    // In this order only the way back of a loop goes up.
    let mut back: Vec<(u32, u32)> = Vec::new();
    for (block, rank) in (0..).zip(&ranks).filter(|(_, rank)| **rank != u32::MAX) {
        let targets = targets(program, block, 0).into_iter().map(|to| ranks[to as usize]);
        back.extend(targets.filter(|to| to <= rank).map(|to| (to, *rank)));
    }
    program.blocks.iter().zip(&ranks).any(|(block, rank)| {
        let inside = back.iter().any(|(first, last)| (first..=last).contains(&rank));
        inside && block.instrs.iter().any(|instr| looks(&instr.code))
    })
}

/// A word whose bits depend on all bits of another (the finaliser of splitmix64).
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
