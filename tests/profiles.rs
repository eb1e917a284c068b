//! The table of devices that the limits check knows: what the page on it says, what a driver answers.

use std::fs;
use std::path::Path;

use vklab::check::Profile;
use vklab::ops::{Feature, Need};
use vklab::vulkan;

fn named(profile: &str) -> Profile {
    Profile::named(profile).expect("a known name").expect("devices")
}

/// The row of a driver that is at hand is what it answers.
#[test]
fn lavapipe_offers_what_its_table_says() {
    let found = vulkan::enumerate().expect("a driver");
    let lavapipe = found.iter().find(|found| found.info.driver == "llvmpipe").expect("lavapipe");
    let (has, table) = (lavapipe.info.limits, named("lavapipe").limits());
    assert_eq!(has.workgroup_invocations, table.workgroup_invocations);
    assert_eq!(has.workgroup_size, table.workgroup_size);
    assert_eq!(has.workgroup_count, table.workgroup_count);
    assert_eq!((has.shared_bytes, has.push_bytes), (table.shared_bytes, table.push_bytes));
    assert_eq!(has.storage_range_bytes, table.storage_range_bytes);
    assert_eq!(has.storage_offset_alignment, table.storage_offset_alignment);
    assert!(named("lavapipe").offers(Need::SubgroupSizes(has.subgroup_size)));
}

/// The page's table says what the data file says.
#[test]
fn the_page_on_limits_lists_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/limits.md");
    let page = fs::read_to_string(page).expect("docs/limits.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let common = Profile::common();
    assert_eq!(rows.len(), common.devices().count() + 1, "the devices and the minimum");
    for row in rows {
        let [name, covers, shared, invocations, x, push, alignment, range, sizes, lacks] = row[..]
        else {
            panic!("{row:?}");
        };
        let profile = named(name.trim_matches('`'));
        assert_eq!(profile.devices().next().map(|(covers, _)| covers), Some(covers));
        let limits = profile.limits();
        assert_eq!(limits.shared_bytes.to_string(), shared, "{name}");
        assert_eq!(limits.workgroup_invocations.to_string(), invocations, "{name}");
        assert_eq!(limits.workgroup_count[0].to_string(), x, "{name}");
        assert_eq!(limits.push_bytes.to_string(), push, "{name}");
        assert_eq!(limits.storage_offset_alignment.to_string(), alignment, "{name}");
        assert_eq!(limits.storage_range_bytes.to_string(), range, "{name}");
        let offered =
            (0..8).map(|bit| 1 << bit).filter(|s| profile.offers(Need::SubgroupSizes(*s)));
        let offered: Vec<String> = offered.map(|size: u32| size.to_string()).collect();
        assert_eq!(if offered.is_empty() { "-".to_owned() } else { offered.join(" or ") }, sizes);
        let mut lacked = Feature::ALL.to_vec();
        lacked.retain(|feature| !profile.offers(Need::Feature(*feature)));
        let names: Vec<String> = lacked.iter().map(|f| format!("`{}`", f.name())).collect();
        let all = Feature::ALL.len();
        let want = match lacked.len() {
            0 => "-".to_owned(),
            n if n == all => "all features".to_owned(),
            n if n + 1 == all => "all features but `GroupNonUniformArithmetic`".to_owned(),
            _ => names.join(", "),
        };
        assert_eq!(want, lacks, "{name}");
    }
}
