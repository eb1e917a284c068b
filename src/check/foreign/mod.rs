//! Kernel files under the checks: of an op of a registry, beside a naive twin, or alone.

mod exact;
mod given;
mod mapping;
mod own;
mod shown;

use crate::kernel_file::{Instance, KernelFile, KernelFileError, Point, Truth};
use crate::numeric::Regime;
use crate::ops::{Cases, Op, Pass, Registry, nearest, suggested};

use self::given::Given;
pub(super) use self::given::usual;
pub use self::own::Own;
use super::question::Question;
use super::suite::{Circumstances, answered, ask, plainly, reduced, regimes, repeat};
use super::{Check, CheckError, Effort, Kind, Outcome, Session, Subject, blame, shell_word};

/// A kernel file with the op that it computes, where it names one.
pub struct Foreign {
    file: KernelFile,
    op: Option<&'static Op>,
    /// The arguments that stand for a file which isn't on disk.
    asked: Option<String>,
}

/// One case of a kernel file.
#[derive(Clone, Debug, PartialEq)]
struct FileCase {
    point: Point,
    /// Only where an op draws the data.
    regime: Option<Regime>,
    seed: u64,
}

/// Combinations that the quick cases take whole; of more, they vary one axis at a time.
const QUICK_POINTS: usize = 64;

/// Combinations times kinds of data that are run in full; of more, the first and the last combination
/// see every kind.
const MOST_IN_FULL: usize = 256;

impl Foreign {
    /// A file with the op that its truth names.
    ///
    /// # Errors
    /// An op that nobody knows, operands that don't fit it; what its first case says of the file.
    pub fn new(file: KernelFile, registry: &Registry) -> Result<Self, CheckError> {
        let mut foreign = Self { file, op: None, asked: None };
        let first = foreign.first()?;
        if let Some(shifted) =
            first.buffers.iter().find(|b| b.alias.is_some() && b.offset_bytes.is_some())
        {
            let name = &shifted.name;
            return Err(
                foreign.fault(format!("`{name}` shares memory, so it can't have an offset"))
            );
        }
        if let Truth::Op(truth) = &first.truth {
            foreign.op = Some(registry.find_op(&truth.op).ok_or_else(|| {
                let names = registry.ops().iter().map(|op| op.name.to_owned());
                let near = nearest(&truth.op, names);
                foreign.fault(format!("no op is called `{}`{}", truth.op, suggested(&near)))
            })?);
            own::view(&foreign, &first, &foreign.any_case())?;
        }
        Ok(foreign)
    }

    /// A file that isn't on disk: the arguments of `vklab check` that stand for it, as one writes
    /// them in a shell.
    #[must_use]
    pub fn asked_as(self, arguments: String) -> Self {
        Self { asked: Some(arguments), ..self }
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> &KernelFile {
        &self.file
    }

    /// Whether a check has something to ask of it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn applies(&self, check: Check) -> Result<bool, CheckError> {
        let first = self.first()?;
        let pass = match &first.truth {
            Truth::Op(truth) => Some(truth.pass),
            Truth::None | Truth::Kernel(_) => None,
        };
        let is_twin = matches!(first.truth, Truth::Kernel(_));
        let expects =
            first.buffers.iter().any(|b| b.expect.as_ref().is_some_and(|e| e.want.is_some()));
        let has_algebra = self.op.is_some_and(|op| !op.properties.is_empty());
        Ok(match check {
            Check::Forward => pass == Some(Pass::Forward) || is_twin || expects,
            Check::Gradient => pass == Some(Pass::Vjp),
            Check::GradientExact => {
                pass == Some(Pass::Vjp) || (self.op.is_none() && !self.file.vjp().is_empty())
            }
            Check::Property => pass == Some(Pass::Forward) && has_algebra && own::is_exact(&first),
            Check::Alias => false,
            Check::Memory
            | Check::Determinism
            | Check::Portability
            | Check::Sanitize
            | Check::Limits => true,
        })
    }

