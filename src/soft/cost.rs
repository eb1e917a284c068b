//! Lane-instructions by source line.

use std::collections::BTreeMap;

use crate::device::LineCost;

use super::findings::{Party, describe};
use super::program::{PlaceId, Program};

/// What lines cost so far, by file and line.
#[derive(Debug, Default)]
pub(crate) struct Costs(BTreeMap<(String, u32), (u64, String)>);

impl Costs {
    /// Adds a dispatch, from the invocations that executed each block.
    pub(crate) fn add(&mut self, program: &Program, lanes: &[u64]) {
        let mut by_place: BTreeMap<PlaceId, u64> = BTreeMap::new();
        for (block, lanes) in program.blocks.iter().zip(lanes) {
            let places = block.instrs.iter().map(|instr| instr.at).chain([block.end_place]);
            places.for_each(|at| *by_place.entry(at).or_default() += lanes);
        }
        for (at, count) in by_place.into_iter().filter(|(_, count)| *count > 0) {
            let act = describe(program, Party { what: "", at, invocation: None });
            let file = if act.line == 0 { String::new() } else { act.file };
            let (total, text) = self.0.entry((file, act.line)).or_default();
            *total += count;
            *text = act.text;
        }
    }

    /// All of them, by file and line.
    pub(crate) fn take(&mut self) -> Vec<LineCost> {
        let all = std::mem::take(&mut self.0).into_iter();
        let cost = |((file, line), (lane_instructions, text))| LineCost {
            file,
            line,
            lane_instructions,
            text,
        };
        all.map(cost).collect()
    }
}
