//! The main job on real input: a perceptron on the UCI optical digits, trained with the lab's
//! kernels on every device that executes, and held against the references.

use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value as Json;
use vklab::check::Session;
use vklab::memory::{FindingKind, LedgerOptions};
use vklab::model::{
    Digits, Host, Life, Machine, OnDevice, Optimizer, PARAMETERS, Perceptron, Recipe, Report,
    ScaledGradient, Swap, Tape, TensorId, Truth, Way, check_swaps, train, train_on_device, ways,
};
use vklab::ops::{self, Pass, Plan, Variant};
use vklab::tensor::Dtype;
use vklab::vulkan::Validation;
use vklab::worker::{choose, open_session};

static DIGITS: LazyLock<Digits> = LazyLock::new(Digits::embedded);

/// A training long enough to tell right from wrong, short enough to be repeated.
static SHORT: LazyLock<[(Recipe, Truth); 2]> = LazyLock::new(|| {
    [Optimizer::SGD, Optimizer::ADAMW].map(|optimizer| {
        let recipe = Recipe { optimizer, hidden: 32, batch: 32, steps: 40, seed: 11 };
        let truth = Truth::new(&recipe, &DIGITS, 8);
        (recipe, truth)
    })
});

fn on_every_device(mut check: impl FnMut(&mut Session)) {
    let chosen = choose(&[], Validation::Off).expect("a device that executes");
    for choice in &chosen {
        let mut session = open_session(choice, LedgerOptions::default()).expect("a session");
        check(&mut session);
        let (_, leaks) = session.into_ledger().close();
        assert!(leaks.is_empty(), "{}", leaks[0]);
    }
}

fn trained(
    session: &mut Session,
    (recipe, truth): &(Recipe, Truth),
    swaps: &[Swap],
    fault: Option<&ScaledGradient>,
) -> Report {
    train_on_device(session, recipe, &DIGITS, truth, swaps, fault, &mut |_, _| {})
        .expect("a training")
}

#[test]
fn both_optimizers_learn_the_digits_within_the_band_of_correct_runs() {
    let lessons = [Optimizer::SGD, Optimizer::ADAMW].map(|optimizer| {
        let recipe = Recipe { optimizer, hidden: 64, batch: 32, steps: 450, seed: 3 };
        let truth = Truth::new(&recipe, &DIGITS, 8);
        (recipe, truth)
    });
    on_every_device(|session| {
        for lesson in &lessons {
            let report = trained(session, lesson, &[], None);
            let name = lesson.0.optimizer.name();
            let share = report.right as f64 / DIGITS.held_out.len() as f64;
            assert!(share >= 0.95, "{name}: {} of {}", report.right, DIGITS.held_out.len());
            assert!(report.is_clean(), "{name}: {report:?}");
            let near = report.gradients.iter().all(|(_, part)| *part < 1e-5);
            assert!(near, "{name}: {:?}", report.gradients);
        }
    });
}

#[test]
fn one_gradient_scaled_by_1_01_leaves_the_band_and_is_named() {
    let lesson = &SHORT[0];
    on_every_device(|session| {
        for parameter in PARAMETERS {
            let fault = ScaledGradient { parameter: parameter.to_owned(), factor: 1.01 };
            let report = trained(session, lesson, &[], Some(&fault));
            assert!(report.departure.is_some(), "{parameter}: {:?}", report.spreads);
            assert!(!report.is_clean());
            for (name, part) in &report.gradients {
                let is_off = (0.009..0.011).contains(part);
                assert_eq!(is_off, *name == parameter, "{parameter}: {name} is off by {part}");
            }
        }
    });
}

