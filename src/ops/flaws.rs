//! What every record must hold to, whatever the op: asked without a device.

use super::{Case, Cases, Op, Pass};
use crate::numeric::{Domain, Regime, Stream};

/// What is wrong with a record; nothing, as a rule.
#[must_use]
pub fn flaws(op: &Op) -> Vec<String> {
    let mut found = names(op);
    found.extend(example(op));
    found.extend(shapes(op));
    found
}

fn names(op: &Op) -> Vec<String> {
    let misnamed =
        op.variants.iter().filter(|v| v.name.starts_with("vjp_") != (v.pass == Pass::Vjp));
    let said = |name| format!("variant `{name}`: VJP variants, and no others, are called vjp_*");
    misnamed.map(|variant| said(variant.name)).collect()
}

/// The hand-worked example against the reference.
fn example(op: &Op) -> Option<String> {
    let example = &op.example;
    let case = Case {
        dims: example.dims.to_vec(),
        attributes: example.attributes.to_vec(),
        dtype: op.dtypes[0],
        regime: Regime::Normal,
        seed: 0,
        storage: Vec::new(),
    };
    let problem = case.problem(op);
    let read = problem.inputs().count();
    let given = [example.dims.len(), example.attributes.len(), example.inputs.len()];
    if given != [op.dims.len(), op.attributes.len(), read] {
        return Some("the example's dimensions, attributes or inputs are not the record's".into());
    }
    let inputs: Vec<Vec<f64>> = example.inputs.iter().map(|x| x.to_vec()).collect();
    let got = op.reference.forward(&problem, &inputs);
    let close = |got: &Vec<f64>, want: &&[f64]| {
        got.len() == want.len() && got.iter().zip(*want).all(|(g, w)| (g - w).abs() <= 1e-6)
    };
    let agrees = got.len() == example.outputs.len()
        && got.iter().zip(example.outputs).all(|(got, want)| close(got, want));
    (!agrees).then(|| format!("the reference says {got:?}, the example {:?}", example.outputs))
}

/// What the reference returns against the shapes of the operands.
fn shapes(op: &Op) -> Option<String> {
    Case::generate(op, Cases::Quick, &[Regime::Normal], 1).iter().find_map(|case| {
        let problem = case.problem(op);
        let outputs = op.reference.forward(&problem, &draw(op, case));
        let written: Vec<_> = problem.outputs().collect();
        if outputs.len() != written.len() {
            let (got, want) = (outputs.len(), written.len());
            return Some(format!("the reference returns {got} outputs, the record has {want}"));
        }
        written.iter().zip(&outputs).find_map(|(operand, values)| {
            let (got, shape) = (values.len(), (operand.shape)(&problem));
            let fits = got == shape.iter().product::<usize>();
            let (name, id) = (operand.name, case.id(op));
            (!fits).then(|| format!("{name} has shape {shape:?} and {got} elements at {id}"))
        })
    })
}

/// Inputs of a case.
pub(super) fn draw(op: &Op, case: &Case) -> Vec<Vec<f64>> {
    let problem = case.problem(op);
    problem
        .inputs()
        .map(|operand| {
            let len = (operand.shape)(&problem).iter().product();
            let mut stream = Stream::new(case.seed, &[op.name, operand.name]);
            // An empty index range only occurs where there is nothing to draw.
            match (operand.domain)(&problem) {
                Domain::Index { below: 0 } => Vec::new(),
                domain => case.regime.draw(domain, len, &mut stream),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::flaws;
    use crate::ops::{ALL, Example, Op, Operand, Variant, add};

    #[test]
    fn the_labs_records_have_none() {
        for op in ALL {
            assert!(flaws(op).is_empty(), "{}: {:?}", op.name, flaws(op));
        }
    }

    #[test]
    fn each_flaw_is_told() {
        const MISNAMED: &[Variant] = &[Variant { name: "backward", ..add::OP.variants[2] }];
        let misnamed = Op { variants: MISNAMED, ..add::OP };
        assert!(flaws(&misnamed)[0].contains("`backward`"));
        let wrong = Example { outputs: &[&[0.0; 6]], ..add::OP.example };
        assert!(flaws(&Op { example: wrong, ..add::OP })[0].contains("the example"));
        let short = Operand { shape: |_| vec![1], ..add::OP.operands[2] };
        let (a, b) = (add::OP.operands[0], add::OP.operands[1]);
        let operands = vec![a, b, short].leak();
        assert!(flaws(&Op { operands, ..add::OP })[0].contains("y has shape [1]"));
    }
}
