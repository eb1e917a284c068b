use std::path::Path;

use super::{Expectations, ExpectationsError};
use crate::check::{Check, Finding, Kind, Mark, Outcome};
use crate::device::{DeviceInfo, Features, Limits};
use crate::ops::Registry;
use crate::run::{Coverage, Judge, Learned, Matrices, Standing, Targets};
use crate::worker::{Task, Work};

fn parsed(text: &str) -> Result<Expectations, ExpectationsError> {
    Expectations::parse(Path::new("e.txt"), text)
}

fn refused(text: &str, message: &str) {
    let error = parsed(text).expect_err(text).to_string();
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn every_mistake_has_its_place() {
    let near = "`gpu` is no device; a device is *, all, or vk: and a part of a name";
    for (line, message) in [
        ("fial * forward \"x\" # y", "e.txt:1:1: `fial` is none of fail, flaky, skip"),
        ("fail gpu forward \"x\" # y", &format!("e.txt:1:6: {near}")),
        ("fail vk: forward \"x\" # y", "e.txt:1:6: `vk:` is no device"),
        ("fail * forwrad \"x\" # y", "e.txt:1:8: no check is called `forwrad`; nearest: forward"),
        ("fail * add.naive \"x\" # y", "e.txt:1:8: no check is called `add.naive`"),
        ("fail * a[/forward \"x\" # y", "e.txt:1:8: Pattern syntax error"),
        ("fail * forward x # y", "e.txt:1:16: the message must stand in double quotes"),
        ("fail * forward \"\" # y", "e.txt:1:16: `fail` needs a message"),
        ("fail * forward \"x # y", "e.txt:1:16: the quote that opens here is never closed"),
        ("fail * forward \"x\"# y", "e.txt:1:19: a blank belongs behind the closing quote"),
        ("fail * forward \"\\x\" # y", "e.txt:1:17: a backslash stands only before"),
        ("fail * forward # y", "e.txt:1:16: the message is missing"),
        ("fail", "e.txt:1:5: the device is missing"),
        ("fail * forward \"é\" y", "e.txt:1:20: expected # and the reason"),
        ("fail * forward \"x\"", "e.txt:1:19: the reason is missing"),
        ("fail * forward \"x\" #  ", "e.txt:1:20: the reason is empty"),
    ] {
        refused(line, message);
    }
}

#[test]
fn lines_are_sorted_and_each_stands_once() {
    refused(
        "# head\nflaky * memory \"\" # a\n\nfail * forward \"x\" # b\n",
        "e.txt:4:1: not sorted: this line belongs above line 2",
    );
    refused(
        "fail  all forward \"x\" # a\nflaky all forward \"x\" # b\n",
        "e.txt:2:1: line 1 has the same device, check and message",
    );
}

#[test]
fn columns_may_be_quoted_and_comments_stand_anywhere() {
    let text =
        "# head\r\n\n  fail\t\"vk:a \\\"b\\\"\"  \"my dir/a.toml/*\"  \"x\"  # why # so\r\n# end\n";
    let file = parsed(text).expect("it reads");
    let [line] = file.lines() else { panic!("{file:?}") };
    assert_eq!((line.mark, line.line), (Mark::Fail, 3));
    assert_eq!((line.device.as_str(), line.reason.as_str()), ("vk:a \"b\"", "why # so"));
    assert!(line.covers(["my dir/a.toml"; 2], Check::Memory));
    assert!(line.covers(["./my dir/a.toml"; 2], Check::Forward));
    assert!(!line.covers(["my dir/b.toml"; 2], Check::Forward));
}

fn device(name: &str) -> DeviceInfo {
    DeviceInfo {
        name: name.to_owned(),
        driver: "driver".to_owned(),
        driver_version: "1".to_owned(),
        api_version: "1.1.0".to_owned(),
        kind: "cpu".to_owned(),
        vendor_id: 0,
        device_id: 0,
        limits: Limits::REQUIRED,
        features: Features::default(),
    }
}

fn task(variant: &str, check: Check) -> Task {
    let (op, variant) = ("add".to_owned(), variant.to_owned());
    let work = Work::Variant { op, variant, fault: None };
    Task::new(work, check, 7, vec!["n=1".to_owned(), "n=2".to_owned()])
}

const PASS: Outcome = Outcome::Pass { worst: 0.0 };

fn wrong() -> Outcome {
    Outcome::fail(Finding::new(Kind::WrongResult, "y differs"))
}

/// How a task's outcomes stand to lines on one device of two, with the lines that expect each.
fn judged<'e>(judge: &Judge<'e>, task: &Task, outcomes: &[Outcome]) -> (Standing<'e>, Vec<usize>) {
    let mut standing = judge.standing(&judge.devices[0], task);
    let known = outcomes.iter().map(|o| standing.judge(o).map_or(0, |known| known.line));
    let known = known.collect();
    (standing, known)
}

