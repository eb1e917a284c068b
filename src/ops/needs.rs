//! What a kernel needs of a device, and what a device offers: one vocabulary for both.

use std::fmt;

use serde::Deserialize;

/// A feature, by the SPIR-V capability that asks for it.
#[expect(missing_docs, reason = "the names are the specification's")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Feature {
    Float16,
    Float64,
    Int8,
    Int16,
    Int64,
    StorageBuffer8BitAccess,
    StorageBuffer16BitAccess,
    #[serde(rename = "AtomicFloat32AddEXT")]
    AtomicFloat32Add,
    #[serde(rename = "CooperativeMatrixKHR")]
    CooperativeMatrix,
    /// It stands for votes, ballots and shuffles as well.
    GroupNonUniformArithmetic,
}

impl Feature {
    /// Every feature that some device is known to lack.
    pub const ALL: [Self; 10] = [
        Self::Float16,
        Self::Float64,
        Self::Int8,
        Self::Int16,
        Self::Int64,
        Self::StorageBuffer8BitAccess,
        Self::StorageBuffer16BitAccess,
        Self::AtomicFloat32Add,
        Self::CooperativeMatrix,
        Self::GroupNonUniformArithmetic,
    ];

    /// The name of the capability.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float16 => "Float16",
            Self::Float64 => "Float64",
            Self::Int8 => "Int8",
            Self::Int16 => "Int16",
            Self::Int64 => "Int64",
            Self::StorageBuffer8BitAccess => "StorageBuffer8BitAccess",
            Self::StorageBuffer16BitAccess => "StorageBuffer16BitAccess",
            Self::AtomicFloat32Add => "AtomicFloat32AddEXT",
            Self::CooperativeMatrix => "CooperativeMatrixKHR",
            Self::GroupNonUniformArithmetic => "GroupNonUniformArithmetic",
        }
    }

    /// The feature that a capability of a module asks for; none where no device is known to lack it.
    #[must_use]
    pub fn of_capability(capability: &str) -> Option<Self> {
        let name = match capability {
            "UniformAndStorageBuffer8BitAccess" => "StorageBuffer8BitAccess",
            "UniformAndStorageBuffer16BitAccess" => "StorageBuffer16BitAccess",
            "GroupNonUniformVote"
            | "GroupNonUniformBallot"
            | "GroupNonUniformShuffle"
            | "GroupNonUniformShuffleRelative" => "GroupNonUniformArithmetic",
            other => other,
        };
        Self::ALL.into_iter().find(|feature| feature.name() == name)
    }
}

/// One thing that a kernel, its dispatch or its bindings need, or that a device offers at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Invocations of a workgroup.
    Invocations(u32),
    /// Invocations of a workgroup along z.
    Depth(u32),
    /// Shared memory of a workgroup.
    SharedBytes(u32),
    /// The push constant block.
    PushBytes(u32),
    /// Workgroups of a dispatch along x, y and z.
    Workgroups([u32; 3]),
    /// One storage buffer binding.
    RangeBytes(u64),
    /// Bindings that start at multiples of this, a power of two.
    OffsetAlignment(u64),
    /// Subgroup sizes, one of which is enough. Each is a power of two and so a bit of its own.
    SubgroupSizes(u32),
    /// A feature.
    Feature(Feature),
}

