use std::time::Duration;

use crate::device::{BufferId, Command, Device, DeviceError, Outcome, Recording, Ticket};

use super::{Soft, SoftOptions};

fn soft() -> Soft {
    Soft::open(&SoftOptions::default()).expect("the usual options")
}

fn run(soft: &mut Soft, commands: Vec<Command>) -> Result<Outcome, DeviceError> {
    let ticket = soft.submit(&Recording { commands, schedule: 0 })?;
    soft.wait(ticket, Duration::from_secs(1))
}

fn download(buffer: BufferId, offset_bytes: u64, len_bytes: u64) -> Command {
    Command::Download { buffer, offset_bytes, len_bytes }
}

#[test]
fn transfers_are_executed_in_their_order() {
    let mut soft = soft();
    let buffer = soft.allocate("x", 16).expect("16 bytes");
    let data = vec![1, 2, 3, 4, 5, 6, 7, 8];
    let outcome = run(
        &mut soft,
        vec![
            Command::Undefine { buffer, offset_bytes: 0, len_bytes: 16, pattern: 0xaabb_ccdd },
            Command::Upload { buffer, offset_bytes: 4, data },
            Command::Barrier,
            download(buffer, 0, 8),
            Command::Fill { buffer, offset_bytes: 8, len_bytes: 8, word: 7 },
            download(buffer, 4, 12),
            Command::Timestamp,
            Command::Retire { buffer },
        ],
    );
    let outcome = outcome.expect("a sound recording");
    let first = vec![0xdd, 0xcc, 0xbb, 0xaa, 1, 2, 3, 4];
    assert_eq!(outcome.downloads, [first, vec![1, 2, 3, 4, 7, 0, 0, 0, 7, 0, 0, 0]]);
    assert_eq!(outcome.timestamps_ns, [0.0]);
    assert!(outcome.observations.is_empty());
}

#[test]
fn what_breaks_the_rules_of_a_recording_is_refused() {
    let mut soft = soft();
    let buffer = soft.allocate("x", 16).expect("16 bytes");
    for command in [download(buffer, 8, 12), download(buffer, 2, 4), download(BufferId(7), 0, 4)] {
        let refused = run(&mut soft, vec![command]);
        assert!(matches!(refused, Err(DeviceError::Malformed { .. })), "{refused:?}");
    }
    soft.free(buffer).expect("it exists");
    assert!(matches!(soft.free(buffer), Err(DeviceError::Driver { .. })));
    let gone = run(&mut soft, vec![download(buffer, 0, 4)]);
    assert!(matches!(gone, Err(DeviceError::Malformed { .. })), "{gone:?}");
    let waited = soft.wait(Ticket(99), Duration::from_secs(1));
    assert!(matches!(waited, Err(DeviceError::Driver { .. })), "{waited:?}");
}

#[test]
fn buffers_have_sizes_that_a_device_can_have() {
    let mut soft = soft();
    for bytes in [0, 6, !3_u64] {
        let refused = soft.allocate("x", bytes);
        assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{bytes}: {refused:?}");
    }
    soft.left_bytes = 32;
    let first = soft.allocate("x", 32).expect("room for one");
    let refused = soft.allocate("y", 4);
    assert!(matches!(refused, Err(DeviceError::OutOfMemory { bytes: 4, .. })), "{refused:?}");
    soft.free(first).expect("it exists");
    let second = soft.allocate("y", 4).expect("room again");
    assert_ne!(first, second, "numbers are not used again");
}

#[test]
fn a_subgroup_size_is_a_power_of_two_in_its_range() {
    for (subgroup_size, opens) in [(4, true), (128, true), (2, false), (48, false), (256, false)] {
        let options = SoftOptions { subgroup_size, ..SoftOptions::default() };
        assert_eq!(Soft::open(&options).is_ok(), opens, "{subgroup_size}");
    }
}
