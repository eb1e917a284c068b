//! Buffers, as bytes.

/// A buffer of the device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// All buffers that were ever made; a freed one leaves an empty place, since its number is not
/// used again.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) buffers: Vec<Option<Buffer>>,
}

/// A binding: a part of a buffer that ends where its data ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// An index into [`Memory::buffers`].
    pub(crate) buffer: usize,
    pub(crate) start: u32,
    pub(crate) len: u32,
}