impl Need {
    /// Whether who has this has the other too. Needs of two kinds never cover one another.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        match (self, other) {
            (Self::Invocations(has), Self::Invocations(wants))
            | (Self::Depth(has), Self::Depth(wants))
            | (Self::SharedBytes(has), Self::SharedBytes(wants))
            | (Self::PushBytes(has), Self::PushBytes(wants)) => wants <= has,
            (Self::Workgroups(has), Self::Workgroups(wants)) => {
                wants.iter().zip(has).all(|(wants, has)| *wants <= has)
            }
            (Self::RangeBytes(has), Self::RangeBytes(wants)) => wants <= has,
            // The finer alignment takes the coarser one's offsets.
            (Self::OffsetAlignment(has), Self::OffsetAlignment(wants)) => has <= wants,
            (Self::SubgroupSizes(has), Self::SubgroupSizes(wants)) => has & wants != 0,
            (Self::Feature(has), Self::Feature(wants)) => has == wants,
            _ => false,
        }
    }

    /// The number alone, or the feature's name.
    #[must_use]
    pub fn amount(self) -> String {
        match self {
            Self::Invocations(n) | Self::Depth(n) | Self::SharedBytes(n) | Self::PushBytes(n) => {
                n.to_string()
            }
            Self::Workgroups([x, y, z]) => format!("{x} x {y} x {z}"),
            Self::RangeBytes(n) | Self::OffsetAlignment(n) => n.to_string(),
            Self::SubgroupSizes(sizes) => {
                let sizes = (0..u32::BITS).map(|bit| sizes & (1 << bit)).filter(|size| *size != 0);
                sizes.map(|size| size.to_string()).collect::<Vec<_>>().join(" or ")
            }
            Self::Feature(feature) => feature.name().to_owned(),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.amount();
        match self {
            Self::Invocations(_) => write!(f, "a workgroup of {amount} invocations"),
            Self::Depth(_) => write!(f, "a workgroup of {amount} invocations along z"),
            Self::SharedBytes(_) => write!(f, "{amount} bytes of shared memory"),
            Self::PushBytes(_) => write!(f, "{amount} bytes of push constants"),
            Self::Workgroups(_) => write!(f, "a dispatch of {amount} workgroups"),
            Self::RangeBytes(_) => write!(f, "a binding of {amount} bytes"),
            Self::OffsetAlignment(_) => {
                write!(f, "a binding that starts at a multiple of {amount} bytes")
            }
            Self::SubgroupSizes(_) => write!(f, "a subgroup size of {amount}"),
            Self::Feature(_) => write!(f, "the feature {amount}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Feature, Need};

    #[test]
    fn more_covers_less_and_no_kind_covers_another() {
        let pairs = [
            (Need::Invocations(256), Need::Invocations(64)),
            (Need::Depth(64), Need::Depth(8)),
            (Need::SharedBytes(32_768), Need::SharedBytes(32_764)),
            (Need::PushBytes(256), Need::PushBytes(128)),
            (Need::Workgroups([70_000, 9, 9]), Need::Workgroups([65_535, 9, 1])),
            (Need::RangeBytes(1 << 30), Need::RangeBytes(1 << 27)),
            (Need::OffsetAlignment(4), Need::OffsetAlignment(256)),
        ];
        for (more, less) in pairs {
            assert!(more.covers(less) && more.covers(more), "{more}");
            assert!(!less.covers(more), "{less} must not cover {more}");
            let others = pairs.iter().flat_map(|(a, b)| [*a, *b]);
            let kind = std::mem::discriminant(&more);
            for other in others.filter(|other| std::mem::discriminant(other) != kind) {
                assert!(!more.covers(other), "{more} must not cover {other}");
            }
        }
        assert!(!Need::Workgroups([70_000, 9, 9]).covers(Need::Workgroups([1, 10, 1])));
    }

    #[test]
    fn one_of_several_subgroup_sizes_is_enough() {
        let eight_or_more = Need::SubgroupSizes(8 | 16 | 32);
        assert!(eight_or_more.covers(Need::SubgroupSizes(32 | 64)));
        assert!(!eight_or_more.covers(Need::SubgroupSizes(4 | 64)));
        assert_eq!(Need::SubgroupSizes(4 | 64).to_string(), "a subgroup size of 4 or 64");
    }

    #[test]
    fn capabilities_are_found_by_their_names_and_kin() {
        for feature in Feature::ALL {
            assert_eq!(Feature::of_capability(feature.name()), Some(feature));
        }
        let kin = Feature::of_capability("UniformAndStorageBuffer16BitAccess");
        assert_eq!(kin, Some(Feature::StorageBuffer16BitAccess));
        assert_eq!(Feature::of_capability("Shader"), None);
    }
}
