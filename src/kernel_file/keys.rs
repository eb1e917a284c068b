//! Every key of a kernel file. The schema and docs/kernel-file.md list the same ones.

/// The keys of one kind of table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    /// As messages call the table.
    pub(super) table: &'static str,
    /// In the order of the documentation.
    pub(super) keys: &'static [&'static str],
}

pub(super) const FILE: Keys = Keys {
    table: "the file",
    keys: &[
        "version", "about", "order", "kernel", "shapes", "buffer", "step", "truth", "gradient",
        "subgroup", "needs",
    ],
};
pub(super) const KERNEL: Keys = Keys {
    table: "[kernel.NAME]",
    keys: &["file", "include", "preamble", "defines", "spec", "target"],
};
pub(super) const BUFFER: Keys = Keys {
    table: "[buffer.NAME]",
    keys: &[
        "type",
        "len",
        "role",
        "init",
        "expect",
        "alias",
        "offset_bytes",
        "accumulate",
        "unwritten",
    ],
};
pub(super) const INIT: Keys = Keys { table: "init", keys: &["uniform", "values", "file"] };
pub(super) const EXPECT: Keys = Keys { table: "expect", keys: &["file", "values", "rtol", "atol"] };
pub(super) const STEP: Keys = Keys {
    table: "[[step]]",
    keys: &["kernel", "bind", "push", "groups", "fill", "word", "barrier_before"],
};
pub(super) const PUSH: Keys =
    Keys { table: "an entry of push", keys: &["type", "offset", "value", "name"] };
pub(super) const TRUTH: Keys = Keys {
    table: "[truth]",
    keys: &[
        "op",
        "map",
        "dims",
        "attributes",
        "pass",
        "kernel",
        "defines",
        "spec",
        "include",
        "bind",
        "push",
        "groups",
    ],
};
pub(super) const GRADIENT: Keys = Keys { table: "[gradient]", keys: &["vjp"] };
pub(super) const SUBGROUP: Keys = Keys { table: "[subgroup]", keys: &["sizes"] };
pub(super) const NEEDS: Keys = Keys {
    table: "[needs]",
    keys: &[
        "invocations",
        "depth",
        "shared_bytes",
        "push_bytes",
        "workgroups",
        "range_bytes",
        "offset_alignment",
        "subgroup_sizes",
        "features",
    ],
};