fn judge(expectations: &Expectations) -> Judge<'_> {
    let devices = vec![device("One"), device("One more")];
    Judge { expectations, devices, coverage: Coverage::Whole }
}

fn unmet(standing: &Standing<'_>) -> Vec<usize> {
    standing.unmet(2).map(|line| line.line).collect()
}

#[test]
fn a_fail_line_wants_one_bad_case_and_a_flaky_one_none() {
    let text = "fail * add.naive/forward \"y differs\" # a\n\
                flaky * add.*/forward \"\" # b\n";
    let file = parsed(text).expect("it reads");
    let judge = judge(&file);
    let naive = task("naive", Check::Forward);
    let (standing, known) = judged(&judge, &naive, &[PASS, wrong()]);
    assert_eq!((known, unmet(&standing)), (vec![0, 1], vec![]));
    let (standing, _) = judged(&judge, &naive, &[PASS, PASS]);
    assert_eq!(unmet(&standing), [1]);
    let crash = Outcome::Crash { reason: "signal: 11".to_owned() };
    let (standing, known) = judged(&judge, &naive, &[PASS, crash]);
    assert_eq!((known, unmet(&standing)), (vec![0, 2], vec![1]));
    let (standing, known) = judged(&judge, &task("unrolled", Check::Forward), &[wrong(), PASS]);
    assert_eq!((known, unmet(&standing)), (vec![2, 0], vec![]));
    let (_, known) = judged(&judge, &task("naive", Check::Memory), &[wrong()]);
    assert_eq!(known, [0], "another check");
}

#[test]
fn only_what_ran_in_full_is_out_of_date() {
    let file = parsed("fail * add/forward \"crash: signal: 11\" # a\n").expect("it reads");
    let mut judge = judge(&file);
    let naive = task("naive", Check::Forward);
    let lacks = || Outcome::Unsupported { reason: "no f16".to_owned() };
    assert_eq!(unmet(&judged(&judge, &naive, &[PASS]).0), [0_usize; 0], "a case is missing");
    assert_eq!(unmet(&judged(&judge, &naive, &[lacks(), lacks()]).0), [0_usize; 0]);
    assert_eq!(unmet(&judged(&judge, &naive, &[lacks(), PASS]).0), [1]);
    judge.coverage = Coverage::OneCase;
    assert_eq!(unmet(&judged(&judge, &naive, &[PASS, PASS]).0), [0_usize; 0]);
}

#[test]
fn a_whole_name_is_that_device_alone() {
    for (selector, first, second) in [
        ("vk:one", true, true),
        ("vk:One", true, false),
        ("vk:driver", true, true),
        ("\"vk:One more\"", false, true),
        ("vk:two", false, false),
        ("all", true, true),
        ("*", true, true),
    ] {
        let file = parsed(&format!("skip {selector} forward \"\" # hangs\n")).expect("it reads");
        let judge = judge(&file);
        let naive = task("naive", Check::Forward);
        let skips: Vec<bool> = judge
            .devices
            .iter()
            .map(|d| judge.standing(d, &naive).skip() == Some("hangs"))
            .collect();
        assert_eq!(skips, [first, second], "{selector}");
    }
}

