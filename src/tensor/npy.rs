//! The .npy format, version 1.0, as numpy's documentation of `numpy.lib.format` gives it.

use std::io::{self, Write};

use super::{Dtype, Tensor};

/// Writes a tensor so that `numpy.load` reads it. What numpy has no type for is widened: bf16 to
/// f32, quantised values to f64.
///
/// # Errors
/// Whatever the writer says.
pub fn write_npy(tensor: &Tensor, out: &mut impl Write) -> io::Result<()> {
    let descr = match tensor.dtype() {
        Dtype::F16 => "<f2",
        Dtype::F32 => "<f4",
        Dtype::F64 => "<f8",
        Dtype::I8 => "|i1",
        Dtype::U8 => "|u1",
        Dtype::I16 => "<i2",
        Dtype::U16 => "<u2",
        Dtype::I32 => "<i4",
        Dtype::U32 => "<u4",
        Dtype::I64 => "<i8",
        Dtype::U64 => "<u8",
        Dtype::BF16 => {
            write_header("<f4", tensor.shape(), out)?;
            return out.write_all(&Dtype::F32.encode(&tensor.values()));
        }
        Dtype::Q4_0 | Dtype::Q4_1 | Dtype::Q5_0 | Dtype::Q5_1 | Dtype::Q8_0 | Dtype::Q4K => {
            return write_npy_f64(tensor.shape(), &tensor.values(), out);
        }
    };
    write_header(descr, tensor.shape(), out)?;
    out.write_all(tensor.bytes())
}

/// Writes numbers that no storage rounded, such as expectations and bounds.
///
/// # Errors
/// Whatever the writer says.
pub fn write_npy_f64(shape: &[usize], values: &[f64], out: &mut impl Write) -> io::Result<()> {
    write_header("<f8", shape, out)?;
    values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

fn write_header(descr: &str, shape: &[usize], out: &mut impl Write) -> io::Result<()> {
    let shape: String = shape.iter().map(|extent| format!("{extent},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes; the data must start at a multiple of 64.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let len = u16::try_from(header.len()).map_err(io::Error::other)?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(header.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Tensor, write_npy};

    #[test]
    fn the_data_starts_aligned_behind_a_header_that_names_the_shape() {
        let mut bytes = Vec::new();
        write_npy(&Tensor::new(Dtype::F32, &[2, 1], &[1.0, 2.0]), &mut bytes).expect("in memory");
        assert_eq!(bytes.len(), 128 + 8);
        assert!(String::from_utf8_lossy(&bytes).contains("'shape': (2,1,)"));
        assert_eq!(&bytes[bytes.len() - 4..], 2.0f32.to_le_bytes());
    }

    #[test]
    fn what_numpy_lacks_is_widened() {
        let values = [1.5; 32];
        for (dtype, descr, bytes_each) in
            [(Dtype::BF16, "<f4", 4), (Dtype::Q4_0, "<f8", 8), (Dtype::U8, "|u1", 1)]
        {
            let mut bytes = Vec::new();
            write_npy(&Tensor::new(dtype, &[32], &values), &mut bytes).expect("in memory");
            assert_eq!(bytes.len(), 128 + 32 * bytes_each, "{dtype}");
            assert!(String::from_utf8_lossy(&bytes).contains(descr), "{dtype}");
        }
    }
}
