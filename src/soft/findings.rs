//! Collects what observers see; the same thing at the same place is told once, with a count.

use std::collections::HashMap;

use crate::device::{Act, Hazard, Observation};

use super::program::{PlaceId, Program};

/// One party of an observation, as observers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) what: &'static str,
    pub(crate) at: PlaceId,
    /// `gl_WorkGroupID` and the invocation in it.
    pub(crate) invocation: Option<([u32; 3], usize)>,
}

/// Where in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) memory: String,
    pub(crate) offset_bytes: u64,
}

/// Everything that was seen in a recording.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    seen: HashMap<Key, usize>,
    observations: Vec<Observation>,
}

/// Kernel and line of both parties: a line may stand for many instructions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    hazard: Hazard,
    act: (String, String, u32),
    other: Option<(String, String, u32)>,
    memory: Option<String>,
}

/// What follows on a line that may race: `// vklab: race-ok the reason`.
const RACE_OK: &str = "vklab: race-ok";

impl Findings {
    /// Tells of something in a kernel. `message` is only made the first time.
    pub(crate) fn report(
        &mut self,
        program: &Program,
        hazard: Hazard,
        act: Party,
        other: Option<Act>,
        spot: Option<Spot>,
        message: impl FnOnce() -> String,
    ) {
        let act = describe(program, act);
        let place = |act: &Act| (act.kernel.clone(), act.file.clone(), act.line);
        let key = Key {
            hazard,
            act: place(&act),
            other: other.as_ref().map(place),
            memory: spot.as_ref().map(|spot| spot.memory.clone()),
        };
        if let Some(at) = self.seen.get(&key) {
            self.observations[*at].count += 1;
            return;
        }
        self.seen.insert(key, self.observations.len());
        let allowed = match hazard {
            Hazard::Race | Hazard::SameValueRace => {
                race_ok(&act.text).or_else(|| other.as_ref().and_then(|act| race_ok(&act.text)))
            }
            _ => None,
        };
        self.observations.push(Observation {
            hazard,
            message: message(),
            act,
            other,
            memory: spot.as_ref().map(|spot| spot.memory.clone()),
            offset_bytes: spot.map(|spot| spot.offset_bytes),
            count: 1,
            allowed,
        });
    }

    pub(crate) fn take(&mut self) -> Vec<Observation> {
        self.seen.clear();
        std::mem::take(&mut self.observations)
    }
}

/// A party with its source line, in the words of reports.
pub(crate) fn describe(program: &Program, party: Party) -> Act {
    let place = program.places.get(party.at as usize).copied().unwrap_or_default();
    let file = program.files.get(place.file as usize);
    let text = file.and_then(|file| {
        file.text
            .lines()
            .nth((place.line as usize).checked_sub(1)?)
            .map(|line| line.trim().to_owned())
    });
    let [x, y, _] = program.local_size;
    let local = |lane: usize| {
        let lane = u32::try_from(lane).unwrap_or(u32::MAX);
        [lane % x.max(1), lane / x.max(1) % y.max(1), lane / (x.max(1) * y.max(1))]
    };
    Act {
        what: party.what.to_owned(),
        kernel: program.name.clone(),
        file: file.map_or_else(String::new, |file| file.name.clone()),
        line: place.line,
        text: text.unwrap_or_default(),
        invocation: party.invocation.map(|(workgroup, lane)| (workgroup, local(lane))),
    }
}

fn race_ok(text: &str) -> Option<String> {
    let (_, reason) = text.split_once(RACE_OK)?;
    let reason = reason.trim();
    (!reason.is_empty()).then(|| reason.to_owned())
}
