//! `soft`: a SPIR-V interpreter, present on every machine without a driver, that watches.
//!
//! A module is refused or lowered ([`program`]) to bytecode over columns, one register for all
//! invocations of a workgroup. The machine executes it workgroup by workgroup under a seeded
//! schedule; observers look at what it does and tell what no driver tells.

mod alu;
mod findings;
mod matrix;
mod memory;
mod observer;
mod program;
mod registers;
mod scalar;
mod watch;
