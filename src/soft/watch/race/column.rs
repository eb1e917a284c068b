//! One instruction's way through the cells.

use super::cells::{Cell, Plural, Shadow, Trace, WHOLE, Who};
use super::order::{Meeting, Missing, Now, Order, Standing};

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clash {
    pub(super) lane: u32,
    pub(super) earlier: Trace,
    pub(super) missing: Missing,
}

/// A stamp that was met before in the column, and how it stands.
#[derive(Clone, Copy, Debug)]
struct Met {
    number: u32,
    standing: Standing,
}

/// The invocations of an instruction, one after the other.
pub(super) struct Column<'a> {
    order: &'a Order,
    now: Now,
    /// Stamps before it are of no account.
    floor: u32,
    /// Stamps from here on that everybody read stay as they are.
    everybody: u32,
    writer: Met,
    reader: Met,
    clashes: &'a mut Vec<Clash>,
}

impl<'a> Column<'a> {
    pub(super) fn new(order: &'a Order, now: Now, clashes: &'a mut Vec<Clash>) -> Self {
        let floor = order.floor(&now);
        // Where release and acquire may order single invocations, who was the last counts.
        let everybody = if order.is_synchronised(now.class) { u32::MAX } else { floor };
        let unmet = Met { number: 0, standing: Standing::Ordered };
        Self { order, now, floor, everybody, writer: unmet, reader: unmet, clashes }
    }

    /// Whether reading these cells changes nothing: nobody wrote, everybody reads.
    #[inline]
    pub(super) fn is_settled(&self, row: &[Cell]) -> bool {
        let mut settled = true;
        for cell in row {
            settled &= cell.writer.stamp < self.floor
                && cell.readers.stamp >= self.everybody
                && cell.readers.who.is_everybody();
        }
        settled
    }

    #[inline]
    pub(super) fn read(&mut self, cell: &mut Cell, lane: u32, bytes: u32) {
        if cell.writer.stamp >= self.floor {
            self.after_write(cell, lane, bytes);
        }
        let readers = cell.readers;
        // What many did is worth more than what one does to other bytes.
        let touched = readers.who.bytes() & bytes;
        if (touched == bytes || touched == 0)
            && match readers.who.plural() {
                Plural::Several => readers.stamp >= self.everybody,
                Plural::Workgroup => readers.stamp == self.now.number,
                _ => false,
            }
        {
            return;
        }
        let mine = Trace { stamp: self.now.number, who: Who::new(lane, bytes, Plural::One) };
        cell.readers =
            if readers.stamp < self.floor { mine } else { self.join_readers(readers, mine, lane) };
    }

    /// The readers of a word once this one is among them.
    fn join_readers(&mut self, readers: Trace, mine: Trace, lane: u32) -> Trace {
        let bytes = mine.who.bytes();
        if readers.who.bytes() & bytes == 0 {
            return self.beside(readers, mine);
        }
        let standing = self.reader_standing(readers.stamp);
        let replace = match standing {
            Standing::Ordered => readers.who.plural() != Plural::Several,
            Standing::Mine if readers.who.is_just(lane) => {
                let both = Who::new(lane, readers.who.bytes() | bytes, Plural::One);
                return self.prefer(readers, mine, both);
            }
            Standing::Mine if readers.who.is_only(lane, bytes) => {
                return if readers.stamp == mine.stamp { readers } else { mine };
            }
            // The usual case: the same instruction, and the last barrier came before.
            Standing::Mine if readers.stamp == mine.stamp => false,
            _ => {
                let who = readers.who.other_than(lane, bytes);
                let other = Trace { who, ..readers };
                self.order.missing(&self.now, lane, other, Meeting::AfterRead).is_none()
            }
        };
        if replace {
            return mine;
        }
        let plural = self.widen(readers.who, lane, standing);
        self.prefer(readers, mine, Who::new(lane, readers.who.bytes() & bytes, plural))
    }

    /// How far earlier ones and this one spread together.
    fn widen(&self, before: Who, lane: u32, standing: Standing) -> Plural {
        let size = self.now.subgroup_size;
        let plural = before.plural();
        if plural == Plural::Several || standing == Standing::Other {
            Plural::Several
        } else if before.lane() / size == lane / size {
            Plural::Subgroup.max(plural)
        } else {
            Plural::Workgroup
        }
    }

