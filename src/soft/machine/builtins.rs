//! What an invocation knows of itself.

use rspirv::spirv::BuiltIn;

use crate::soft::observer::Here;
use crate::soft::program::Program;
use crate::soft::registers::Registers;

use super::Request;

/// Fills the registers of builtins.
pub(super) fn fill(
    registers: &mut Registers,
    program: &Program,
    request: &Request<'_>,
    here: &Here,
) {
    let [x, y, _] = program.local_size;
    let size = request.subgroup_size.max(1);
    let width = u32::try_from(here.width).unwrap_or(u32::MAX);
    for (builtin, slots) in &program.builtins {
        for (axis, slot) in slots.iter().enumerate() {
            let local = |lane: u32| match axis {
                0 => lane % x,
                1 => lane / x % y,
                _ => lane / (x * y),
            };
            let of_three = |values: &[u32; 3]| values.get(axis).copied().unwrap_or(0);
            let bits = |lane: u32| mask(*builtin, lane % size, size, axis);
            let value = |lane: u32| match builtin {
                BuiltIn::NumWorkgroups => of_three(&request.groups),
                BuiltIn::WorkgroupSize => of_three(&program.local_size),
                BuiltIn::LocalInvocationId => local(lane),
                BuiltIn::LocalInvocationIndex => lane,
                BuiltIn::SubgroupSize => size,
                BuiltIn::NumSubgroups => width.div_ceil(size),
                BuiltIn::SubgroupId => lane / size,
                BuiltIn::SubgroupLocalInvocationId => lane % size,
                BuiltIn::SubgroupEqMask
                | BuiltIn::SubgroupGeMask
                | BuiltIn::SubgroupGtMask
                | BuiltIn::SubgroupLeMask
                | BuiltIn::SubgroupLtMask => bits(lane),
                // The only device; [`move_to`] fills the others.
                _ => 0,
            };
            for (lane, word) in (0..).zip(registers.get_mut(*slot)) {
                *word = value(lane);
            }
        }
    }
}

/// Fills the registers that tell workgroups apart.
pub(super) fn move_to(registers: &mut Registers, program: &Program, here: &Here) {
    let [x, y, _] = program.local_size;
    for (builtin, slots) in &program.builtins {
        for (axis, slot) in slots.iter().enumerate() {
            let of_three = |values: &[u32; 3]| values.get(axis).copied().unwrap_or(0);
            let column = registers.get_mut(*slot);
            match builtin {
                BuiltIn::WorkgroupId => column.fill(of_three(&here.workgroup)),
                BuiltIn::GlobalInvocationId => {
                    let size = of_three(&program.local_size);
                    let base = of_three(&here.workgroup).wrapping_mul(size);
                    // The axis goes up by one each time as many invocations have passed.
                    let stride = match axis {
                        0 => 1,
                        1 => x,
                        _ => x * y,
                    };
                    let mut at = 0;
                    for run in column.chunks_mut(stride as usize) {
                        run.fill(base.wrapping_add(at));
                        at = if at + 1 == size { 0 } else { at + 1 };
                    }
                }
                _ => {}
            }
        }
    }
}

/// One word of a mask of invocations of the subgroup.
fn mask(builtin: BuiltIn, own: u32, size: u32, word: usize) -> u32 {
    let all = if size >= 128 { u128::MAX } else { (1_u128 << size) - 1 };
    let below = (1_u128 << own) - 1;
    let equal = 1_u128 << own;
    let bits = match builtin {
        BuiltIn::SubgroupEqMask => equal,
        BuiltIn::SubgroupGeMask => all & !below,
        BuiltIn::SubgroupGtMask => all & !below & !equal,
        BuiltIn::SubgroupLeMask => below | equal,
        _ => below,
    };
    u32::try_from(bits >> (32 * word.min(3)) & 0xffff_ffff).unwrap_or(0)
}
