//! `vklab train`.

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::memory::{LedgerOptions, MemoryFinding};
use crate::model::{
    ALLOWED_SPREADS, CLASSES, Digits, Optimizer, PARAMETERS, PIXELS, Perceptron, Recipe, Report,
    ScaledGradient, Swap, Truth, check_swaps, train_on_device,
};
use crate::ops::nearest;
use crate::worker::{Choice, choose, open_session};

use super::args::{LockName, Seconds, validation};
use super::check::{progress, say_instead};
use super::lock::lock;
use super::{CliError, Ending};

#[derive(Args, Debug)]
pub(super) struct TrainOptions {
    /// What to train.
    model: ModelName,
    /// `vk:` with a part of a name or driver, `soft`, or `all`; every Vulkan device if not given.
    #[arg(long, value_name = "DEVICE")]
    device: Vec<String>,
    /// Turn the Khronos validation layer's messages into findings.
    #[arg(long)]
    validate: bool,
    /// Seconds that one submission may take.
    #[arg(long, default_value = "30")]
    timeout: Seconds,
    /// Wait until no other process has locked the device.
    #[arg(long, default_value = "auto")]
    lock: LockName,
    /// How parameters move.
    #[arg(long, default_value = "both")]
    optimizer: OptimizerName,
    /// Number of steps.
    #[arg(long, default_value_t = 450, value_parser = positive)]
    steps: usize,
    /// Passes through the training images instead of a number of steps.
    #[arg(long, conflicts_with = "steps", value_parser = positive)]
    epochs: Option<usize>,
    /// Images in a batch.
    #[arg(long, default_value_t = 32, value_parser = positive)]
    batch: usize,
    /// Width of the hidden layer.
    #[arg(long, default_value_t = 64, value_parser = positive)]
    hidden: usize,
    /// Seed of initial parameters and batches; drawn and printed if not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Compute an op another way on the device: `OP=VARIANT`, `OP=reference`,
    /// `OP.forward=reference` or `OP.vjp=reference`. May be repeated.
    #[arg(long, value_name = "OP=VARIANT", value_delimiter = ',')]
    swap: Vec<String>,
    /// Plant a fault: multiply the gradient of w1, b1, w2 or b2 on the device.
    #[arg(long, value_name = "PARAMETER=FACTOR", value_parser = scaled_gradient)]
    scale_gradient: Option<ScaledGradient>,
    /// f32 runs on the host, in shuffled order of sums, that the loss curve is held against;
    /// 0 for none.
    #[arg(long, value_name = "RUNS", default_value_t = 8)]
    host_runs: usize,
    /// Print every so many steps.
    #[arg(long, value_name = "STEPS", default_value_t = 50, value_parser = positive)]
    every: usize,
    /// Print one JSON object a step, and one at the end of each training.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelName {
    /// A two-layer perceptron on the UCI optical digits.
    Digits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OptimizerName {
    Sgd,
    Adamw,
    Both,
}

impl OptimizerName {
    fn optimizers(self) -> Vec<Optimizer> {
        let all = [Optimizer::SGD, Optimizer::ADAMW];
        all.into_iter()
            .filter(|one| match (self, one) {
                (Self::Both, _) => true,
                (Self::Sgd, one) => matches!(one, Optimizer::Sgd { .. }),
                (Self::Adamw, one) => matches!(one, Optimizer::AdamW { .. }),
            })
            .collect()
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a positive whole number".to_owned()),
    }
}

fn scaled_gradient(text: &str) -> Result<ScaledGradient, String> {
    let (parameter, factor) = text.split_once('=').ok_or("expected PARAMETER=FACTOR")?;
    if !PARAMETERS.contains(&parameter) {
        let near = nearest(parameter, PARAMETERS.into_iter().map(str::to_owned));
        let near = if near.is_empty() { PARAMETERS.join(", ") } else { near.join(", ") };
        return Err(format!("no parameter is called `{parameter}`; nearest: {near}"));
    }
    let factor: f64 = factor.parse().map_err(|_| format!("`{factor}` is no number"))?;
    Ok(ScaledGradient { parameter: parameter.to_owned(), factor })
}

pub(super) fn train(options: &TrainOptions) -> Result<Ending, CliError> {
    let swaps = options.swap.iter().map(|s| Swap::parse(s)).collect::<Result<Vec<_>, _>>()?;
    let ModelName::Digits = options.model;
    let digits = Digits::embedded();
    let images = digits.training.len();
    if options.batch > images {
        let message = format!("--batch {}: there are {images} images", options.batch);
        return Err(CliError::Usage(message));
    }
    let chosen = choose(&options.device, validation(options.validate))?;
    say_instead(&chosen);
    let seed = options.seed.unwrap_or_else(rand::random);
    let steps = options.epochs.map_or(options.steps, |n| n * (images / options.batch));
    let recipe =
        |optimizer| Recipe { optimizer, hidden: options.hidden, batch: options.batch, steps, seed };
    let recipes: Vec<Recipe> = options.optimizer.optimizers().into_iter().map(recipe).collect();
    let models: Vec<Perceptron> = recipes.iter().map(|recipe| recipe.model(None)).collect();
    check_swaps(&swaps, &models.iter().map(|model| &model.tape).collect::<Vec<_>>())?;
    let bar = progress(recipes.len(), "references");
    let mut truths = Vec::new();
    for recipe in recipes {
        let truth = Truth::new(&recipe, &digits, options.host_runs);
        truths.push((recipe, truth));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut clean = true;
    for choice in &chosen {
        clean &= on_device(choice, options, &digits, &swaps, &truths)?;
    }
    if !options.json {
        println!("seed {seed}");
    }
    Ok(if clean { Ending::Clean } else { Ending::Findings })
}

/// Whether nothing was found.
fn on_device(
    choice: &Choice,
    options: &TrainOptions,
    digits: &Digits,
    swaps: &[Swap],
    truths: &[(Recipe, Truth)],
) -> Result<bool, CliError> {
    let _lock = lock(choice, options.lock)?;
    let device = &choice.info().name;
    let ledger = LedgerOptions { timeout: options.timeout.into(), ..LedgerOptions::default() };
    let mut session = open_session(choice, ledger)?;
    let say = Say { device, options, held_out: digits.held_out.len() };
    say.device(digits);
    let mut clean = true;
    for (recipe, truth) in truths {
        say.recipe(recipe);
        let report = train_on_device(
            &mut session,
            recipe,
            digits,
            truth,
            swaps,
            options.scale_gradient.as_ref(),
            &mut |step, loss| say.step(recipe, truth, step, loss),
        )?;
        say.report(recipe, truth, &report);
        clean &= report.is_clean();
    }
    let (counters, leaks) = session.into_ledger().close();
    if !options.json {
        println!(
            "ledger of {device}: {} allocations, {} frees, {} leaks, {} guard hits, \
             {} poison reads\n",
            counters.allocations,
            counters.frees,
            counters.leaks,
            counters.guard_hits,
            counters.poison_reads
        );
    }
    leaks.iter().for_each(|leak| say.memory(leak));
    Ok(clean && leaks.is_empty())
}

/// What is printed, as text or as JSON.
struct Say<'a> {
    device: &'a str,
    options: &'a TrainOptions,
    held_out: usize,
}

impl Say<'_> {
    fn device(&self, digits: &Digits) {
        if !self.options.json {
            let learned = digits.training.len();
            println!("digits on {}: {learned} images to learn from", self.device);
        }
    }

