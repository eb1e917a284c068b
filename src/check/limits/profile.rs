//! Profiles: what devices offer, from a table of them.

use std::fmt;
use std::mem::discriminant;
use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use crate::device::Limits;
use crate::ops::{Feature, Need, nearest, suggested};

const TABLE: &str = include_str!("devices.toml");

/// The profile that stands for no check at all.
const NONE: &str = "none";

/// A row as the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    covers: String,
    source: String,
    shared_bytes: u32,
    invocations: u32,
    depth: Option<u32>,
    workgroups_x: u32,
    push_bytes: u32,
    offset_alignment: u64,
    range_bytes: u64,
    subgroup_sizes: Option<[u32; 2]>,
    lacks: Vec<Feature>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    minimum: Row,
    device: Vec<Row>,
}

/// A device with everything that it offers.
#[derive(Debug, PartialEq, Eq)]
struct Offering {
    name: String,
    covers: String,
    source: String,
    needs: Vec<Need>,
}

impl From<Row> for Offering {
    fn from(row: Row) -> Self {
        let elsewhere = Limits::REQUIRED.workgroup_count[1];
        let mut needs = vec![
            Need::Invocations(row.invocations),
            Need::Depth(row.depth.unwrap_or(Limits::REQUIRED.workgroup_size[2])),
            Need::SharedBytes(row.shared_bytes),
            Need::PushBytes(row.push_bytes),
            Need::Workgroups([row.workgroups_x, elsewhere, elsewhere]),
            Need::RangeBytes(row.range_bytes),
            Need::OffsetAlignment(row.offset_alignment),
        ];
        if let Some([least, most]) = row.subgroup_sizes {
            let sizes = (0..u32::BITS).map(|bit| 1 << bit).filter(|s| (least..=most).contains(s));
            needs.push(Need::SubgroupSizes(sizes.sum()));
        }
        let has = Feature::ALL.into_iter().filter(|feature| !row.lacks.contains(feature));
        needs.extend(has.map(Need::Feature));
        Self { name: row.name, covers: row.covers, source: row.source, needs }
    }
}

impl Offering {
    fn offers(&self, need: Need) -> bool {
        self.needs.iter().any(|has| has.covers(need))
    }
}

struct Devices {
    minimum: Offering,
    devices: Vec<Offering>,
}

#[expect(clippy::expect_used, reason = "the table is part of the program, and a test reads it")]
static DEVICES: LazyLock<Devices> = LazyLock::new(|| {
    let rows: Rows = toml::from_str(TABLE).expect("the table of devices");
    Devices {
        minimum: rows.minimum.into(),
        devices: rows.device.into_iter().map(Offering::from).collect(),
    }
});

/// What a kernel is held against: the devices of the table that it should run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: &'static str,
    rows: Vec<&'static Offering>,
}

/// A name that is no profile.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no profile is called `{name}`{near}; there are {known}")]
pub struct UnknownProfile {
    name: String,
    near: String,
    known: String,
}

impl Profile {
    /// What every device of the table offers.
    #[must_use]
    pub fn common() -> Self {
        Self { name: "common", rows: DEVICES.devices.iter().collect() }
    }

    /// The profile of that name: `common`, `minimum` or a device; nothing for `none`.
    ///
    /// # Errors
    /// Any other name, with the nearest ones and all there are.
    pub fn named(name: &str) -> Result<Option<Self>, UnknownProfile> {
        let common = Self::common();
        if name == NONE {
            return Ok(None);
        }
        if name == common.name {
            return Ok(Some(common));
        }
        let single = std::iter::once(&DEVICES.minimum).chain(&DEVICES.devices);
        let found = single.clone().find(|row| row.name == name);
        if let Some(row) = found {
            return Ok(Some(Self { name: &row.name, rows: vec![row] }));
        }
        let known: Vec<&str> =
            [common.name, NONE].into_iter().chain(single.map(|row| row.name.as_str())).collect();
        let near = nearest(name, known.iter().map(|known| (*known).to_owned()));
        Err(UnknownProfile {
            name: name.to_owned(),
            near: suggested(&near),
            known: known.join(", "),
        })
    }

