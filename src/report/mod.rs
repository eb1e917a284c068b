//! Reports: what a run learned, for people and for programs.

mod catches;
mod explain;
mod finding;
mod github;
mod hearing;
mod junit;
mod summary;
mod telling;
mod wrap;

pub use catches::Catches;
pub use explain::{EXPLANATIONS, Explanation, explanation};
pub use finding::{finding_json, finding_text, leak_json, leak_text, pass_json, pass_text};
pub use github::Annotations;
pub use hearing::{Hearing, Stale};
pub use junit::Junit;
pub use summary::Summary;
pub use telling::{Style, TellError, Telling, Told};
pub use wrap::{WIDTH, wrapped};
