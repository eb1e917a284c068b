//! The last look at a program before it may run: every register and block that it names is there,
//! and nothing is too large to be tried.
//!
//! Lowering takes the types of operands from their definitions. A module that no validator has seen
//! may use a value of one type as another; here that becomes an error.

use crate::soft::matrix::Matrix;
use crate::soft::program::{
    Access, Atomic, BlockId, Code, End, Group, Kernel, Program, Pure, Region, Slot, What,
};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;

use super::arity::arity;

/// Registers of one workgroup and what keeps account of its invocations.
const LIMIT_BYTES: u64 = 1 << 30;

/// Multiplications of one instruction on cooperative matrices.
const LIMIT_PRODUCTS: u64 = 1 << 24;

/// What keeps a workgroup from being held in memory, if anything does.
pub(super) fn too_large(program: &Program, subgroup_size: u32) -> Option<String> {
    let lanes: u64 = program.local_size.iter().map(|n| u64::from(*n)).product();
    let columns = u64::from(program.slot_count) * lanes * 4;
    let parts = lanes.div_ceil(u64::from(subgroup_size.max(1)));
    let blocks = u64::try_from(program.blocks.len()).unwrap_or(u64::MAX);
    let bytes = columns.saturating_add(parts.saturating_mul(blocks).saturating_mul(16));
    (bytes > LIMIT_BYTES).then(|| {
        let (slots, mib) = (program.slot_count, bytes >> 20);
        format!("{slots} registers for {lanes} invocations take {mib} MiB, at most 1,024 MiB")
    })
}

/// Refuses a program that names what isn't there.
pub(super) fn verify(program: &Program) -> Result<(), SpirvError> {
    let check = Check { program };
    for block in &program.blocks {
        for instr in &block.instrs {
            check.code(&instr.code)?;
        }
        check.end(&block.end)?;
    }
    Ok(())
}

struct Check<'a> {
    program: &'a Program,
}

