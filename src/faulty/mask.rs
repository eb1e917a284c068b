//! Padding and masks ignored or misplaced.

use super::{Defect, Family, Fault};
use crate::check::Check;
use crate::ops::Cases;

pub(super) const ALL: &[Fault] = &[
    Fault {
        name: "cross_entropy_vjp_next_class",
        family: Family::Mask,
        wrong: "the mask of the target is off by one",
        op: "cross_entropy",
        variant: "vjp_shared",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "cross_entropy/vjp_shared.comp",
            text: text!("cross_entropy_vjp_next_class"),
        },
    },
    Fault {
        name: "embedding_masks_row_zero",
        family: Family::Mask,
        wrong: "index 0 is taken for padding",
        op: "embedding",
        variant: "naive",
        caught_by: Check::Forward,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "embedding/naive.comp",
            text: text!("embedding_masks_row_zero"),
        },
    },
    Fault {
        name: "matmul_padding_read",
        family: Family::Mask,
        wrong: "columns past the end are not masked, only multiplied by zero",
        op: "matmul",
        variant: "tiled",
        caught_by: Check::Determinism,
        needs: Cases::Quick,
        defect: Defect::Kernel { twin: "matmul/tiled.comp", text: text!("matmul_padding_read") },
    },
    Fault {
        name: "relu_vjp_mask_of_cotangent",
        family: Family::Mask,
        wrong: "the sign of the cotangent is the mask",
        op: "relu",
        variant: "vjp_naive",
        caught_by: Check::Gradient,
        needs: Cases::Quick,
        defect: Defect::Kernel {
            twin: "relu/vjp_naive.comp",
            text: text!("relu_vjp_mask_of_cotangent"),
        },
    },
];