#[test]
fn any_op_may_be_replaced_by_its_reference_or_another_variant() {
    on_every_device(|session| {
        for lesson in SHORT.iter() {
            let tape = lesson.0.model(None).tape;
            let mut names: Vec<&str> = tape.nodes().iter().map(|node| node.op.name).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let op = ops::find_op(name).expect("an op of the registry");
                let variants = op.variants.iter().map(|v| v.name);
                for way in variants.chain(["reference"]) {
                    let text = format!("{name}={way}");
                    let swap = Swap::parse(&text).expect("a swap");
                    check_swaps(&[swap], &[&tape]).expect("an op of the model");
                    let report = trained(session, lesson, &[swap], None);
                    assert!(report.is_clean(), "{text}: {report:?}");
                }
            }
        }
    });
}

#[test]
fn a_swap_reaches_its_pass_and_no_other() {
    let tape = SHORT[0].0.model(None).tape;
    let swapped = |text: &str| -> Vec<Pass> {
        let ways = ways(&tape, &[Swap::parse(text).expect("a swap")]);
        let plainest = |pass| ops::matmul::OP.variants.iter().find(move |v| v.pass == pass);
        let changed = |way: &Way, pass| match way {
            Way::Reference => true,
            Way::Kernels(variant) => plainest(pass).is_some_and(|v| v.name != variant.name),
        };
        let nodes = tape.nodes().iter().zip(&ways).filter(|(n, _)| n.op.name == "matmul");
        nodes.filter(|(n, way)| changed(way, n.pass)).map(|(n, _)| n.pass).collect()
    };
    assert_eq!(swapped("matmul=tiled"), [Pass::Forward; 2]);
    assert_eq!(swapped("matmul=vjp_tiled"), [Pass::Vjp; 2]);
    assert_eq!(swapped("matmul.vjp=reference"), [Pass::Vjp; 2]);
    assert_eq!(swapped("matmul.forward=reference"), [Pass::Forward; 2]);
    assert_eq!(swapped("matmul=reference").len(), 4);
}

#[test]
fn the_same_seed_trains_to_the_same_bits() {
    on_every_device(|session| {
        let (recipe, truth) = &SHORT[1];
        let curve = |session: &mut Session, seed| {
            let recipe = Recipe { seed, steps: 10, ..recipe.clone() };
            trained(session, &(recipe, truth.clone()), &[], None).losses
        };
        let first = curve(session, 5);
        assert_eq!(first, curve(session, 5));
        assert_ne!(first, curve(session, 6));
    });
}

/// The tape's gradients against central differences of its loss, all in f64.
#[test]
fn gradients_of_the_tape_are_those_of_its_loss() {
    let recipe = Recipe { hidden: 8, batch: 16, steps: 1, ..SHORT[0].0.clone() };
    let model = recipe.model(None);
    let batches = recipe.batches(&DIGITS.training);
    let loss = |nudge: Option<(usize, usize, f64)>| {
        let host = Host::new(&model.tape, |x: f64| x);
        let mut nudged = Nudged { model: &model, nudge, host };
        let trained = train(&mut nudged, &model, &recipe, &batches, &mut |_, _| {});
        trained.expect("a step on the host")
    };
    let gradients = loss(None).first_gradients;
    for (parameter, gradient) in gradients.iter().enumerate() {
        for element in [0, gradient.len() / 2, gradient.len() - 1] {
            // A power of two, so that storage holds the nudged parameter to 2^-24 of it.
            let h = 2f64.powi(-9);
            let at = |step: f64| loss(Some((parameter, element, step))).losses[0];
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let want = gradient[element];
            let apart = (difference - want).abs();
            let name = PARAMETERS[parameter];
            assert!(apart <= 1e-4, "{name}[{element}]: {want} against {difference}");
        }
    }
}

/// A host on which one element of one parameter begins elsewhere.
struct Nudged<'a, M> {
    model: &'a Perceptron,
    nudge: Option<(usize, usize, f64)>,
    host: M,
}