    /// The ids of a check's cases.
    #[must_use]
    pub fn cases(&self, check: Check, size: Cases) -> Vec<String> {
        let mut points = self.file.points();
        if size == Cases::Quick && points.len() > QUICK_POINTS {
            let (first, last) = (points[0].clone(), points[points.len() - 1].clone());
            points.retain(|point| point.distance(&first) <= 1 || *point == last);
        }
        let case = |point: &Point, regime| FileCase { point: point.clone(), regime, seed: 0 };
        let mut cases: Vec<FileCase> = Vec::new();
        match self.op {
            None => cases.extend(points.iter().map(|point| case(point, None))),
            Some(op) => {
                let regimes = regimes(check, op);
                cases.extend(points.iter().map(|point| case(point, Some(regimes[0]))));
                // Shapes are often listed from the smallest on, and one element alone hides much.
                let ends = [0, points.len() - 1].map(|at| &points[at]);
                let all: Vec<&Point> = match points.len() * regimes.len() {
                    ..=MOST_IN_FULL => points.iter().collect(),
                    _ if points.len() > 1 => ends.to_vec(),
                    _ => vec![&points[0]],
                };
                let in_all = |point| regimes[1..].iter().map(move |r| case(point, Some(*r)));
                cases.extend(all.into_iter().flat_map(in_all));
            }
        }
        cases.iter().map(|case| self.id(case)).collect()
    }

    /// The id of a case as the file itself writes it.
    ///
    /// # Errors
    /// A case that the file doesn't have.
    pub fn canonical(&self, id: &str) -> Result<String, CheckError> {
        self.parse(id, 0).map(|case| self.id(&case))
    }

    /// Runs one check in one case. A failure is shrunk to the smallest case that fails among those
    /// of the file, unless less effort is wanted.
    ///
    /// # Errors
    /// What keeps the check from running and isn't a verdict of its own.
    pub fn run(
        &self,
        session: &mut Session,
        check: Check,
        case: &str,
        seed: u64,
        effort: Effort,
    ) -> Result<Outcome, CheckError> {
        let case = self.parse(case, seed)?;
        let outcome = self.ask(session, check, &case)?;
        let output = session.output.take();
        let outcome = match outcome {
            Outcome::Fail { finding } if effort == Effort::Full => {
                let search = |case: &FileCase, fails: &mut dyn FnMut(&FileCase) -> bool| {
                    self.smallest(case, fails)
                };
                let (smallest, mut finding) =
                    reduced(session, &case, finding, search, |s, c| self.ask(s, check, c));
                if smallest != case {
                    finding.smallest = Some(self.id(&smallest));
                }
                self.blame(session, &smallest, &mut finding);
                self.name(&mut finding);
                let target = self.arguments();
                let id = self.id(&smallest);
                finding.repeat = repeat(session, &target, check, &id, seed, &finding);
                Outcome::Fail { finding }
            }
            outcome => outcome,
        };
        session.output = output;
        Ok(outcome)
    }

    fn ask(
        &self,
        session: &mut Session,
        check: Check,
        case: &FileCase,
    ) -> Result<Outcome, CheckError> {
        let instance = self.instance(case)?;
        // Before the data are made, which may be more than this machine can hold. Limits are asked
        // of devices that aren't there.
        if check != Check::Limits
            && let Some(reason) = given::unbindable(&instance, &session.info().limits)
        {
            return Ok(Outcome::Unsupported { reason });
        }
        match (self.op, &instance.truth) {
            (Some(op), Truth::Op(_)) => {
                let (own, case) = own::view(self, &instance, case)?;
                let variant = own.variant(self.file.order());
                ask(
                    session,
                    &Subject { own: Some(&own), ..Subject::new(op, &variant) },
                    check,
                    &case,
                )
            }
            _ => {
                let given = Given { foreign: self, instance: &instance, case };
                let (seed, subgroup_sizes) = (case.seed, given.subgroup_sizes());
                let circumstances =
                    Circumstances { seed, subgroup_sizes, promise: given.promise() };
                answered(session, &circumstances, |session| match check {
                    Check::GradientExact => exact::check(session, &given),
                    check => plainly(session, &given, check),
                })
            }
        }
    }

