//! Executes the blocks of a part.

use crate::device::Hazard;
use crate::soft::alu::widest;
use crate::soft::error::SoftError;
use crate::soft::findings::Party;
use crate::soft::groups;
use crate::soft::observer::{Moment, Observer};
use crate::soft::program::{
    BlockId, Code, End, Group, Inactive, Index, Instr, Kernel, NOWHERE, OUTSIDE, PlaceId, Pure,
    Scope, Slot, Wide,
};
use crate::soft::registers::{Active, Registers};

use super::World;
use super::part::{Fuel, Part, State, Suspect};
use super::workgroup::Workgroup;

/// States that are looked at before a part is given the benefit of the doubt.
const LIMIT_VISITS: u32 = 1 << 8;

/// How a block was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    AtBarrier,
    /// With the block that follows, if all go there and nobody waits elsewhere before.
    To(Option<BlockId>),
}

impl Workgroup {
    /// Runs a part until it is done, in front of a barrier, or out of its slice.
    pub(super) fn run_part(
        &mut self,
        world: &mut World<'_>,
        at: usize,
        fuel: &mut Fuel,
    ) -> Result<(), SoftError> {
        // The part is out of the workgroup while it runs, so that both can be written.
        let placeholder = Part::new(0..0, 0, 0);
        let mut part = std::mem::replace(&mut self.parts[at], placeholder);
        let result = self.run_blocks(world, &mut part, fuel);
        self.parts[at] = part;
        result
    }

    fn run_blocks(
        &mut self,
        world: &mut World<'_>,
        part: &mut Part,
        fuel: &mut Fuel,
    ) -> Result<(), SoftError> {
        let program = world.program;
        let mut next: Option<BlockId> = None;
        loop {
            let (block, first) = match part.resume.take() {
                Some(resumed) => resumed,
                None => {
                    let follows = next.take();
                    let Some(block) = follows.or_else(|| self.first_block(world, part)) else {
                        return Ok(());
                    };
                    let cost = program.blocks[block as usize].instrs.len() as u64 + 1;
                    if !fuel.take(cost) {
                        if follows.is_some() {
                            self.arrive_all(world, part, block);
                        }
                        part.pause(world.changes);
                        return Ok(());
                    }
                    if follows.is_none() {
                        part.take();
                    }
                    (block, 0)
                }
            };
            match self.run_block(world, part, block, first)? {
                Left::AtBarrier => return Ok(()),
                Left::To(follows) => next = follows,
            }
        }
    }

    /// The first block that anybody waits at; none if nobody does, or all go round in a circle.
    fn first_block(&self, world: &World<'_>, part: &mut Part) -> Option<BlockId> {
        let Some((rank, _)) = part.first_waiting() else {
            part.state = State::Done;
            return None;
        };
        if part.suspect.is_some() && self.comes_back(world, part, rank) {
            return None;
        }
        Some(world.by_rank[rank as usize])
    }

    /// All active invocations come to wait at a block.
    fn arrive_all(&mut self, world: &World<'_>, part: &mut Part, block: BlockId) {
        let mut bits = std::mem::take(&mut self.bits[0]);
        bits.copy_from_slice(part.active.bits());
        part.arrive(world.ranks[block as usize], &bits);
        self.bits[0] = bits;
    }

    /// All active invocations go to a block: at once if nobody waits at one before it.
    fn proceed(&mut self, world: &World<'_>, part: &mut Part, to: BlockId) -> Option<BlockId> {
        if part.suspect.is_none() && part.is_before_others(world.ranks[to as usize]) {
            return Some(to);
        }
        self.arrive_all(world, part, to);
        None
    }

    /// Whether a part that is under suspicion is where it was, with all that it held, while memory
    /// was what it is.
    fn comes_back(&self, world: &World<'_>, part: &mut Part, rank: u32) -> bool {
        let Some(mut suspect) = part.suspect else { return false };
        let is_first = suspect.visits == 0;
        if !is_first && suspect.changes == world.changes && suspect.rank != rank {
            return false;
        }
        if suspect.visits > LIMIT_VISITS || (!is_first && suspect.changes != world.changes) {
            part.suspect = None;
            return false;
        }
        let state = self.registers.digest(part.active.lanes()) ^ part.digest();
        let is_back = !is_first && suspect.state == state;
        suspect.visits += 1;
        if suspect.visits.is_power_of_two() {
            suspect = Suspect { rank, state, changes: world.changes, ..suspect };
        }
        part.suspect = Some(Suspect { is_looping: is_back, ..suspect });
        is_back
    }