    /// An earlier access of other bytes of the word is kept if it can be; else the later one
    /// replaces it, so that no byte seems to be touched by whom it isn't.
    fn beside(&self, earlier: Trace, mine: Trace) -> Trace {
        let both = (earlier.stamp == mine.stamp)
            .then(|| earlier.who.beside(mine.who.lane(), mine.who.bytes()))
            .flatten();
        Trace { stamp: mine.stamp, who: both.unwrap_or(mine.who) }
    }

    /// A plain read is in the way of more than an atomic one: it is the one to remember.
    fn prefer(&self, readers: Trace, mine: Trace, who: Who) -> Trace {
        let plain = |number| {
            self.order.known(&self.now, number).is_some_and(|stamp| !stamp.deed.is_atomic())
        };
        if self.now.stamp.deed.is_atomic() && plain(readers.stamp) {
            let who = Who::new(readers.who.lane(), who.bytes(), who.plural());
            return Trace { stamp: readers.stamp, who };
        }
        Trace { stamp: mine.stamp, who }
    }

    #[inline]
    pub(super) fn write(&mut self, cell: &mut Cell, lane: u32, bytes: u32) {
        let mut mine = Trace { stamp: self.now.number, who: Who::new(lane, bytes, Plural::One) };
        if cell.writer.stamp >= self.floor {
            self.after_write(cell, lane, bytes);
            mine.who = self.join_writers(cell.writer, mine);
        }
        if cell.readers.stamp >= self.floor {
            self.after_read(cell, lane, bytes);
        }
        cell.writer = mine;
    }

    /// Whom the writer of a word stands for from now on: others too where all are atomic.
    fn join_writers(&mut self, before: Trace, mine: Trace) -> Who {
        let (lane, bytes) = (mine.who.lane(), mine.who.bytes());
        if before.who.bytes() & bytes == 0 {
            return self.beside(before, mine).who;
        }
        let standing = self.writer_standing(before.stamp);
        if standing == Standing::Mine && before.who.is_just(lane) {
            return Who::new(lane, bytes | before.who.bytes(), Plural::One);
        }
        let atomic = self.now.stamp.deed.is_atomic()
            && self.order.known(&self.now, before.stamp).is_some_and(|it| it.deed.is_atomic());
        let several = before.who.plural() == Plural::Several;
        if !atomic || standing == Standing::Ordered && !several {
            return mine.who;
        }
        Who::new(lane, bytes, self.widen(before.who, lane, standing))
    }

    #[inline]
    fn after_write(&mut self, cell: &Cell, lane: u32, bytes: u32) {
        let writer = cell.writer;
        let fine = match self.writer_standing(writer.stamp) {
            Standing::Ordered => writer.who.plural() != Plural::Several,
            Standing::Mine => writer.who.is_only(lane, bytes),
            Standing::Other => false,
        };
        if !fine && writer.who.bytes() & bytes != 0 {
            self.judge(writer, (lane, bytes), Meeting::AfterWrite);
        }
    }

    #[inline]
    fn after_read(&mut self, cell: &mut Cell, lane: u32, bytes: u32) {
        let readers = cell.readers;
        let fine = match self.reader_standing(readers.stamp) {
            Standing::Ordered => readers.who.plural() != Plural::Several,
            Standing::Mine => readers.who.is_only(lane, bytes),
            Standing::Other => false,
        };
        if !fine && readers.who.bytes() & bytes != 0 {
            self.judge(readers, (lane, bytes), Meeting::AfterRead);
        }
        cell.readers = match readers.who.without(bytes) {
            Some(who) => Trace { stamp: readers.stamp, who },
            None => Trace::default(),
        };
    }

    #[inline]
    fn writer_standing(&mut self, number: u32) -> Standing {
        if self.writer.number != number {
            let standing = self.order.standing(&self.now, number, Meeting::AfterWrite);
            self.writer = Met { number, standing };
        }
        self.writer.standing
    }

    #[inline]
    fn reader_standing(&mut self, number: u32) -> Standing {
        if self.reader.number != number {
            let standing = self.order.standing(&self.now, number, Meeting::AfterRead);
            self.reader = Met { number, standing };
        }
        self.reader.standing
    }