#[test]
fn a_line_about_nothing_names_its_neighbour() {
    let registry = Registry::lab();
    let targets = Targets::parse(&registry, &[], Matrices::Bounded).expect("all");
    let check = |scope: &str| {
        let file = parsed(&format!("fail * {scope} \"x\" # y\n")).expect("it reads");
        file.validate(&registry, &targets).map_err(|error| error.to_string())
    };
    for scope in ["forward", "*", "add/forward", "*.naive/*", "softmax.vjp_*/gradient"] {
        assert_eq!(check(scope), Ok(()), "{scope}");
    }
    let error = check("add.niave/forward").expect_err("no such variant");
    assert!(error.starts_with("e.txt:1:8: `add.niave/forward` matches no target"), "{error}");
    assert!(error.contains("nearest: add.naive/forward"), "{error}");
    let error = check("add.vjp_naive/forward").expect_err("the check doesn't apply");
    assert!(error.contains("add.naive/forward"), "{error}");
    assert!(check("no/such/folder/*.toml/forward").is_err());
    assert!(check("no/such/file.toml/forward").is_err());
}

#[test]
fn a_rewritten_file_keeps_what_holds_and_reads_back() {
    let text = "# head\n\
                fail * add.*/forward \"y differs\" # broad\n\
                # about memory\n\
                fail * add.*/memory \"guard-hit\" # mended\n\
                flaky * forward \"nothing\" # races\n\
                skip * exp/forward \"\" # hangs\n\
                # end\n";
    let file = parsed(text).expect("it reads");
    let judge = judge(&file);
    let tasks = [
        task("naive", Check::Forward),
        task("unrolled", Check::Forward),
        task("naive", Check::Memory),
        task("naive", Check::Alias),
    ];
    let outcomes = [[PASS, wrong()], [PASS, PASS], [PASS, PASS], [wrong(), wrong()]];
    let standings = tasks.iter().zip(&outcomes).map(|(task, o)| judged(&judge, task, o).0);
    let mut learned = Learned::default();
    let passes = learned.hear(file.path(), "One", &tasks, standings.collect());
    let lines: Vec<usize> = passes.iter().map(|pass| pass.line).collect();
    assert_eq!(lines, [2, 4]);
    assert_eq!(passes[0].passed[0].target, "add.unrolled");

    let rewritten = learned.rewritten(&file, 7);
    assert_eq!((rewritten.lines, rewritten.fresh), (4, 2));
    let lines: Vec<&str> = rewritten.text.lines().collect();
    assert_eq!(lines[0], "# head");
    assert!(lines[1].starts_with("fail  vk:One  add.naive/alias  \"wrong-result\"  # found 2"));
    assert!(lines[1].ends_with(" by seed 7"), "{}", rewritten.text);
    assert_eq!(lines[2], "fail  vk:One  add.naive/forward  \"wrong-result\"  # broad");
    assert_eq!(lines[3], "# about memory");
    assert_eq!(lines[4..], text.lines().skip(4).collect::<Vec<_>>());

    let file = parsed(&rewritten.text).expect("it reads back");
    let judge = Judge { expectations: &file, ..judge };
    let standings = tasks.iter().zip(&outcomes).map(|(task, outcomes)| {
        let (standing, known) = judged(&judge, task, outcomes);
        assert_eq!(
            outcomes.iter().filter(|o| o.is_bad()).count(),
            known.iter().filter(|n| **n > 0).count()
        );
        standing
    });
    assert_eq!(Learned::default().hear(file.path(), "One", &tasks, standings.collect()), []);
}
