//! Constants and specialization constants, evaluated once with the kernels that columns use.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op};

use crate::device::SpecValue;
use crate::soft::alu;
use crate::soft::program::{Kernel, What, Wide};
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::{Module, id, malformed, number, result, result_type};

use super::types::Types;

/// Values by id: the words of all components in order.
#[derive(Debug, Default)]
pub(super) struct Constants {
    values: HashMap<u32, Vec<u32>>,
}

impl Constants {
    pub(super) fn get(&self, id: u32) -> Option<&[u32]> {
        self.values.get(&id).map(Vec::as_slice)
    }

    /// The value of a constant of one word.
    pub(super) fn word(&self, id: u32) -> Result<u32, SpirvError> {
        match self.get(id) {
            Some([word]) => Ok(*word),
            // A count of 64 bits is a count.
            Some([low, 0]) => Ok(*low),
            _ => Err(SpirvError::malformed(format!("id {id} is no constant of one word"))),
        }
    }

    /// Learns a constant. What it can't evaluate it describes.
    pub(super) fn define(
        &mut self,
        module: &Module,
        types: &Types,
        instruction: &Instruction,
        spec: &[SpecValue],
    ) -> Result<Option<String>, SpirvError> {
        let own = result(instruction)?;
        let ty = result_type(instruction)?;
        let given = || {
            let spec_id = module.decoration(own, Decoration::SpecId)?;
            spec.iter().find(|value| value.id == spec_id).map(|value| value.bits)
        };
        let words = match instruction.class.opcode {
            Op::ConstantTrue => vec![1],
            Op::ConstantFalse => vec![0],
            Op::SpecConstantTrue => vec![given().map_or(1, |bits| u32::from(bits != 0))],
            Op::SpecConstantFalse => vec![given().map_or(0, |bits| u32::from(bits != 0))],
            Op::Constant => literal(instruction, types.scalar(ty)?)?,
            Op::SpecConstant => {
                let scalar = types.scalar(ty)?;
                let mut words = literal(instruction, scalar)?;
                if let Some(bits) = given() {
                    if scalar == Scalar::F64 {
                        return Ok(Some("32 bits for a 64-bit float".to_owned()));
                    }
                    words[0] = narrowed(bits, scalar);
                    // A value has 32 bits; a wider constant gets its sign or zeros from them.
                    let is_signed = number(module.definition(ty)?, 1).is_ok_and(|sign| sign == 1);
                    let high = if is_signed && bits >> 31 == 1 { u32::MAX } else { 0 };
                    words.iter_mut().skip(1).for_each(|word| *word = high);
                }
                words
            }
            Op::ConstantNull | Op::Undef => {
                let flat = types.flat(ty)?;
                vec![0; flat.iter().map(|scalar| scalar.words() as usize).sum()]
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut words = Vec::new();
                let wanted = types.words(ty)? as usize;
                for index in 0..instruction.operands.len() {
                    let part = self.part(id(instruction, index)?)?;
                    if words.len() + part.len() > wanted {
                        break;
                    }
                    words.extend_from_slice(part);
                }
                // A cooperative matrix is one value, repeated.
                if instruction.operands.len() == 1 && !words.is_empty() {
                    words = words.iter().copied().cycle().take(wanted).collect();
                }
                if words.len() != wanted {
                    return Err(SpirvError::malformed("a composite of the wrong size"));
                }
                words
            }
            Op::SpecConstantOp => match self.evaluate(module, types, instruction)? {
                Ok(words) => words,
                Err(what) => return Ok(Some(what)),
            },
            other => return Ok(Some(format!("{other:?}"))),
        };
        self.values.insert(own, words);
        Ok(None)
    }

    fn part(&self, id: u32) -> Result<&[u32], SpirvError> {
        let value = self.get(id);
        value.ok_or_else(|| SpirvError::malformed(format!("id {id} is no constant")))
    }