impl Check<'_> {
    fn there(&self, slot: Slot, words: u32) -> Result<(), SpirvError> {
        match slot.checked_add(words) {
            Some(end) if end <= self.program.slot_count => Ok(()),
            _ => Err(SpirvError::malformed("a value that is used as one of a larger type")),
        }
    }

    /// A result may not lie in its operands: that comes of an operand that is taken for a wider
    /// one.
    fn apart(&self, dst: (Slot, u32), src: &[(Slot, u32)]) -> Result<(), SpirvError> {
        self.there(dst.0, dst.1)?;
        for (slot, words) in src {
            self.there(*slot, *words)?;
            if *slot < dst.0 + dst.1 && dst.0 < slot + words {
                return Err(SpirvError::malformed("a value that is used as one of a larger type"));
            }
        }
        Ok(())
    }

    fn code(&self, code: &Code) -> Result<(), SpirvError> {
        match code {
            Code::Pure(pure) => self.pure(pure),
            Code::Copy { dst, src, .. } => self.there(*dst, 1).and(self.there(*src, 1)),
            Code::Undefine { dst } | Code::Length { dst, .. } => {
                if matches!(code, Code::Length { stride: 0, .. }) {
                    return Err(SpirvError::malformed("the length of what is no runtime array"));
                }
                self.there(*dst, 1)
            }
            Code::Index(index) => {
                let words = if index.wide { 2 } else { 1 };
                let mut src = vec![(index.index, words)];
                src.extend(index.before.map(|before| (before, 1)));
                self.apart((index.dst, 1), &src)
            }
            Code::LoadIndexed { dst, base, offset } => {
                self.apart((*dst, 1), &[(*base, 1), (*offset, 1)])
            }
            Code::StoreIndexed { base, offset, src } => {
                self.there(*base, 1)?;
                self.apart((*base, 1), &[(*offset, 1), (*src, 1)])
            }
            Code::Load(access) => {
                let src: Vec<(Slot, u32)> = address(access).into_iter().collect();
                self.apart((access.value, access.scalar.words()), &src)
            }
            Code::Store(access) => self.operands(access),
            Code::Atomic(atomic) => self.atomic(atomic),
            Code::Group(group) => self.group(group),
            Code::Barrier { .. } | Code::Fence { .. } => Ok(()),
            Code::Matrix(matrix) => self.matrix(matrix),
        }
    }

    fn pure(&self, pure: &Pure) -> Result<(), SpirvError> {
        let needed = match (pure.kernel, pure.what) {
            (Kernel::One(_), _) => 1,
            (Kernel::Two(_), _) => 2,
            (Kernel::Three(_), _) => 3,
            (Kernel::Four(_), _) => 4,
            (Kernel::Wide(_), What::Extended(op) | What::SecondExtended(op)) => arity(op),
            // The parser counts the operands of core instructions.
            (Kernel::Wide(_), _) => pure.arity,
        };
        if pure.arity < needed {
            return Err(SpirvError::malformed(format!("{:?} without an operand", pure.what)));
        }
        let is_wide = matches!(pure.kernel, Kernel::Wide(_));
        let words = |at: usize| if is_wide { pure.operand_words(at) } else { 1 };
        let given = pure.src.iter().copied().enumerate().take(usize::from(pure.arity));
        let src: Vec<(Slot, u32)> = given.map(|(at, slot)| (slot, words(at))).collect();
        self.apart((pure.dst, pure.to.words()), &src)
    }

    /// The value and the address of an access that writes.
    fn operands(&self, access: &Access) -> Result<(), SpirvError> {
        self.there(access.value, access.scalar.words())?;
        address(access).map_or(Ok(()), |(slot, words)| self.there(slot, words))
    }

    fn atomic(&self, atomic: &Atomic) -> Result<(), SpirvError> {
        let words = atomic.access.scalar.words();
        self.operands(&atomic.access)?;
        atomic.compare.map_or(Ok(()), |slot| self.there(slot, words))?;
        atomic.dst.map_or(Ok(()), |slot| self.there(slot, words))
    }

    fn group(&self, group: &Group) -> Result<(), SpirvError> {
        let words = group.scalar.words();
        self.there(group.dst[0], words)?;
        for slot in group.dst.iter().chain(&group.src) {
            self.there(*slot, 1)?;
        }
        // Registers that aren't used are 0.
        let value = if words == 2 { [(group.src[0], 2)].to_vec() } else { Vec::new() };
        self.apart((group.dst[0], 1), &value)
    }

    fn matrix(&self, matrix: &Matrix) -> Result<(), SpirvError> {
        let [m, n, k] = [matrix.m, matrix.n, matrix.k].map(u64::from);
        let products = m.checked_mul(n).and_then(|area| area.checked_mul(k));
        if products.is_none_or(|products| products > LIMIT_PRODUCTS) {
            return Err(SpirvError::unsupported("cooperative matrices of more than 2^24 products"));
        }
        let all = |slots: &[Slot], scalar: Scalar| {
            slots.iter().try_for_each(|slot| self.there(*slot, scalar.words()))
        };
        all(&matrix.dst, matrix.to)?;
        [&matrix.a, &matrix.b, &matrix.c].iter().try_for_each(|(scalar, slots)| all(slots, *scalar))
    }

    fn end(&self, end: &End) -> Result<(), SpirvError> {
        let block = |to: &BlockId| match self.program.blocks.get(*to as usize) {
            Some(_) => Ok(()),
            None => Err(SpirvError::malformed("a branch to no block")),
        };
        match end {
            End::Jump(to) => block(to),
            End::Branch { condition, yes, no } => {
                self.there(*condition, 1).and(block(yes)).and(block(no))
            }
            End::Switch { selector, wide, cases, default } => {
                self.there(*selector, if *wide { 2 } else { 1 })?;
                cases.iter().try_for_each(|(_, to)| block(to)).and(block(default))
            }
            End::Return | End::Unreachable => Ok(()),
        }
    }
}

/// The register of an access's offset.
fn address(access: &Access) -> Option<(Slot, u32)> {
    let words = if access.region == Region::Physical { 2 } else { 1 };
    access.offset.map(|slot| (slot, words))
}
