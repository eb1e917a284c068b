//! The interpreter in dual numbers that stands beside a session's own device.

use std::mem::swap;

use crate::memory::{Ledger, LedgerOptions};
use crate::soft::{Dual, Soft, SoftOptions, Watching};

use super::kernels::Loaded;
use super::{CheckError, Session};

/// An interpreter with tangents, under a ledger like the session's own.
pub(super) struct Beside {
    dual: Dual,
    ledger: Ledger,
    loaded: Loaded,
}

impl Beside {
    fn open(session: &Session) -> Result<Self, CheckError> {
        let dual = Dual::new();
        // What the kernels do is looked at where they run for their own sake.
        let options = SoftOptions { watch: Watching::Nothing, ..SoftOptions::default() };
        let device = Box::new(Soft::open_dual(&options, &dual)?);
        // Tangents know a buffer by its name, so that none may be used again under another one.
        let options = LedgerOptions {
            quarantine_buffers: 0,
            idle_bytes: 0,
            ..session.ledger.options().clone()
        };
        let ledger = Ledger::new(device, options);
        Ok(Self { dual, ledger, loaded: Loaded::default() })
    }

    fn trade_places(&mut self, session: &mut Session) {
        swap(&mut self.ledger, &mut session.ledger);
        swap(&mut self.loaded, &mut session.kernels.loaded);
    }
}

impl Session {
    /// Does something on an interpreter whose numbers have tangents, with the session's compiler.
    pub(super) fn in_dual_numbers<R>(
        &mut self,
        work: impl FnOnce(&mut Self, &Dual) -> Result<R, CheckError>,
    ) -> Result<R, CheckError> {
        let mut beside = match self.beside.take() {
            Some(beside) => beside,
            None => Box::new(Beside::open(self)?),
        };
        beside.trade_places(self);
        let result = work(self, &beside.dual);
        beside.trade_places(self);
        self.beside = Some(beside);
        result
    }
}
