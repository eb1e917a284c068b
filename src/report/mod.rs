//! Reports: what a run learned, for people.

mod catches;
mod summary;

pub use catches::Catches;
pub use summary::Summary;
