//! `--profile`.

use std::str::FromStr;

use crate::check::{Profile, UnknownProfile};

/// What the limits check holds kernels against; nothing for `none`.
#[derive(Clone, Debug)]
pub(super) struct ProfileName(pub(super) Option<Profile>);

impl FromStr for ProfileName {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Profile::named(name).map(Self)
    }
}
