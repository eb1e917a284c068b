//! What somebody may have meant who named something that doesn't exist.

/// Up to three names that come close to what was asked for.
pub fn nearest(asked: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut scored: Vec<(f64, String)> =
        names.map(|name| (strsim::jaro_winkler(asked, &name), name)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().filter(|(score, _)| *score > 0.7).take(3).map(|(_, name)| name).collect()
}

/// What to append to a message about a name that doesn't exist; nothing where none comes close.
pub fn suggested(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}
