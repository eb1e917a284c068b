//! The rules, each both ways, over accesses made by hand.

mod across;
mod rig;
mod speed;
mod within;