    #[cold]
    fn judge(&mut self, earlier: Trace, (lane, bytes): (u32, u32), meeting: Meeting) {
        let earlier = Trace { who: earlier.who.other_than(lane, bytes), ..earlier };
        if let Some(missing) = self.order.missing(&self.now, lane, earlier, meeting) {
            self.clashes.push(Clash { lane, earlier, missing });
        }
    }
}

/// An access of a column: addresses of consecutive invocations, of which the first is `lane`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a> {
    pub(super) lane: u32,
    pub(super) bytes_at: &'a [u32],
    /// Bytes of each.
    pub(super) bytes: u32,
}

/// Whether the cells are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Read,
    Write,
}

impl Column<'_> {
    /// Invocations that are all active. Most go to one word, or to words in a row.
    pub(super) fn sweep(&mut self, shadow: &mut Shadow, motion: Motion, lanes: Lanes<'_>) {
        let mut lane = lanes.lane;
        let mut rest = lanes.bytes_at;
        while let [first, ..] = *rest {
            let (len, step) = run(rest);
            let word = first / 4;
            let whole = lanes.bytes == 4 && first % 4 == 0;
            let inside = first % 4 + lanes.bytes <= 4;
            match step {
                0 if inside && motion == Motion::Read => {
                    let bytes = ((1 << lanes.bytes) - 1) << (first % 4);
                    self.together(shadow, (word, bytes), lane, len);
                }
                4 if whole => self.row(shadow, motion, word, (lane, len)),
                _ => {
                    for (lane, at) in (lane..).zip(&rest[..len]) {
                        self.touch(shadow, motion, lane, (*at, lanes.bytes));
                    }
                }
            }
            lane += u32::try_from(len).unwrap_or(0);
            rest = &rest[len..];
        }
    }

    /// One invocation's access, which may lie anywhere.
    #[inline]
    pub(super) fn touch(
        &mut self,
        shadow: &mut Shadow,
        motion: Motion,
        lane: u32,
        (at, bytes): (u32, u32),
    ) {
        let mut from = at;
        let Some(end) = at.checked_add(bytes) else { return };
        while from < end {
            let word = from / 4;
            let to = end.min(word * 4 + 4);
            let mask = ((1 << (to - from)) - 1) << (from % 4);
            if let Some(cell) = shadow.cell(word as usize) {
                match motion {
                    Motion::Read => self.read(cell, lane, mask),
                    Motion::Write => self.write(cell, lane, mask),
                }
            }
            from = to;
        }
    }

    /// Consecutive invocations read one place: the first and the last stand for all.
    fn together(&mut self, shadow: &mut Shadow, (word, bytes): (u32, u32), lane: u32, len: usize) {
        let Some(cell) = shadow.cell(word as usize) else { return };
        let last = lane + u32::try_from(len).unwrap_or(0) - 1;
        if cell.writer.stamp < self.floor {
            self.read(cell, lane, bytes);
            self.read(cell, last, bytes);
        } else {
            (lane..=last).for_each(|lane| self.read(cell, lane, bytes));
        }
    }

    /// Consecutive invocations and words.
    fn row(&mut self, shadow: &mut Shadow, motion: Motion, word: u32, (lane, len): (u32, usize)) {
        let Some(row) = shadow.row(word as usize, len) else {
            for (lane, word) in (lane..).zip(word..).take(len) {
                self.touch(shadow, motion, lane, (word * 4, 4));
            }
            return;
        };
        if motion == Motion::Read && self.is_settled(row) {
            return;
        }
        let cells = row.iter_mut().zip(lane..);
        match motion {
            Motion::Read => cells.for_each(|(cell, lane)| self.read(cell, lane, WHOLE)),
            Motion::Write => cells.for_each(|(cell, lane)| self.write(cell, lane, WHOLE)),
        }
    }
}

/// How many addresses from the first on go up by the same step, if that is 0 or 4.
#[inline]
fn run(bytes_at: &[u32]) -> (usize, u32) {
    let [first, second, rest @ ..] = bytes_at else { return (bytes_at.len(), 4) };
    let step = second.wrapping_sub(*first);
    if step != 0 && step != 4 {
        return (1, 4);
    }
    let mut expected = *second;
    let more = rest.iter().take_while(|at| {
        expected = expected.wrapping_add(step);
        **at == expected
    });
    (2 + more.count(), step)
}