impl<M: Machine> Machine for Nudged<'_, M> {
    type Error = M::Error;

    fn set(&mut self, tensor: TensorId, values: &[f64]) {
        let mut values = values.to_vec();
        if let Some((parameter, element, by)) = self.nudge
            && self.model.parameters[parameter].tensor == tensor
        {
            values[element] += by;
        }
        self.host.set(tensor, &values);
    }

    fn step(
        &mut self,
        inputs: &[(TensorId, &[f64])],
        wanted: &[TensorId],
    ) -> Result<Vec<Vec<f64>>, M::Error> {
        self.host.step(inputs, wanted)
    }
}

/// A relu that forgets to write: what the step before left must not pass for its result.
static FORGETFUL: Variant = Variant::forward("forgetful", |_, _| Ok(Plan::empty()));

#[test]
fn a_result_that_nobody_wrote_is_noticed_in_every_step() {
    let mut tape = Tape::default();
    let x = tape.declare("x", Dtype::F32, &[5], Life::Input);
    let y = tape.push(&ops::relu::OP, &[5], &[], &[x], "y")[0];
    let relu = ways(&tape, &[]);
    let input = [-1.0, 0.5, 2.0, -3.0, 4.0];
    on_every_device(|session| {
        let mut right = OnDevice::new(session, &tape, relu.clone()).expect("a tape");
        let got = right.step(&[(x, &input)], &[y]).expect("a step");
        assert_eq!(got, [[0.0, 0.5, 2.0, 0.0, 4.0]]);
        assert!(right.close().0.is_empty());

        let forgets = vec![Way::Kernels(&FORGETFUL)];
        let mut wrong = OnDevice::new(session, &tape, forgets).expect("a tape");
        for _ in 0..2 {
            wrong.step(&[(x, &input)], &[y]).expect("a step");
        }
        let findings = wrong.close().0;
        let found: Vec<_> = findings.iter().map(|f| (f.kind, f.buffer.as_str(), f.count)).collect();
        assert_eq!(found, [(FindingKind::Unwritten, "y", 5); 2]);
    });
}

fn vklab(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vklab"));
    command.args(["train", "digits", "--hidden=16", "--steps=3", "--host-runs=2", "--seed=1"]);
    command.args(arguments).output().expect("the lab runs")
}

#[test]
fn the_command_prints_every_step_and_the_outcome_as_json() {
    let output = vklab(&["--json", "--optimizer=sgd"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Json> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let devices = choose(&[], Validation::Off).expect("a device that executes").len();
    assert_eq!(lines.iter().filter(|line| line["step"].is_u64()).count(), 3 * devices);
    let ends: Vec<&Json> = lines.iter().filter(|line| line["held_out"] == 359).collect();
    assert_eq!(ends.len(), devices);
    assert!(ends.iter().all(|end| end["clean"] == true && end["optimizer"] == "sgd"));
}

#[test]
fn a_planted_fault_is_a_finding_and_exit_code_1() {
    let output = vklab(&["--json", "--optimizer=sgd", "--scale-gradient=w1=1.01"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().any(|line| line.contains("\"kind\":\"loss-curve\"")), "{text}");
}

#[test]
fn what_does_not_exist_is_refused_with_its_neighbours() {
    for (argument, near) in [
        ("--swap=matmull=naive", "nearest: matmul"),
        ("--swap=matmul=tild", "nearest: tiled"),
        ("--swap=matmul.vjp=tiled", "but vjp_naive, vjp_tiled, reference"),
        ("--swap=matmul.back=naive", "neither forward nor vjp"),
        ("--swap=softmax=naive", "it uses adamw, bias_add, cross_entropy, matmul, mean, relu, sgd"),
        ("--swap=relu", "expected OP=VARIANT"),
        ("--scale-gradient=w3=2", "nearest: w1"),
        ("--batch=1439", "there are 1438 images"),
        ("--device=vk:nothing like it", "no device matches"),
    ] {
        let output = vklab(&[argument]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{argument}: {message}");
        assert!(message.contains(near), "{argument}: {message}");
        assert!(output.stdout.is_empty(), "{argument}");
    }
}
