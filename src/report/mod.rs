//! Reports: what a run learned, for people and for programs.

mod catches;
mod costs;
mod explain;
mod finding;
mod gather;
mod github;
mod hazards;
mod hearing;
mod insta;
mod junit;
mod outputs;
mod snapshots;
mod snippet;
mod summary;
mod telling;
mod wrap;

pub use catches::Catches;
pub use costs::costs_text;
pub use explain::{Explanation, explanation, explanations};
pub use finding::{
    coloured_text, finding_json, finding_text, leak_json, leak_text, pass_json, pass_text,
    refusal_json, refusal_text,
};
pub use gather::{DeviceOutputs, gather};
pub use github::Annotations;
pub use hearing::{Hearing, Stale};
pub use junit::Junit;
pub use outputs::{Change, Class, Fingerprint, Key, Outputs};
pub use snapshots::{Compared, SnapshotError, compare};
pub use snippet::Colour;
pub use summary::Summary;
pub use telling::{Refused, Style, TellError, Telling, Told};
pub use wrap::{WIDTH, wrapped};
