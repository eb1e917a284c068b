//! Tangents through subgroup operations.

use rspirv::spirv::Op;

use crate::soft::groups;
use crate::soft::observer::Moment;
use crate::soft::program::{Group, GroupKind, Slot};
use crate::soft::registers::Registers;
use crate::soft::scalar::Scalar;

use super::dual::{Tangent, Tie};
use super::numbers::number;
use super::observer::Tangents;

/// Operations that take one invocation's value as it is.
fn moves_values(op: Op) -> bool {
    matches!(
        op,
        Op::GroupNonUniformBroadcast
            | Op::GroupNonUniformBroadcastFirst
            | Op::GroupNonUniformShuffle
            | Op::GroupNonUniformShuffleXor
            | Op::GroupNonUniformShuffleUp
            | Op::GroupNonUniformShuffleDown
            | Op::GroupNonUniformRotateKHR
            | Op::GroupNonUniformQuadBroadcast
            | Op::GroupNonUniformQuadSwap
            | Op::SubgroupReadInvocationKHR
            | Op::SubgroupFirstInvocationKHR
    )
}

fn folds(op: Op) -> bool {
    matches!(
        op,
        Op::GroupNonUniformFAdd
            | Op::GroupNonUniformFMul
            | Op::GroupNonUniformFMin
            | Op::GroupNonUniformFMax
    )
}

impl Tangents {
    pub(super) fn grouped(&mut self, moment: &Moment<'_>, group: &Group) {
        let words = group.scalar.words();
        let registers = self.registers(&moment.here);
        let value = group.src[0];
        let moves = (0..words).any(|word| {
            let is_moving = |lane: usize| !registers.get(value + word, lane).is_zero();
            registers.has(value + word) && moment.active.iter().any(is_moving)
        });
        let columns: Vec<_> = (0..words).map(|word| registers.column(value + word)).collect();
        for word in 0..words {
            registers.clear(group.dst[0] + word, moment.active);
        }
        if !moves {
            return;
        }
        if moves_values(group.op) {
            let from = sources(moment, group);
            for (dst, column) in (group.dst[0]..).zip(columns) {
                self.registers(&moment.here).set(dst, moment.active, |_, lane| {
                    from[lane].map_or_else(Tangent::default, |from| column[from])
                });
            }
        } else if folds(group.op) {
            let found = self.folded(moment, group, &columns[0]);
            let registers = self.registers(&moment.here);
            registers.set(group.dst[0], moment.active, |_, lane| found[lane]);
        } else {
            self.dual.lose(moment, &format!("{:?} of a float's bits", group.op));
        }
    }

    /// Sums, products and extreme values of a subgroup, in the order of its invocations.
    fn folded(&self, moment: &Moment<'_>, group: &Group, tangents: &[Tangent]) -> Vec<Tangent> {
        let mut found = vec![Tangent::default(); tangents.len()];
        let size = match group.kind {
            GroupKind::Clustered(size) => (size as usize).clamp(1, moment.here.subgroup_size),
            _ => moment.here.subgroup_size,
        };
        let lanes: Vec<usize> = moment.active.iter().collect();
        for part in lanes.chunk_by(|a, b| a / size == b / size) {
            let mut sum: Option<(f64, Tangent)> = None;
            for lane in part {
                let before = sum.map_or_else(Tangent::default, |(_, tangent)| tangent);
                let value = number(moment.registers, group.src[0], group.scalar, *lane);
                let own = (value, tangents[*lane]);
                let after = sum.map_or(own, |sum| self.joined(moment, group.op, sum, own));
                found[*lane] =
                    if group.kind == GroupKind::ExclusiveScan { before } else { after.1 };
                sum = Some(after);
            }
            let is_scan = matches!(group.kind, GroupKind::InclusiveScan | GroupKind::ExclusiveScan);
            if let (false, Some((_, total))) = (is_scan, sum) {
                part.iter().for_each(|lane| found[*lane] = total);
            }
        }
        found
    }

    fn joined(
        &self,
        moment: &Moment<'_>,
        op: Op,
        (a, da): (f64, Tangent),
        (b, db): (f64, Tangent),
    ) -> (f64, Tangent) {
        let second = match op {
            Op::GroupNonUniformFAdd => return (a + b, da + db),
            Op::GroupNonUniformFMul => return (a * b, da * b + db * a),
            _ if a == b && da.value != db.value => {
                self.dual.kink(moment, "an extreme value of equal numbers");
                self.dual.tie() == Tie::Second
            }
            Op::GroupNonUniformFMin => b < a || a.is_nan(),
            _ => b > a || a.is_nan(),
        };
        if second { (b, db) } else { (a, da) }
    }
}

/// From which invocation each gets its value, found by moving numbers of invocations instead.
fn sources(moment: &Moment<'_>, group: &Group) -> Vec<Option<usize>> {
    const IDS: Slot = 0;
    const OPERAND: Slot = 1;
    const FOUND: Slot = 2;
    let operand = moment.registers.get(group.src[1]);
    let mut registers = Registers::new(3, operand.len());
    // 0 is what an invocation reads that isn't there.
    for (id, place) in (1..).zip(registers.get_mut(IDS)) {
        *place = id;
    }
    registers.get_mut(OPERAND).copy_from_slice(operand);
    let moved =
        Group { scalar: Scalar::I32, dst: [FOUND; 4], src: [IDS, OPERAND, 0, 0, 0], ..*group };
    let size = moment.here.subgroup_size;
    groups::run(&moved, &mut registers, moment.active, size, &mut |_, _| {});
    let found = registers.get(FOUND).iter();
    found.map(|id| (*id as usize).checked_sub(1)).collect()
}