    /// Runs a block from an instruction on.
    fn run_block(
        &mut self,
        world: &mut World<'_>,
        part: &mut Part,
        block: BlockId,
        first: usize,
    ) -> Result<Left, SoftError> {
        let program = world.program;
        let code = &program.blocks[block as usize];
        self.block = block;
        if first == 0 {
            let lanes = part.active.count() as u64;
            world.lane_instructions += lanes * (code.instrs.len() as u64 + 1);
            if let Some(lanes_of) = &mut world.profile {
                lanes_of[block as usize] += lanes;
            }
        }
        for (offset, instr) in code.instrs[first..].iter().enumerate() {
            match instr.code {
                Code::Barrier { execution, memory, semantics } if execution > Scope::Subgroup => {
                    let next = first + offset + 1;
                    part.state = State::AtBarrier { block, next, at: instr.at, memory, semantics };
                    return Ok(Left::AtBarrier);
                }
                _ => self.execute(world, &part.active, instr)?,
            }
        }
        self.last = code.end_place;
        Ok(Left::To(self.leave(world, part, block)))
    }

    /// Sends the active invocations to where the block's end says, and says which block follows if
    /// that is known already.
    fn leave(&mut self, world: &mut World<'_>, part: &mut Part, block: BlockId) -> Option<BlockId> {
        let program = world.program;
        let code = &program.blocks[block as usize];
        match &code.end {
            End::Return | End::Unreachable => {}
            End::Jump(to) => return self.proceed(world, part, *to),
            End::Branch { condition, yes, no } => {
                self.watch(world, &part.active, code.end_place, |observer, moment| {
                    observer.branch(moment, *condition);
                });
                let [mut taken, mut left] = std::mem::take(&mut self.bits);
                split(self.registers.get(*condition), &part.active, &mut taken, &mut left);
                let is_none = |bits: &[u64]| bits.iter().all(|word| *word == 0);
                let one_way = match (is_none(&taken), is_none(&left)) {
                    (false, true) => Some(*yes),
                    (true, false) => Some(*no),
                    _ => {
                        part.active.iter().for_each(|lane| self.parted[lane] = code.end_place);
                        part.arrive(world.ranks[*yes as usize], &taken);
                        part.arrive(world.ranks[*no as usize], &left);
                        None
                    }
                };
                self.bits = [taken, left];
                return one_way.and_then(|to| self.proceed(world, part, to));
            }
            End::Switch { selector, wide, cases, default } => {
                self.watch(world, &part.active, code.end_place, |observer, moment| {
                    observer.branch(moment, *selector);
                });
                let [mut taken, mut left] = std::mem::take(&mut self.bits);
                left.copy_from_slice(part.active.bits());
                let low = self.registers.get(*selector);
                let high = wide.then(|| self.registers.get(selector + 1));
                for (value, to) in cases {
                    taken.fill(0);
                    for lane in part.active.iter() {
                        let high = high.map_or(0, |high| u64::from(high[lane]));
                        let own = u64::from(low[lane]) | high << 32;
                        if own == *value && left[lane / 64] >> (lane % 64) & 1 == 1 {
                            taken[lane / 64] |= 1 << (lane % 64);
                            left[lane / 64] &= !(1 << (lane % 64));
                        }
                    }
                    part.arrive(world.ranks[*to as usize], &taken);
                }
                if *left != *part.active.bits() {
                    part.active.iter().for_each(|lane| self.parted[lane] = code.end_place);
                }
                part.arrive(world.ranks[*default as usize], &left);
                self.bits = [taken, left];
            }
        }
        None
    }

