//! Calibration: how far a device's builtins are from exact, on 2^20 points each.

use crate::kernel;
use crate::memory::Poison;
use crate::numeric::{Builtin, ErrorModel, Stream};
use crate::ops::{Dispatch, Plan, Target};
use crate::tensor::{Dtype, Tensor};

use super::execute::{Setting, Slot, run_plan};
use super::{CheckError, Session};

/// Points per builtin.
const POINTS: usize = 1 << 20;

/// Measures every builtin against f64 and returns the model that checks use on this device.
///
/// # Errors
/// A builtin outside the specification, or what keeps the kernels from running.
pub fn calibrate(session: &mut Session) -> Result<ErrorModel, CheckError> {
    let mut observed = [0.0; Builtin::ALL.len()];
    for (builtin, worst) in Builtin::ALL.into_iter().zip(&mut observed) {
        let (fraction, x) = measure(session, builtin)?;
        if !(fraction <= 1.0) {
            let device = session.info().name.clone();
            return Err(CheckError::Calibration { device, builtin: builtin.name(), fraction, x });
        }
        *worst = fraction;
    }
    Ok(ErrorModel::calibrated(observed))
}

fn measure(session: &mut Session, builtin: Builtin) -> Result<(f64, f64), CheckError> {
    let points = draw(builtin);
    let divisors: Vec<f64> = {
        let mut stream = Stream::new(0, &["calibrate", "divisor"]);
        points.iter().map(|_| signed_exponential(&mut stream, 20.0)).collect()
    };
    let x = Tensor::new(Dtype::F32, &[POINTS], &points);
    let x2 = Tensor::new(Dtype::F32, &[POINTS], &divisors);
    let slots =
        [Slot::input("x", &x), Slot::input("x2", &x2), Slot::output("y", Dtype::F32, vec![POINTS])];
    let limits = session.info().limits;
    let target = Target { limits: &limits, workgroup: 64 };
    let dispatch = Dispatch::new(kernel!("calibrate/builtins.comp"))
        .define("FUNCTION", function(builtin))
        .invocations(POINTS, &target)
        .push("len", POINTS);
    let setting = Setting {
        workgroup: 64,
        poison: Poison::Nan,
        offset_steps: 0,
        alias: None,
        subgroup_size: None,
    };
    let executed = run_plan(session, &Plan::one(dispatch), &slots, &setting)?;
    let got = executed.written["y"].values();
    let (mut worst, mut at) = (0.0, 0.0);
    for ((x, x2), got) in x.values().into_iter().zip(x2.values()).zip(got) {
        let want = exact(builtin, x, x2);
        if want.abs() < f64::from(f32::MIN_POSITIVE) || want.abs() > f64::from(f32::MAX) {
            continue;
        }
        let fraction = (got - want).abs() / builtin.spec(x, want);
        if !(fraction <= worst) {
            (worst, at) = (fraction, x);
        }
    }
    Ok((worst, at))
}

const fn function(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Div => "DIV",
        Builtin::Sqrt => "SQRT",
        Builtin::InverseSqrt => "INVERSESQRT",
        Builtin::Exp => "EXP",
        Builtin::Log => "LOG",
        Builtin::Tanh => "TANH",
    }
}

fn exact(builtin: Builtin, x: f64, x2: f64) -> f64 {
    match builtin {
        Builtin::Div => x / x2,
        Builtin::Sqrt => libm::sqrt(x),
        Builtin::InverseSqrt => 1.0 / libm::sqrt(x),
        Builtin::Exp => libm::exp(x),
        Builtin::Log => libm::log(x),
        Builtin::Tanh => libm::tanh(x),
    }
}

/// Arguments over the range that each function is used in, dense around where it is delicate.
fn draw(builtin: Builtin) -> Vec<f64> {
    let mut stream = Stream::new(0, &["calibrate", builtin.name()]);
    let mut point = |at: usize| match builtin {
        Builtin::Div => signed_exponential(&mut stream, 20.0),
        Builtin::Sqrt | Builtin::InverseSqrt => signed_exponential(&mut stream, 60.0).abs(),
        Builtin::Log if at.is_multiple_of(2) => stream.uniform(0.25, 4.0),
        Builtin::Log => signed_exponential(&mut stream, 80.0).abs(),
        Builtin::Exp if at.is_multiple_of(2) => stream.uniform(-2.0, 2.0),
        Builtin::Exp => stream.uniform(-87.0, 88.0),
        Builtin::Tanh if at.is_multiple_of(2) => stream.uniform(-1.0, 1.0),
        Builtin::Tanh => stream.uniform(-12.0, 12.0),
    };
    (0..POINTS).map(&mut point).collect()
}

/// `+-2^e` times a mantissa, the exponent uniform in `-range..range`.
fn signed_exponential(stream: &mut Stream, range: f64) -> f64 {
    let magnitude = libm::exp2(stream.uniform(-range, range));
    if stream.unit() < 0.5 { -magnitude } else { magnitude }
}
