//! Reports: what a run learned, for people.

mod summary;

pub use summary::Summary;