    fn execute(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        instr: &Instr,
    ) -> Result<(), SoftError> {
        let at = instr.at;
        match &instr.code {
            Code::Pure(pure) => {
                compute(&mut self.registers, pure, active);
                self.follow(world, active, at, |observer, moment| observer.pure(moment, pure));
            }
            Code::Copy { dst, src, inactive } => {
                copy(&mut self.registers, *dst, *src, *inactive, active);
                self.follow(world, active, at, |observer, moment| {
                    observer.copy(moment, *dst, *src, *inactive);
                });
            }
            Code::Undefine { dst } => {
                self.follow(world, active, at, |observer, moment| observer.undefine(moment, *dst));
            }
            Code::Index(index) => {
                step(&mut self.registers, index, active);
                self.follow(world, active, at, |observer, moment| observer.index(moment, index));
            }
            Code::LoadIndexed { dst, base, offset } => {
                self.load_indexed(world, active, at, (*dst, *base, *offset));
            }
            Code::StoreIndexed { base, offset, src } => {
                self.store_indexed(world, active, at, (*base, *offset, *src));
            }
            Code::Load(access) => self.load(world, active, at, access),
            Code::Store(access) => self.store(world, active, at, access),
            Code::Atomic(atomic) => self.atomic(world, active, at, atomic),
            Code::Length { dst, buffer, before, stride } => {
                let len = world.request.views.get(*buffer as usize).map_or(0, |view| view.len);
                let count = len.saturating_sub(*before) / stride;
                self.registers.get_mut(*dst).fill(count);
                self.follow(world, active, at, |observer, moment| observer.constant(moment, *dst));
            }
            Code::Group(group) => self.group(world, active, at, group),
            Code::Barrier { memory, semantics, .. } => {
                let (memory, semantics) = (*memory, *semantics);
                self.watch(world, active, at, |observer, moment| {
                    observer.barrier(moment, Scope::Subgroup, memory, semantics);
                });
            }
            Code::Fence { scope, semantics } => {
                self.watch(world, active, at, |observer, moment| {
                    observer.fence(moment, *scope, *semantics);
                });
            }
            Code::Matrix(matrix) => self.matrix(world, active, at, matrix),
        }
        Ok(())
    }

