//! `vklab import`.

use std::path::Path;

use crate::glsl::{Compiler, CompilerOptions, default_cache_dir};
use crate::import::{Existing, Imported, import as import_stubs, write};

use super::args::ImportOptions;
use super::{CliError, Ending};

/// Where stubs go unless told otherwise, if there are several.
const FOLDER: &str = "kernels";

pub(super) fn import(options: &ImportOptions) -> Result<Ending, CliError> {
    let compiler = CompilerOptions { cache: default_cache_dir(), ..CompilerOptions::default() };
    let compiler = Compiler::new(compiler)?;
    let run_in = options.directory.as_deref();
    let imported = import_stubs(&options.inputs, run_in, &compiler)?;
    for failure in &imported.failures {
        eprintln!("vklab: {failure}");
    }
    let mut failed = !imported.failures.is_empty();
    let stub_count = imported.stubs.len();
    let mut made_count = stub_count;
    match (imported.stubs.as_slice(), &options.out) {
        ([stub], None) => println!("{}", stub.text(Path::new("")).trim_end()),
        (stubs, out) if stub_count > 0 => {
            let existing = if options.overwrite { Existing::Replace } else { Existing::Keep };
            let folder = out.as_deref().unwrap_or(Path::new(FOLDER));
            for (stub, written) in stubs.iter().zip(write(stubs, folder, existing)?) {
                match written {
                    Ok(path) => println!("{}{}", path.display(), builds(stub.build_count())),
                    Err(failure) => {
                        eprintln!("vklab: {failure}");
                        failed = true;
                        made_count -= 1;
                    }
                }
            }
            if made_count < stub_count && !options.overwrite {
                eprintln!("vklab: --overwrite replaces existing files");
            }
        }
        _ => {}
    }
    passed_over(&imported);
    match (made_count, failed) {
        (0, _) => Err(CliError::Usage("nothing was imported".to_owned())),
        (_, true) => Ok(Ending::Findings),
        (_, false) => Ok(Ending::Clean),
    }
}

fn builds(count: usize) -> String {
    if count == 1 { String::new() } else { format!(": {count} builds") }
}

fn passed_over(imported: &Imported) {
    for (count, what) in [
        (imported.other_stage_count, "shaders of other stages than compute"),
        (imported.no_compiler_count, "lines without glslc or glslangValidator"),
    ] {
        if count > 0 {
            eprintln!("vklab: {count} {what} passed over");
        }
    }
}
