use super::{Colour, snippets};
use crate::check::{Finding, Kind};
use crate::device::{Act, Hazard, Observation};

fn act(what: &str, line: u32, text: &str) -> Act {
    Act {
        what: what.to_owned(),
        kernel: "k.comp".to_owned(),
        file: "k.comp".to_owned(),
        line,
        text: text.to_owned(),
        invocation: Some(([1, 0, 0], [5, 0, 0])),
    }
}

fn race(other: Act) -> Finding {
    let observation = Observation {
        hazard: Hazard::Race,
        message: "`tile` at element 5".to_owned(),
        act: act("reads", 14, "float x = tile[i ^ 1];"),
        other: Some(other),
        memory: Some("tile".to_owned()),
        offset_bytes: Some(20),
        count: 3,
        allowed: None,
    };
    let finding = Finding::new(Kind::Race, observation.message.clone());
    Finding { observations: vec![observation], ..finding }
}

#[test]
fn both_lines_of_a_race_are_shown_with_who_was_there() {
    let text = snippets(&race(act("writes", 12, "tile[i] = a[i];")), Colour::None);
    assert_eq!(
        text,
        "   ┌─ k.comp:14:1
   │
12 │ tile[i] = a[i];
   │ --------------- writes (invocation 5,0,0 of workgroup 1,0,0)
   ·
14 │ float x = tile[i ^ 1];
   │ ^^^^^^^^^^^^^^^^^^^^^^ reads (invocation 5,0,0 of workgroup 1,0,0)
   │
   = seen 3 times
"
    );
}

#[test]
fn lines_side_by_side_have_no_gap_and_one_line_is_shown_once() {
    let beside = snippets(&race(act("writes", 13, "tile[i] = a[i];")), Colour::None);
    assert!(!beside.contains('·'), "{beside}");
    let same = snippets(&race(act("writes", 14, "float x = tile[i ^ 1];")), Colour::None);
    assert_eq!(same.matches("tile[i ^ 1]").count(), 1, "{same}");
    assert!(same.contains("writes (") && same.contains("reads ("), "{same}");
}

#[test]
fn a_line_without_its_text_is_named() {
    let text = snippets(&race(act("writes", 12, "")), Colour::None);
    assert!(text.contains("= k.comp:12: writes (invocation"), "{text}");
    let mut bare = race(act("writes", 12, ""));
    bare.observations[0].act.text.clear();
    let text = snippets(&bare, Colour::None);
    assert!(text.contains("= k.comp:14: reads (invocation"), "{text}");
}

#[test]
fn colours_are_for_terminals() {
    let finding = race(act("writes", 12, "tile[i] = a[i];"));
    assert!(!snippets(&finding, Colour::None).contains('\u{1b}'));
    assert!(snippets(&finding, Colour::Ansi).contains('\u{1b}'));
    assert_eq!(snippets(&Finding::new(Kind::WrongResult, "y"), Colour::Ansi), "");
}
