//! Questions about whole columns, in as wide a vector as the processor has.

use std::sync::LazyLock;

use pulp::Arch;

use crate::soft::registers::Active;

/// Asking the processor what it can do costs more than a column.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Whether a word isn't zero.
pub(super) fn any(words: &[u32]) -> bool {
    ARCH.dispatch(|| words.iter().fold(0, |found, word| found | word) != 0)
}

/// Whether a word of a column isn't zero where it is active.
pub(super) fn any_active(column: &[u32], active: &Active) -> bool {
    let column = &column[active.lanes()];
    if active.is_full() {
        return any(column);
    }
    ARCH.dispatch(|| {
        let words = column.iter().zip(active.words());
        words.fold(0, |found, (word, active)| found | (word & active)) != 0
    })
}

/// Whether a word reaches `limit` after all bits but those of `mask` are gone, where active.
pub(super) fn any_reaches(column: &[u32], active: &Active, mask: u32, limit: u32) -> bool {
    let column = &column[active.lanes()];
    if active.is_full() {
        return ARCH.dispatch(|| {
            column.iter().fold(0, |greatest, word| (word & mask).max(greatest)) >= limit
        });
    }
    ARCH.dispatch(|| {
        let words = column.iter().zip(active.words());
        words.fold(0, |greatest, (word, active)| (word & mask & active).max(greatest)) >= limit
    })
}

/// The least and the greatest word where active; none where nothing is.
pub(super) fn span(column: &[u32], active: &Active) -> Option<(u32, u32)> {
    let column = &column[active.lanes()];
    if active.count() == 0 {
        return None;
    }
    Some(ARCH.dispatch(|| {
        let words = column.iter().zip(active.words());
        words.fold((u32::MAX, 0), |(least, greatest), (word, active)| {
            (least.min(word | !active), greatest.max(word & active))
        })
    }))
}

/// Whether each word is `step` more than the one before.
pub(super) fn is_run(column: &[u32], step: u32) -> bool {
    ARCH.dispatch(|| {
        let pairs = column.iter().zip(column.iter().skip(1));
        pairs.fold(0, |wrong, (word, next)| wrong | (next.wrapping_sub(*word) ^ step)) == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_active_words_count() {
        let column: Vec<u32> = (0..100).map(|lane| lane % 91 + 10).collect();
        let active = |bits| Active::new(0..100, &[0, bits], 100);
        assert!(!any_active(&column, &active(0)));
        assert_eq!(span(&column, &active(0)), None);
        let two = active(1 | 1 << 6);
        assert!(any_active(&column, &two));
        assert_eq!(span(&column, &two), Some((74, 80)));
        assert!(any_reaches(&column, &two, 0xff, 80));
        assert!(!any_reaches(&column, &two, 0xff, 81));
        assert!(!any_reaches(&column, &two, 0x1f, 17));
        let all = Active::new(0..100, &[u64::MAX, (1 << 36) - 1], 100);
        assert!(any_reaches(&column, &all, 0xff, 100));
        assert!(!any_reaches(&column, &all, 0xff, 101));
        let part = Active::new(0..8, &[0xff], 100);
        assert!(!any_reaches(&column, &part, 0xff, 18), "another subgroup's");
    }

    #[test]
    fn a_run_has_one_step() {
        let mut column: Vec<u32> = (0..100).map(|lane| 64 + 4 * lane).collect();
        assert!(is_run(&column, 4));
        column.swap(3, 4);
        assert!(!is_run(&column, 4));
    }
}
