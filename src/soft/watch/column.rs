//! Questions about whole columns, in as wide a vector as the processor has.

use std::sync::LazyLock;

use pulp::Arch;

/// Asking the processor what it can do costs more than a column.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Whether a word isn't zero where it is active.
pub(super) fn any(column: &[u32], active: &[u32]) -> bool {
    ARCH.dispatch(|| {
        let words = column.iter().zip(active);
        words.fold(0, |found, (word, active)| found | (word & active)) != 0
    })
}

/// Whether a word reaches `limit` after all bits but those of `mask` are gone, where active.
pub(super) fn any_reaches(column: &[u32], active: &[u32], mask: u32, limit: u32) -> bool {
    ARCH.dispatch(|| {
        let words = column.iter().zip(active);
        words.fold(0, |found, (word, active)| found | (u32::from(word & mask >= limit) & active))
            != 0
    })
}

/// The least and the greatest word where active; none where nothing is.
pub(super) fn span(column: &[u32], active: &[u32]) -> Option<(u32, u32)> {
    let (least, greatest) = ARCH.dispatch(|| {
        let words = column.iter().zip(active);
        words.fold((u32::MAX, 0), |(least, greatest), (word, active)| {
            (least.min(word | !active), greatest.max(word & active))
        })
    });
    (least <= greatest).then_some((least, greatest))
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
        let column: Vec<u32> = (10..110).collect();
        let mut active = vec![0; 100];
        assert!(!any(&column, &active));
        assert_eq!(span(&column, &active), None);
        active[40] = u32::MAX;
        active[70] = u32::MAX;
        assert!(any(&column, &active));
        assert_eq!(span(&column, &active), Some((50, 80)));
        assert!(any_reaches(&column, &active, 0xff, 80));
        assert!(!any_reaches(&column, &active, 0xff, 81));
        assert!(!any_reaches(&column, &active, 0x1f, 19));
    }

    #[test]
    fn a_run_has_one_step() {
        let mut column: Vec<u32> = (0..100).map(|lane| 64 + 4 * lane).collect();
        assert!(is_run(&column, 4));
        column.swap(3, 4);
        assert!(!is_run(&column, 4));
    }
}
