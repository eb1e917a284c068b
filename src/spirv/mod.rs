//! What a SPIR-V module says about itself.
//!
//! [`reflect`] reads a kernel's interface from its debug module: bindings, push constants,
//! specialization constants, workgroup size, shared memory. Bindings are listed nowhere else in
//! the lab, so this is what records and kernel files are held against. [`touched`] names the source
//! lines that read and write them. The words may come from
//! anywhere: malformed ones are an error, never a panic.

mod bindings;
mod constants;
mod disassemble;
mod error;
mod interface;
pub(crate) mod module;
mod reflect;
mod show;
mod stores;
mod types;
pub(crate) mod uses;

pub use disassemble::disassemble;
pub use error::SpirvError;
pub use interface::{
    Access, Binding, BindingKind, ElementType, Interface, LocalSize, PushMember, SharedVariable,
    SpecConstant,
};
pub use reflect::{reflect, reflect_with};
pub use stores::{Touch, Touched, touched};

#[cfg(test)]
mod tests;
