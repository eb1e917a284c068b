//! Small wounds to real modules. What a compiler would never write is one step away from what it
//! writes, so most of them get past the parser.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

/// Magic, version, generator, bound, schema.
const HEADER_LEN: usize = 5;

/// Numbers at which sizes, shifts and sums go wrong.
const EDGES: [u32; 12] =
    [0, 1, 2, 7, 31, 32, 64, 255, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// First words of instructions, without the header.
fn starts(words: &[u32]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = HEADER_LEN;
    while let Some(first) = words.get(at) {
        let len = ((first >> 16) as usize).max(1);
        if at + len > words.len() {
            break;
        }
        found.push((at, len));
        at += len;
    }
    found
}

/// Wounds a module once or twice, and now and then more often.
pub(crate) fn mutate(seed: &[u32], other: &[u32], random: &mut ChaCha8Rng) -> Vec<u32> {
    let mut words = seed.to_vec();
    let most = if random.random_range(0..8) == 0 { 6 } else { 2 };
    for _ in 0..random.random_range(1..=most) {
        wound(&mut words, other, random);
    }
    words
}

fn wound(words: &mut Vec<u32>, other: &[u32], random: &mut ChaCha8Rng) {
    let list = starts(words);
    if list.is_empty() {
        return;
    }
    let pick = |random: &mut ChaCha8Rng| list[random.random_range(0..list.len())];
    // Names and lines are no fun.
    let is_dull = |at: usize| [5, 6, 8, 3, 7, 317].contains(&(words[at] & 0xffff));
    let (mut at, mut len) = pick(random);
    while is_dull(at) && random.random_range(0..16) > 0 {
        (at, len) = pick(random);
    }
    match random.random_range(0..24) {
        // What the same operation has in its place elsewhere.
        14.. if len > 1 => {
            let same: Vec<usize> = list
                .iter()
                .filter(|(other, _)| words[*other] == words[at])
                .map(|(at, _)| *at)
                .collect();
            let place = random.random_range(1..len);
            words[at + place] = words[same[random.random_range(0..same.len())] + place];
        }
        // An operand becomes another id, mostly a near one.
        0..4 if len > 1 => {
            let place = at + random.random_range(1..len);
            let bound = words[3].clamp(2, 1 << 20);
            words[place] = if random.random() {
                words[place].wrapping_add(random.random_range(0..9)).wrapping_sub(4)
            } else {
                random.random_range(0..bound)
            };
        }
        // An operand is copied from elsewhere: an id of the wrong kind, which is defined.
        4..6 if len > 1 => {
            let (from, from_len) = pick(random);
            let place = at + random.random_range(1..len);
            words[place] = words[from + random.random_range(0..from_len)];
        }
        6 if len > 1 => {
            let place = at + random.random_range(1..len);
            words[place] = EDGES[random.random_range(0..EDGES.len())];
        }
        7 => {
            let place = random.random_range(0..words.len());
            words[place] ^= 1 << random.random_range(0..32);
        }
        // Another operation with the same operands.
        8 => {
            let (from, _) = pick(random);
            words[at] = words[at] & 0xffff_0000 | words[from] & 0xffff;
        }
        9 => drop(words.drain(at..at + len)),
        10 => {
            let copy = words[at..at + len].to_vec();
            let (to, _) = pick(random);
            words.splice(to..to, copy);
        }
        // Two instructions change places.
        11 => {
            let (first, first_len) = pick(random);
            let (early, late) = if first < at {
                ((first, first_len), (at, len))
            } else {
                ((at, len), (first, first_len))
            };
            if early.0 != late.0 {
                let moved = words[late.0..late.0 + late.1].to_vec();
                words.drain(late.0..late.0 + late.1);
                words.splice(early.0..early.0, moved);
            }
        }
        // An instruction of another module.
        12 => {
            let others = starts(other);
            if !others.is_empty() {
                let (from, from_len) = others[random.random_range(0..others.len())];
                words.splice(at..at, other[from..from + from_len].iter().copied());
            }
        }
        _ if random.random_range(0..8) == 0 => words.truncate(random.random_range(0..words.len())),
        _ => {
            let place = random.random_range(0..words.len());
            words[place] = random.next_u32();
        }
    }
}