    fn blame(&self, session: &mut Session, case: &FileCase, finding: &mut super::Finding) {
        if finding.kind == Kind::LimitExceeded {
            return;
        }
        // The case has run, so it has an instance.
        let Ok(instance) = self.instance(case) else { return };
        let plan = match (self.op, &instance.truth) {
            (Some(_), Truth::Op(_)) => {
                own::view(self, &instance, case).map(|(own, _)| own.into_plan())
            }
            _ => Ok(instance.plan),
        };
        if let Ok(plan) = plan {
            blame::in_plan(session, &plan, None, finding);
        }
    }

    /// A finding speaks of operands; the file may call its buffers otherwise.
    fn name(&self, finding: &mut super::Finding) {
        let Some(operand) = finding.mismatch.as_ref().map(|m| &m.buffer) else { return };
        let Ok(Truth::Op(truth)) = self.first().map(|first| first.truth) else { return };
        // What differs is written, and `out` stands for the only output.
        let named = |wanted: &str| truth.map.iter().find(|(name, _)| name == wanted);
        let buffer = named(operand).or_else(|| named("out")).map(|(_, buffer)| buffer);
        if let Some(buffer) = buffer.filter(|buffer| *buffer != operand) {
            finding.message = format!("{} (`{operand}` is `{buffer}` here)", finding.message);
        }
    }

    /// Follows smaller neighbours as long as they fail.
    fn smallest(&self, case: &FileCase, fails: &mut dyn FnMut(&FileCase) -> bool) -> FileCase {
        let mut smallest = case.clone();
        loop {
            let candidates = self.file.shrunk(&smallest.point).into_iter();
            let candidates = candidates.map(|point| FileCase { point, ..smallest.clone() });
            match candidates.into_iter().find(|candidate| fails(candidate)) {
                Some(smaller) => smallest = smaller,
                None => return smallest,
            }
        }
    }

    fn id(&self, case: &FileCase) -> String {
        let point = self.file.id(&case.point);
        case.regime.map_or_else(|| point.clone(), |regime| format!("{point}/{regime}"))
    }

    fn parse(&self, id: &str, seed: u64) -> Result<FileCase, CheckError> {
        let Some(op) = self.op else {
            return Ok(FileCase { point: self.file.point(id)?, regime: None, seed });
        };
        let (point, name) = id.rsplit_once('/').unwrap_or((id, Regime::Normal.name()));
        let mut known = regimes(Check::Forward, op).into_iter();
        let regime = known.find(|regime| regime.name() == name);
        let regime = regime.ok_or_else(|| self.fault(format!("`{name}` is no regime")))?;
        Ok(FileCase { point: self.file.point(point)?, regime: Some(regime), seed })
    }

    /// What names it in a command.
    fn arguments(&self) -> String {
        let path = || shell_word(&self.file.path().display().to_string());
        self.asked.clone().unwrap_or_else(path)
    }

    /// The file in which buffers have their lines.
    fn shown(&self) -> String {
        let path = self.file.path().display();
        if self.asked.is_some() { format!("{path} --as-file") } else { path.to_string() }
    }

    fn first(&self) -> Result<Instance, KernelFileError> {
        self.file.instance(&self.file.first_point())
    }

    fn any_case(&self) -> FileCase {
        FileCase { point: self.file.first_point(), regime: Some(Regime::Normal), seed: 0 }
    }

    fn instance(&self, case: &FileCase) -> Result<Instance, KernelFileError> {
        self.file.instance(&case.point)
    }

    fn fault(&self, what: String) -> CheckError {
        CheckError::Interface { kernel: self.file.path().display().to_string(), what }
    }
}