    fn recipe(&self, recipe: &Recipe) {
        if self.options.json {
            return;
        }
        println!(
            "\n{}, rate {}: {PIXELS} to {} to {CLASSES}, batches of {}, {} steps",
            recipe.optimizer.name(),
            recipe.optimizer.rate(),
            recipe.hidden,
            recipe.batch,
            recipe.steps
        );
        println!("{:>6} {:>12} {:>12}", "step", "loss", "from f64");
    }

    fn step(&self, recipe: &Recipe, truth: &Truth, step: usize, loss: f64) {
        let reference = truth.trained.losses[step - 1];
        if self.options.json {
            println!(
                "{}",
                json!({
                    "device": self.device, "optimizer": recipe.optimizer.name(), "step": step,
                    "loss": loss, "reference_loss": reference,
                })
            );
        } else if step == 1 || step == recipe.steps || step.is_multiple_of(self.options.every) {
            println!("{step:>6} {loss:>12.8} {:>12.1e}", loss - reference);
        }
    }

    fn report(&self, recipe: &Recipe, truth: &Truth, report: &Report) {
        if self.options.json {
            self.report_json(recipe, truth, report);
        } else {
            self.report_text(truth, report);
        }
        if let Some(departure) = report.departure {
            self.finding(
                "loss-curve",
                &format!(
                    "step {}: the loss is {:.1} spreads of {} f32 runs on the host away from \
                     them; {ALLOWED_SPREADS} are allowed",
                    departure.step, departure.distance, self.options.host_runs
                ),
            );
        }
        report.findings.iter().for_each(|finding| self.memory(finding));
        report.messages.iter().for_each(|message| self.finding("validation", message));
    }

    fn report_text(&self, truth: &Truth, report: &Report) {
        println!(
            "held out: {} of {} right, {:.1} %; by the f64 references {}",
            report.right,
            self.held_out,
            100.0 * report.right as f64 / self.held_out as f64,
            truth.right
        );
        println!(
            "loss curve from the f64 references: at most {:.1e}, in step {}; {:.1e} at the end",
            report.furthest.distance, report.furthest.step, report.last.distance
        );
        let parts: Vec<String> =
            report.gradients.iter().map(|(name, part)| format!("{name} {part:.1e}")).collect();
        println!("gradients of step 1 from the f64 references: {}", parts.join(", "));
        if let Some(spreads) = report.spreads {
            println!(
                "{} f32 runs with shuffled sums: at most {:.2} of their spread away, in step {}",
                self.options.host_runs, spreads.distance, spreads.step
            );
        }
    }

    fn report_json(&self, recipe: &Recipe, truth: &Truth, report: &Report) {
        let gradients: serde_json::Map<String, serde_json::Value> =
            report.gradients.iter().map(|(name, part)| ((*name).to_owned(), json!(part))).collect();
        println!(
            "{}",
            json!({
                "device": self.device, "optimizer": recipe.optimizer.name(),
                "rate": recipe.optimizer.rate(), "hidden": recipe.hidden, "batch": recipe.batch,
                "steps": recipe.steps, "seed": recipe.seed,
                "right": report.right, "reference_right": truth.right, "held_out": self.held_out,
                "furthest_from_reference": report.furthest.distance,
                "furthest_step": report.furthest.step,
                "last_from_reference": report.last.distance,
                "gradient_differences": gradients,
                "host_runs": self.options.host_runs,
                "spreads": report.spreads.map(|d| d.distance),
                "clean": report.is_clean(),
            })
        );
    }

    fn memory(&self, finding: &MemoryFinding) {
        if self.options.json {
            self.finding(&finding.kind.to_string(), &finding.message);
        } else {
            println!("{finding}");
        }
    }

    fn finding(&self, kind: &str, message: &str) {
        if self.options.json {
            println!(
                "{}",
                json!({
                    "kind": kind, "file": null, "line": null, "other_line": null,
                    "message": message, "device": self.device,
                })
            );
        } else {
            println!("{kind}: {message}");
        }
    }
}
