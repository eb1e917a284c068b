//! stub
#![allow(missing_docs, dead_code, unused, reason = "stub")]
use crate::ops::{self, Plan};
use crate::tensor::Dtype;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[derive(Debug, thiserror::Error)]
pub enum KernelFileError {
    #[error("{name}")]
    Unset { name: String, path: String },
    #[error("x")]
    Other,
}
pub struct KernelFile;
impl KernelFile {
    pub fn load(path: &Path) -> Result<Self, KernelFileError> {
        panic!()
    }
    pub fn parse(path: &Path, text: &str) -> Result<Self, KernelFileError> {
        panic!()
    }
    pub fn is_one(path: &Path) -> bool {
        panic!()
    }
    pub fn path(&self) -> &Path {
        panic!()
    }
    pub fn order(&self) -> ops::Order {
        panic!()
    }
    pub fn build_count(&self) -> usize {
        panic!()
    }
    pub fn points(&self) -> Vec<Point> {
        panic!()
    }
    pub fn id(&self, point: &Point) -> String {
        panic!()
    }
    pub fn point(&self, id: &str) -> Result<Point, KernelFileError> {
        panic!()
    }
    pub fn instance(&self, point: &Point) -> Result<Instance, KernelFileError> {
        panic!()
    }
    pub fn vjp(&self) -> &[PathBuf] {
        panic!()
    }
    pub fn shrunk(&self, point: &Point) -> Vec<Point> {
        panic!()
    }
}
#[derive(Clone, Debug, PartialEq)]
pub struct Point(Vec<usize>);
impl Point {
    pub fn distance(&self, other: &Self) -> usize {
        0
    }
}
pub struct Instance {
    pub buffers: Vec<Buffer>,
    pub plan: Plan,
    pub truth: Truth,
    pub names: BTreeMap<String, f64>,
}
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub dtype: Dtype,
    pub len: usize,
    pub role: BufferRole,
    pub init: Init,
    pub expect: Option<Expect>,
    pub alias: Option<String>,
    pub offset_bytes: Option<u64>,
    pub accumulate: bool,
    pub unwritten: bool,
    pub line: u32,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRole {
    In,
    Out,
    InOut,
    Scratch,
}
#[derive(Clone, Debug)]
pub enum Init {
    Uniform,
    Normal,
    Zeros,
    Ones,
    Iota,
    Undefined,
    Range { low: f64, high: f64 },
    Values(Vec<f64>),
    Bytes(Vec<u8>),
}
#[derive(Clone, Debug)]
pub struct Expect {
    pub want: Option<Want>,
    pub rtol: f64,
    pub atol: f64,
}
#[derive(Clone, Debug)]
pub enum Want {
    Bytes(Vec<u8>),
    Values(Vec<f64>),
}
pub enum Truth {
    None,
    Op(OpTruth),
    Kernel(Plan),
}
pub struct OpTruth {
    pub op: String,
    pub pass: ops::Pass,
    pub map: Vec<(String, String)>,
    pub dims: Vec<(String, usize)>,
    pub attributes: Vec<(String, f64)>,
}
