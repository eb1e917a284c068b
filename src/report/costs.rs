//! What lines cost, as a table.

use crate::device::LineCost;

/// The lines that cost something, with their shares of the whole; files have a heading each.
#[must_use]
pub fn costs_text(costs: &[LineCost]) -> String {
    let total: u64 = costs.iter().map(|cost| cost.lane_instructions).sum();
    let wide = total.to_string().len().max("lane-instructions".len());
    let row = |share: &str, count: &str, line: &str, text: &str| {
        let row = format!("{share:>6}  {count:>wide$}  {line:>4}  {text}");
        row.trim_end().to_owned() + "\n"
    };
    let share = |count: u64| format!("{:.1}%", percent(count, total));
    let mut text = row("share", "lane-instructions", "line", "");
    let mut file = "";
    for cost in costs.iter().filter(|cost| cost.line > 0) {
        if cost.file != file {
            file = &cost.file;
            text.push_str(&format!("{file}\n"));
        }
        let count = cost.lane_instructions;
        text.push_str(&row(&share(count), &count.to_string(), &cost.line.to_string(), &cost.text));
    }
    let beside: u64 = costs.iter().filter(|c| c.line == 0).map(|c| c.lane_instructions).sum();
    if beside > 0 {
        text.push_str(&row(&share(beside), &beside.to_string(), "", "(of no line)"));
    }
    text.push_str(&row(&share(total), &total.to_string(), "", "in all"));
    text
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown with one digit")]
fn percent(count: u64, total: u64) -> f64 {
    100.0 * count as f64 / total.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_under_their_files_and_the_rest_at_the_end() {
        let cost = |file: &str, line, lane_instructions, text: &str| LineCost {
            file: file.to_owned(),
            line,
            lane_instructions,
            text: text.to_owned(),
        };
        let costs =
            [cost("", 0, 100, ""), cost("a.comp", 7, 600, "x++;"), cost("b.glsl", 12, 300, "y++;")];
        let want = " share  lane-instructions  line
a.comp
 60.0%                600     7  x++;
b.glsl
 30.0%                300    12  y++;
 10.0%                100        (of no line)
100.0%               1000        in all
";
        assert_eq!(costs_text(&costs), want);
        assert!(costs_text(&[]).ends_with("0        in all\n"));
    }
}