    /// The name on the command line.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its devices: what each table speaks for, and where that is known from.
    pub fn devices(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.rows.clone().into_iter().map(|row| (row.covers.as_str(), row.source.as_str()))
    }

    /// What is left of it without the devices that lack one of these.
    pub(super) fn offering(&self, needs: &[Need]) -> Self {
        let has_all = |row: &&Offering| needs.iter().all(|need| row.offers(*need));
        Self { name: self.name, rows: self.rows.iter().copied().filter(has_all).collect() }
    }

    /// Whether it has no device.
    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether all its devices offer that.
    #[must_use]
    pub fn offers(&self, need: Need) -> bool {
        self.rows.iter().all(|row| row.offers(need))
    }

    /// The limits that all its devices keep, for plans that depend on limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::REQUIRED;
        // Kinds that have no order, such as features, change nothing here.
        for need in self.rows[0].needs.iter().filter_map(|need| self.weakest(*need)) {
            match need {
                Need::Invocations(n) => {
                    limits.workgroup_invocations = n;
                    limits.workgroup_size = [n, n, limits.workgroup_size[2]];
                }
                Need::Depth(n) => limits.workgroup_size[2] = n,
                Need::SharedBytes(n) => limits.shared_bytes = n,
                Need::PushBytes(n) => limits.push_bytes = n,
                Need::Workgroups(counts) => limits.workgroup_count = counts,
                Need::RangeBytes(n) => limits.storage_range_bytes = n,
                Need::OffsetAlignment(n) => limits.storage_offset_alignment = n,
                Need::SubgroupSizes(_) | Need::Feature(_) => {}
            }
        }
        limits
    }

    /// The least that its devices offer of a need's kind; none where one of them offers nothing.
    fn weakest(&self, need: Need) -> Option<Need> {
        let of_kind = |row: &&Offering| {
            row.needs.iter().copied().find(|has| discriminant(has) == discriminant(&need))
        };
        let offered: Option<Vec<Need>> = self.rows.iter().map(of_kind).collect();
        offered?.into_iter().reduce(|least, has| if least.covers(has) { has } else { least })
    }

    /// What it says to a need that it doesn't meet, and whom that leaves behind. Devices that aren't
    /// in what is left of it were left behind before.
    pub(super) fn refusal(&self, need: Need, left: &Self) -> String {
        let name = self.name;
        let has = match (need, self.weakest(need)) {
            (Need::Feature(_), _) => format!("{name} lacks it"),
            (Need::SubgroupSizes(_), Some(has)) if self.rows.len() == 1 => {
                format!("{name} has {}", has.amount())
            }
            (Need::SubgroupSizes(_), _) => format!("{name} has none that all devices offer"),
            (Need::OffsetAlignment(_), Some(has)) => {
                format!("{name} aligns offsets to {}", has.amount())
            }
            (_, Some(has)) => format!("{name} has {}", has.amount()),
            (_, None) => format!("{name} offers none"),
        };
        let is_counted = |row: &&Offering| !self.rows.contains(row) || left.rows.contains(row);
        let behind = DEVICES.devices.iter().filter(|row| !row.offers(need)).filter(is_counted);
        let behind: Vec<&str> = behind.map(|row| row.name.as_str()).collect();
        match behind.as_slice() {
            [] => format!("{has}; no device of the table is left behind"),
            behind => format!("{has}; left behind: {}", behind.join(", ")),
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::common()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{DEVICES, Profile};
    use crate::ops::{Feature, Need};

    fn named(name: &str) -> Profile {
        Profile::named(name).expect(name).expect("a profile with devices")
    }

    #[test]
    fn common_is_exactly_what_every_device_of_the_table_offers() {
        let common = Profile::common();
        let edges = [
            (Need::Invocations(256), Need::Invocations(257)),
            (Need::Depth(64), Need::Depth(65)),
            (Need::SharedBytes(32 << 10), Need::SharedBytes((32 << 10) + 1)),
            (Need::PushBytes(128), Need::PushBytes(129)),
            (Need::Workgroups([65_535; 3]), Need::Workgroups([65_536, 1, 1])),
            (Need::RangeBytes(128 << 20), Need::RangeBytes((128 << 20) + 1)),
            (Need::OffsetAlignment(256), Need::OffsetAlignment(128)),
        ];
        for (offered, beyond) in edges {
            assert!(common.offers(offered), "{offered}");
            assert!(!common.offers(beyond), "{beyond}");
            let all = DEVICES.devices.iter().all(|row| row.offers(offered));
            let some = DEVICES.devices.iter().any(|row| !row.offers(beyond));
            assert!(all && some, "{offered}, {beyond}");
        }
        let shared: Vec<Feature> =
            Feature::ALL.into_iter().filter(|f| common.offers(Need::Feature(*f))).collect();
        assert_eq!(shared, [Feature::GroupNonUniformArithmetic]);
        let size = |bit: u32| Need::SubgroupSizes(1 << bit);
        assert!((0..8).all(|bit| !common.offers(size(bit))), "no size is offered by all");
        assert!(common.offers(Need::SubgroupSizes(4 | 8 | 16 | 32 | 64)));
    }

    #[test]
    fn limits_are_those_of_the_weakest() {
        let limits = Profile::common().limits();
        assert_eq!(limits.workgroup_invocations, 256);
        assert_eq!(limits.workgroup_size, [256, 256, 64]);
        assert_eq!(limits.workgroup_count, [65_535; 3]);
        assert_eq!((limits.shared_bytes, limits.push_bytes), (32_768, 128));
        let bindings = (limits.storage_range_bytes, limits.storage_offset_alignment);
        assert_eq!(bindings, (1 << 27, 256));
        let nvidia = named("rtx-2060").limits();
        assert_eq!(nvidia.workgroup_count, [(1 << 31) - 1, 65_535, 65_535]);
        assert_eq!(named("minimum").limits(), crate::device::Limits::REQUIRED);
    }

    #[test]
    fn every_table_says_whom_it_covers_and_where_that_is_from() {
        assert!(DEVICES.devices.len() >= 13);
        for row in DEVICES.devices.iter().chain([&DEVICES.minimum]) {
            assert!(!row.covers.is_empty() && !row.source.is_empty(), "{}", row.name);
            assert_eq!(named(&row.name).name(), row.name);
        }
        let mut names: Vec<&str> = DEVICES.devices.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DEVICES.devices.len(), "each name stands once");
    }

    #[test]
    fn a_refusal_names_who_is_left_behind() {
        let common = Profile::common();
        let refusal = |profile: &Profile, need: Need| profile.refusal(need, profile);
        let push = refusal(&common, Need::PushBytes(160));
        assert_eq!(push, "common has 128; left behind: rx-580, rx-6800-xt, swiftshader");
        let half = refusal(&common, Need::Feature(Feature::Float16));
        assert_eq!(half, "common lacks it; left behind: gtx-1060, rx-580, swiftshader");
        let least = refusal(&named("minimum"), Need::SharedBytes(20_000));
        assert_eq!(least, "minimum has 16384; no device of the table is left behind");
        let size = refusal(&named("swiftshader"), Need::SubgroupSizes(128));
        assert!(size.starts_with("swiftshader has 4; left behind: rtx-2060"), "{size}");
        let bytes = common.offering(&[Need::Feature(Feature::StorageBuffer8BitAccess)]);
        let push = common.refusal(Need::PushBytes(160), &bytes);
        assert_eq!(push, "common has 128; left behind: rx-580, rx-6800-xt");
    }

    #[test]
    fn unknown_profiles_are_told_the_nearest() {
        assert_eq!(Profile::named("none"), Ok(None));
        assert_eq!(Profile::named("common"), Ok(Some(Profile::default())));
        let error = Profile::named("rtx-3060").expect_err("no such table").to_string();
        assert!(error.contains("nearest: rtx-2060"), "{error}");
        assert!(error.contains("there are common, none, minimum, rtx-2060"), "{error}");
    }
}