    /// Tells every observer.
    pub(super) fn watch(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        mut tell: impl FnMut(&mut dyn Observer, &mut Moment<'_>),
    ) {
        for observer in &mut world.observers.0 {
            let mut moment = Moment {
                program: world.program,
                at,
                registers: &mut self.registers,
                memory: world.memory,
                active,
                here: self.here,
                findings: world.findings,
            };
            tell(observer.as_mut(), &mut moment);
        }
    }

    /// Tells those that follow values.
    #[inline]
    pub(super) fn follow(
        &mut self,
        world: &mut World<'_>,
        active: &Active,
        at: PlaceId,
        mut tell: impl FnMut(&mut dyn Observer, &mut Moment<'_>),
    ) {
        if world.follows_values {
            self.watch(world, active, at, |observer, moment| {
                if observer.follows_values() {
                    tell(observer, moment);
                }
            });
        }
    }

    fn group(&mut self, world: &mut World<'_>, active: &Active, at: PlaceId, group: &Group) {
        let size = self.here.subgroup_size;
        let mut wrong: Option<(usize, usize)> = None;
        groups::run(group, &mut self.registers, active, size, &mut |reader, source| {
            wrong.get_or_insert((reader, source));
        });
        if let Some((reader, source)) = wrong {
            let workgroup = self.here.workgroup;
            let party = Party {
                what: "reads from an invocation that isn't there",
                at,
                invocation: Some((workgroup, reader)),
            };
            world.findings.report(world.program, Hazard::Divergence, party, None, None, || {
                let source = match source {
                    groups::ABSENT => "an invocation beyond the subgroup".to_owned(),
                    source => format!("invocation {source}, which isn't active"),
                };
                format!(
                    "invocation {reader} of workgroup {workgroup:?} reads a value from {source};                      subgroups have {size} invocations"
                )
            });
        }
        self.watch(world, active, at, |observer, moment| observer.group(moment, group));
    }
}

/// Divides the active invocations by a condition.
fn split(condition: &[u32], active: &Active, taken: &mut [u64], left: &mut [u64]) {
    // Mostly all go the same way.
    let column = condition[active.lanes()].iter().zip(active.words());
    let (any, all) =
        column.fold((0, u32::MAX), |(any, all), (word, on)| (any | word & on, all & (word | !on)));
    if any & 1 == 0 || all & 1 == 1 {
        let (some, none) = if any & 1 == 0 { (left, taken) } else { (taken, left) };
        some.copy_from_slice(active.bits());
        none.fill(0);
        return;
    }
    for (at, (taken, left)) in taken.iter_mut().zip(left.iter_mut()).enumerate() {
        let bits = active.bits()[at];
        let column =
            &condition[(at * 64).min(condition.len())..((at + 1) * 64).min(condition.len())];
        let mut yes = 0_u64;
        if bits != 0 {
            for (bit, word) in column.iter().enumerate() {
                yes |= u64::from(*word & 1) << bit;
            }
        }
        *taken = bits & yes;
        *left = bits & !yes;
    }
}

fn compute(registers: &mut Registers, pure: &Pure, active: &Active) {
    let lanes = active.lanes();
    let mut dst = registers.take(pure.dst);
    let column = |slot: Slot| &registers.get(slot)[lanes.clone()];
    let [a, b, c, d] = pure.src;
    let out = &mut dst[lanes.clone()];
    match pure.kernel {
        Kernel::One(f) => f(out, column(a)),
        Kernel::Two(f) => f(out, column(a), column(b)),
        Kernel::Three(f) => f(out, column(a), column(b), column(c)),
        Kernel::Four(f) => f(out, [column(a), column(b), column(c), column(d)]),
        Kernel::Wide(f) => {
            let mut high = match pure.to.words() {
                2 => registers.take(pure.dst + 1),
                _ => Vec::new(),
            };
            let column = |slot: Slot| &registers.get(slot)[lanes.clone()];
            let arity = usize::from(pure.arity);
            let words = |at: usize| pure.operand_words(at);
            let empty: &[u32] = &[];
            let src = [0, 1, 2, 3].map(|at| match (at < arity, words(at)) {
                (false, _) => [empty, empty],
                (true, 1) => [column(pure.src[at]), empty],
                (true, _) => [column(pure.src[at]), column(pure.src[at] + 1)],
            });
            let high_out: &mut [u32] =
                if high.is_empty() { &mut [] } else { &mut high[lanes.clone()] };
            f(Wide { out: [out, high_out], src });
            if !high.is_empty() {
                registers.put(pure.dst + 1, high);
            }
        }
    }
    registers.put(pure.dst, dst);
}

fn copy(registers: &mut Registers, dst: Slot, src: Slot, inactive: Inactive, active: &Active) {
    if dst == src {
        return;
    }
    let lanes = active.lanes();
    let mut to = registers.take(dst);
    let from = &registers.get(src)[lanes.clone()];
    let out = &mut to[lanes];
    if inactive == Inactive::Clobber || active.is_full() {
        out.copy_from_slice(from);
    } else {
        for ((out, from), mask) in out.iter_mut().zip(from).zip(active.words()) {
            *out = *from & mask | *out & !mask;
        }
    }
    registers.put(dst, to);
}

fn step(registers: &mut Registers, index: &Index, active: &Active) {
    let lanes = active.lanes();
    let mut dst = registers.take(index.dst);
    let column = |slot: Slot| &registers.get(slot)[lanes.clone()];
    let out = &mut dst[lanes.clone()];
    let (low, limit, stride, beyond) =
        (column(index.index), index.limit, index.stride, index.beyond);
    let before = index.before.map(column);
    let high = index.wide.then(|| column(index.index + 1));
    widest(
        #[inline(always)]
        || match (before, high) {
            (None, None) => {
                for (out, at) in out.iter_mut().zip(low) {
                    *out = if *at < limit { at.wrapping_mul(stride) } else { beyond };
                }
            }
            (before, high) => {
                for (lane, (out, at)) in out.iter_mut().zip(low).enumerate() {
                    let is_inside = *at < limit && high.is_none_or(|high| high[lane] == 0);
                    let moved = if is_inside { at.wrapping_mul(stride) } else { beyond };
                    *out = joined(before.map_or(0, |before| before[lane]), moved);
                }
            }
        },
    );
    registers.put(index.dst, dst);
}

/// The sum of two offsets; one that lies nowhere stays there.
#[inline(always)]
fn joined(a: u32, b: u32) -> u32 {
    match (a, b) {
        (NOWHERE, _) | (_, NOWHERE) => NOWHERE,
        _ => match a.checked_add(b) {
            Some(sum) if sum < NOWHERE => sum,
            _ => OUTSIDE,
        },
    }
}