    fn evaluate(
        &self,
        module: &Module,
        types: &Types,
        instruction: &Instruction,
    ) -> Result<Result<Vec<u32>, String>, SpirvError> {
        let Some(Operand::LiteralSpecConstantOpInteger(op)) = instruction.operands.first() else {
            return Err(malformed(instruction, 0));
        };
        let ty = result_type(instruction)?;
        let type_of = |index| result_type(module.definition(id(instruction, index)?)?);
        let part = |index| self.part(id(instruction, index)?);
        let flat = types.flat(ty)?;
        Ok(Ok(match op {
            Op::CompositeExtract => {
                let (mut at, mut of) = (0_usize, type_of(1)?);
                for index in 2..instruction.operands.len() {
                    let (skipped, inner) = types.member(of, number(instruction, index)?)?;
                    at += skipped as usize;
                    of = inner;
                }
                let len = types.words(of)? as usize;
                let words = part(1)?.get(at..at + len);
                words.ok_or_else(|| malformed(instruction, 2))?.to_vec()
            }
            Op::CompositeInsert => {
                let (mut at, mut of) = (0_usize, type_of(2)?);
                for index in 3..instruction.operands.len() {
                    let (skipped, inner) = types.member(of, number(instruction, index)?)?;
                    at += skipped as usize;
                    of = inner;
                }
                let (object, mut words) = (part(1)?, part(2)?.to_vec());
                let target = words.get_mut(at..at + object.len());
                target.ok_or_else(|| malformed(instruction, 3))?.copy_from_slice(object);
                words
            }
            Op::VectorShuffle => {
                let (first, second) = (part(1)?, part(2)?);
                let size = flat.first().map_or(1, |scalar| scalar.words() as usize);
                let mut words = Vec::new();
                for index in 3..instruction.operands.len() {
                    let from = number(instruction, index)?;
                    if from == u32::MAX {
                        // Nobody asks for this component.
                        words.resize(words.len() + size, 0);
                        continue;
                    }
                    let from = from as usize * size;
                    let all = first.iter().chain(second).copied();
                    words.extend(all.skip(from).take(size));
                }
                words.resize(flat.len() * size, 0);
                words
            }
            Op::Bitcast if types.words(type_of(1)?)? == types.words(ty)? => part(1)?.to_vec(),
            _ => {
                let arity = instruction.operands.len() - 1;
                let from_at = if *op == Op::Select { 2 } else { 1 };
                let from = types.flat(type_of(from_at)?)?;
                let Some(from) = from.first().copied() else {
                    return Err(malformed(instruction, 1));
                };
                let mut words = Vec::new();
                for (component, to) in flat.iter().enumerate() {
                    let what = What::Core(*op);
                    let Some(kernel) = alu::resolve(what, from, *to) else {
                        return Ok(Err(format!("constant {op:?}")));
                    };
                    let mut sources = [[0; 2]; 4];
                    if arity > sources.len() {
                        return Ok(Err(format!("constant {op:?}")));
                    }
                    for (index, source) in sources.iter_mut().enumerate().take(arity) {
                        let scalar = types.flat(type_of(index + 1)?)?;
                        let all = part(index + 1)?;
                        let size = scalar.first().map_or(1, |scalar| scalar.words() as usize);
                        // One condition may choose whole vectors.
                        let at = if scalar.len() == 1 { 0 } else { component * size };
                        let value = all.get(at..at + size);
                        let value = value.ok_or_else(|| malformed(instruction, index + 1))?;
                        source[..size].copy_from_slice(value);
                    }
                    words.extend_from_slice(&once(kernel, &sources)[..to.words() as usize]);
                }
                words
            }
        }))
    }
}

/// One component, computed alone.
fn once(kernel: Kernel, src: &[[u32; 2]; 4]) -> [u32; 2] {
    let mut out = [0; 2];
    let [low, high] = &mut out;
    let (low, high) = (std::slice::from_mut(low), std::slice::from_mut(high));
    let word = |at: usize| std::slice::from_ref(&src[at][0]);
    match kernel {
        Kernel::One(f) => f(low, word(0)),
        Kernel::Two(f) => f(low, word(0), word(1)),
        Kernel::Three(f) => f(low, word(0), word(1), word(2)),
        Kernel::Four(f) => f(low, [word(0), word(1), word(2), word(3)]),
        Kernel::Wide(f) => f(Wide {
            out: [low, high],
            src: [0, 1, 2, 3].map(|at| [word(at), std::slice::from_ref(&src[at][1])]),
        }),
    }
    out
}

fn literal(instruction: &Instruction, scalar: Scalar) -> Result<Vec<u32>, SpirvError> {
    let (low, high) = match instruction.operands.first() {
        Some(Operand::LiteralBit32(value)) => (*value, 0),
        Some(Operand::LiteralBit64(value)) => (
            u32::try_from(value & 0xffff_ffff).unwrap_or(0),
            u32::try_from(value >> 32).unwrap_or(0),
        ),
        _ => return Err(malformed(instruction, 0)),
    };
    Ok(match scalar.words() {
        1 => vec![narrowed(low, scalar)],
        _ => vec![low, high],
    })
}

/// Literals of narrow signed integers are extended; registers have zeros above.
fn narrowed(word: u32, scalar: Scalar) -> u32 {
    match scalar.bytes() {
        1 => word & 0xff,
        2 => word & 0xffff,
        _ => word,
    }
}
