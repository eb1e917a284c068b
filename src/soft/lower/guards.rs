//! Which branch let an invocation through to a block: the nearest one on which it depends whether
//! the block is reached at all (Ferrante, Ottenstein and Warren 1987, control dependence).

use std::collections::HashSet;

use crate::soft::program::{BlockId, End, PlaceId, Program};

/// The places of the branches that decide on a block.
pub(crate) fn guards(program: &Program, block: BlockId) -> Vec<PlaceId> {
    let targets = |at: usize| -> Vec<BlockId> {
        match &program.blocks[at].end {
            End::Jump(to) => vec![*to],
            End::Branch { yes, no, .. } => vec![*yes, *no],
            End::Switch { cases, default, .. } => {
                cases.iter().map(|(_, to)| *to).chain([*default]).collect()
            }
            End::Return | End::Unreachable => Vec::new(),
        }
    };
    // Blocks from which an end can be reached without passing the block: it decides nothing there.
    let mut escapes: HashSet<usize> = HashSet::new();
    let is_end = |at: usize| matches!(program.blocks[at].end, End::Return | End::Unreachable);
    let target = block as usize;
    let count = program.blocks.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for at in 0..count {
        targets(at).iter().for_each(|to| before[*to as usize].push(at));
    }
    let mut pending: Vec<usize> = (0..count).filter(|at| *at != target && is_end(*at)).collect();
    while let Some(at) = pending.pop() {
        if at != target && escapes.insert(at) {
            pending.extend(&before[at]);
        }
    }
    let decides = |at: &usize| {
        let reached = targets(*at);
        let some_miss = reached.iter().any(|to| escapes.contains(&(*to as usize)));
        let some_hit = reached.iter().any(|to| !escapes.contains(&(*to as usize)));
        some_miss && some_hit
    };
    let mut found: Vec<PlaceId> =
        (0..count).filter(decides).map(|at| program.blocks[at].end_place).collect();
    found.sort_unstable();
    found.dedup();
    found
}
