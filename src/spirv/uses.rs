//! What the code does with the variables it binds.

use std::collections::{HashMap, HashSet};

use rspirv::dr::Operand;
use rspirv::spirv::Op;

use super::module::Module;

/// Variables by the way they are used.
#[derive(Default)]
pub(super) struct Uses {
    /// `.length()` is asked of them.
    pub(super) length: HashSet<u32>,
    /// An atomic operation reaches them.
    pub(super) atomic: HashSet<u32>,
}

/// Follows every pointer back to its variable. GLSL can't pass a buffer to a function, so chains
/// within one function are all there is.
pub(super) fn uses(module: &Module) -> Uses {
    let mut roots: HashMap<u32, u32> = HashMap::new();
    let mut uses = Uses::default();
    for instruction in &module.instructions {
        let Some(Operand::IdRef(pointer)) = instruction.operands.first() else {
            continue;
        };
        // A pointer is defined above its use, so its own root is known by now.
        let root = roots.get(pointer).copied().unwrap_or(*pointer);
        match instruction.class.opcode {
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::CopyObject => {
                if let Some(id) = instruction.result_id {
                    roots.insert(id, root);
                }
            }
            Op::ArrayLength => {
                uses.length.insert(root);
            }
            opcode if is_atomic(opcode) => {
                uses.atomic.insert(root);
            }
            _ => {}
        }
    }
    uses
}

pub(crate) fn is_atomic(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::AtomicLoad
            | Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicCompareExchangeWeak
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT
            | Op::AtomicFlagTestAndSet
            | Op::AtomicFlagClear
    )
}
