//! Where wrong elements lie: tail, rows, columns, tiles, periods.

use std::collections::BTreeSet;

/// Sentences about where the bad elements of a tensor lie, the most telling first. `bad` is
/// ascending.
#[must_use]
pub(super) fn describe(shape: &[usize], bad: &[usize]) -> Vec<String> {
    let total: usize = shape.iter().product();
    let (Some(first), Some(last)) = (bad.first(), bad.last()) else { return Vec::new() };
    if bad.len() == total {
        return vec!["every element".to_owned()];
    }
    let mut places = Vec::new();
    if bad.len() == 1 {
        places.push(format!("one element, flat index {first}"));
    } else if *last == total - 1 && last - first + 1 == bad.len() {
        places.push(format!("the tail from flat index {first} on ({} elements)", bad.len()));
    } else if last - first + 1 == bad.len() {
        places.push(format!("one run, flat indices {first}..={last}"));
    }
    if let Some(cols) = shape.last().filter(|_| shape.len() > 1) {
        places.extend(matrix(total / cols.max(&1), *cols, bad));
    }
    if bad.len() > 2 {
        let modulo = |period: &usize| bad.iter().all(|i| i % period == first % period);
        let largest = [256, 128, 64, 32, 16, 8].into_iter().find(modulo);
        places.extend(
            largest.map(|period| format!("flat indices {} modulo {period}", first % period)),
        );
    }
    if places.is_empty() {
        places.push(format!("{} scattered elements, the first at flat index {first}", bad.len()));
    }
    places
}

/// The same, seen as a matrix with all leading axes folded into rows.
fn matrix(rows: usize, cols: usize, bad: &[usize]) -> Vec<String> {
    let bad_rows: BTreeSet<usize> = bad.iter().map(|i| i / cols).collect();
    let bad_cols: BTreeSet<usize> = bad.iter().map(|i| i % cols).collect();
    let mut places = Vec::new();
    if bad_rows.len() * bad_cols.len() == bad.len() {
        let whole_rows = bad_cols.len() == cols;
        let whole_cols = bad_rows.len() == rows;
        if whole_rows && rows > 1 {
            places.push(format!("whole rows: {}", listed(&bad_rows, rows)));
        } else if whole_cols && cols > 1 {
            places.push(format!("whole columns: {}", listed(&bad_cols, cols)));
        } else if bad.len() > 1 && contiguous(&bad_rows) && contiguous(&bad_cols) {
            places.push(format!(
                "one tile: rows {}, columns {}",
                listed(&bad_rows, rows),
                listed(&bad_cols, cols)
            ));
        }
    }
    places
}

fn contiguous(set: &BTreeSet<usize>) -> bool {
    match (set.first(), set.last()) {
        (Some(first), Some(last)) => last - first + 1 == set.len(),
        _ => false,
    }
}

fn listed(set: &BTreeSet<usize>, extent: usize) -> String {
    let (Some(first), Some(last)) = (set.first(), set.last()) else { return String::new() };
    if set.len() == 1 {
        return format!("{first} of {extent}");
    }
    if contiguous(set) {
        let end = if *last == extent - 1 { ", the last" } else { "" };
        return format!("{first} to {last} of {extent}{end}");
    }
    let named: Vec<String> = set.iter().take(6).map(usize::to_string).collect();
    let more = if set.len() > 6 { ", ..." } else { "" };
    format!("{}{more} ({} of {extent})", named.join(", "), set.len())
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn patterns_are_named() {
        let say = |shape: &[usize], bad: &[usize]| describe(shape, bad).join("; ");
        assert_eq!(say(&[4], &[0, 1, 2, 3]), "every element");
        assert_eq!(say(&[300], &[298, 299]), "the tail from flat index 298 on (2 elements)");
        assert_eq!(say(&[3, 4], &[4, 5, 6, 7]), "one run, flat indices 4..=7; whole rows: 1 of 3");
        assert_eq!(say(&[3, 4], &[3, 7, 11]), "whole columns: 3 of 4");
        assert_eq!(
            say(&[4, 4], &[10, 11, 14, 15]),
            "one tile: rows 2 to 3 of 4, the last, columns 2 to 3 of 4, the last"
        );
        assert_eq!(say(&[100], &[7, 39, 71]), "flat indices 7 modulo 32");
        assert!(say(&[50], &[3, 11, 30]).starts_with("3 scattered"));
    }
}
