//! One command line of a GLSL compiler: glslc's options and those of glslangValidator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::glsl::Target;

/// What a compiler is told about one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The source, as the command line names it below the folder in which it was run.
    pub source: PathBuf,
    /// Folders for `#include`, in the order in which they are searched.
    pub includes: Vec<PathBuf>,
    /// Macros by name; of several values of one the last counts, as for the compilers.
    pub defines: BTreeMap<String, String>,
    /// The nearest of the lab's targets that isn't below the one asked for.
    pub target: Target,
    /// The file that the module goes to.
    pub output: Option<PathBuf>,
}

/// What a command line comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A compute shader.
    Compute(Command),
    /// A shader of another stage.
    OtherStage,
    /// No GLSL compiler stands in it.
    NoCompiler,
    /// It compiles something that the lab can't take, and why.
    Unusable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Glslc,
    Glslang,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Compute,
    Other,
}

/// Stages other than compute, as file extensions and as values of options.
const OTHER_STAGES: [&str; 19] = [
    "vert",
    "vertex",
    "frag",
    "fragment",
    "geom",
    "geometry",
    "tesc",
    "tesscontrol",
    "tese",
    "tesseval",
    "rgen",
    "rint",
    "rahit",
    "rchit",
    "rmiss",
    "rcall",
    "mesh",
    "task",
    "amplification",
];

/// Options whose value is a word of its own and doesn't matter here.
const GLSLC_VALUED: [&str; 4] = ["-MF", "-MT", "-MQ", "-flimit-file"];
const GLSLANG_VALUED: [&str; 11] = [
    "-e",
    "--entry-point",
    "--source-entrypoint",
    "--sep",
    "--vn",
    "--variable-name",
    "--depfile",
    "--glsl-version",
    "--client",
    "--uniform-base",
    "--spirv-val-target",
];

/// Reads one line as a POSIX shell splits it, with `cd` and several commands on the line. The
/// folder is where the line is run. None if a quote is never closed.
#[must_use]
pub fn read_line(line: &str, folder: &Path) -> Option<Vec<Meaning>> {
    let words = shlex::split(line)?;
    let mut folder = folder.to_path_buf();
    let mut meanings = Vec::new();
    for command in words.split(|word| matches!(word.as_str(), "&&" | "||" | ";" | "|")) {
        match command {
            // Whatever stands before it, such as the counter of a build log.
            [.., cd, to] if cd == "cd" => folder.push(to),
            command => meanings.extend(read_words(command, &folder)),
        }
    }
    // `cd x && glslc ...` is one command of interest, not one and one without a compiler.
    if meanings.iter().any(|meaning| *meaning != Meaning::NoCompiler) {
        meanings.retain(|meaning| *meaning != Meaning::NoCompiler);
    } else {
        meanings.truncate(1);
    }
    Some(meanings)
}

/// Reads one command that is split already. What stands before the compiler (variables, launchers,
/// the counters of a build log) is passed over.
#[must_use]
pub fn read_words(words: &[String], folder: &Path) -> Vec<Meaning> {
    let compiler = words.iter().enumerate().find_map(|(at, word)| Some((at, style(word)?)));
    let Some((at, style)) = compiler else {
        return vec![Meaning::NoCompiler];
    };
    let mut reader = Reader::new(style, folder);
    let mut rest = words[at + 1..].iter().map(String::as_str);
    while let Some(word) = rest.next() {
        if let Err(reason) = reader.word(word, &mut rest) {
            return vec![Meaning::Unusable(reason)];
        }
    }
    reader.meanings()
}

fn style(word: &str) -> Option<Style> {
    let name = word.rsplit(['/', '\\']).next()?;
    match name.strip_suffix(".exe").unwrap_or(name) {
        "glslc" => Some(Style::Glslc),
        "glslang" | "glslangValidator" => Some(Style::Glslang),
        _ => None,
    }
}

struct Reader<'a> {
    style: Style,
    folder: &'a Path,
    stage: Option<Stage>,
    /// With the stage that held where the source stood.
    sources: Vec<(&'a str, Option<Stage>)>,
    command: Command,
}

impl<'a> Reader<'a> {
    fn new(style: Style, folder: &'a Path) -> Self {
        let command = Command {
            source: PathBuf::new(),
            includes: Vec::new(),
            defines: BTreeMap::new(),
            target: Target::default(),
            output: None,
        };
        Self { style, folder, stage: None, sources: Vec::new(), command }
    }

    fn word(
        &mut self,
        word: &'a str,
        rest: &mut dyn Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        if let Some(value) = joined(word, &["-D", "--define-macro", "--D"], rest) {
            return self.define(value);
        }
        if let Some(name) = joined(word, &["-U", "--undef-macro", "--U"], rest) {
            self.command.defines.remove(name);
        } else if let Some(folder) = joined(word, &["-I"], rest) {
            self.command.includes.push(self.folder.join(folder));
        } else if let Some(file) = joined(word, &["-o"], rest) {
            self.command.output = Some(self.folder.join(file));
        } else if let Some(name) = equals(word, "--target-env", rest) {
            self.target(environment(name)?);
        } else if let Some(name) = equals(word, "--target-spv", rest) {
            self.target(version(name)?);
        } else {
            return match self.style {
                Style::Glslc => self.glslc(word, rest),
                Style::Glslang => self.glslang(word, rest),
            };
        }
        Ok(())
    }

    fn glslc(
        &mut self,
        word: &'a str,
        rest: &mut dyn Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        if let Some(name) = word.strip_prefix("-fshader-stage=") {
            self.stage = Some(stage(name)?);
        } else if let Some(language) = joined(word, &["-x"], rest) {
            if language != "glsl" {
                return Err(format!("`-x {language}`: the lab reads GLSL"));
            }
        } else if GLSLC_VALUED.contains(&word) {
            rest.next();
        } else {
            return self.source(word);
        }
        Ok(())
    }

    fn glslang(
        &mut self,
        word: &'a str,
        rest: &mut dyn Iterator<Item = &'a str>,
    ) -> Result<(), String> {
        if word == "-S" {
            self.stage = Some(stage(rest.next().unwrap_or_default())?);
        } else if word.starts_with("-P") || word == "--preamble-text" {
            return Err(format!("`{word}` adds text; a kernel file's `preamble` names a file"));
        } else if word == "--stdin" {
            return self.source("-");
        } else if GLSLANG_VALUED.contains(&word) {
            rest.next();
        } else {
            return self.source(word);
        }
        Ok(())
    }

    fn define(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.is_empty() && name.chars().all(identifier) {
            self.command.defines.insert(name.to_owned(), value.to_owned());
            return Ok(());
        }
        // glslang's `-D` alone says that the source is HLSL.
        match self.style {
            Style::Glslc => Err(format!("`-D {text}` defines no macro")),
            Style::Glslang => Err("`-D` without a macro: the source is HLSL".to_owned()),
        }
    }

    /// A later option never lowers what an earlier one asked for.
    fn target(&mut self, target: Target) {
        let rank = |target| match target {
            Target::Vulkan11 => 1,
            Target::Vulkan12 => 2,
            Target::Vulkan13 => 3,
        };
        if rank(target) > rank(self.command.target) {
            self.command.target = target;
        }
    }

    fn source(&mut self, word: &'a str) -> Result<(), String> {
        match word {
            "-" => Err("the source is read from the standard input".to_owned()),
            option if option.starts_with('-') => Ok(()),
            source => {
                self.sources.push((source, self.stage));
                Ok(())
            }
        }
    }

    fn meanings(self) -> Vec<Meaning> {
        if self.sources.is_empty() {
            return vec![Meaning::Unusable("the command line names no source".to_owned())];
        }
        // A compiler of this style takes the last `-S` for all sources; glslc the one before each.
        let last = self.stage;
        let meaning = |(source, before): &(&str, Option<Stage>)| {
            let told = if self.style == Style::Glslang { last } else { *before };
            match told.or_else(|| stage_of(source)) {
                Some(Stage::Compute) => Meaning::Compute(Command {
                    source: self.folder.join(source),
                    ..self.command.clone()
                }),
                Some(Stage::Other) => Meaning::OtherStage,
                None => Meaning::Unusable(format!(
                    "{source}: neither an option nor the name says \
                                                   which stage it is"
                )),
            }
        };
        self.sources.iter().map(meaning).collect()
    }
}

/// The value of an option that is glued to it or stands in the next word.
fn joined<'a>(
    word: &'a str,
    names: &[&str],
    rest: &mut dyn Iterator<Item = &'a str>,
) -> Option<&'a str> {
    match names.iter().find_map(|name| word.strip_prefix(name))? {
        "" => rest.next(),
        value => Some(value),
    }
}

/// The value of an option behind `=` or in the next word.
fn equals<'a>(
    word: &'a str,
    name: &str,
    rest: &mut dyn Iterator<Item = &'a str>,
) -> Option<&'a str> {
    match word.strip_prefix(name)? {
        "" => rest.next(),
        value => value.strip_prefix('='),
    }
}

fn stage(name: &str) -> Result<Stage, String> {
    match name {
        "comp" | "compute" => Ok(Stage::Compute),
        name if OTHER_STAGES.contains(&name) => Ok(Stage::Other),
        name => Err(format!("`{name}` is no shader stage")),
    }
}

/// By the extension, or the one before `.glsl`.
fn stage_of(source: &str) -> Option<Stage> {
    let name = source.strip_suffix(".glsl").unwrap_or(source);
    stage(name.rsplit_once('.')?.1).ok()
}

fn environment(name: &str) -> Result<Target, String> {
    match name {
        "vulkan" | "vulkan1.0" | "vulkan1.1" => Ok(Target::Vulkan11),
        "vulkan1.2" => Ok(Target::Vulkan12),
        "vulkan1.3" => Ok(Target::Vulkan13),
        other => Err(format!("target `{other}`; the lab compiles for vulkan1.1 to vulkan1.3")),
    }
}

fn version(name: &str) -> Result<Target, String> {
    match name {
        "spv1.0" | "spirv1.0" | "spv1.1" | "spirv1.1" | "spv1.2" | "spirv1.2" | "spv1.3"
        | "spirv1.3" => Ok(Target::Vulkan11),
        "spv1.4" | "spirv1.4" | "spv1.5" | "spirv1.5" => Ok(Target::Vulkan12),
        "spv1.6" | "spirv1.6" => Ok(Target::Vulkan13),
        other => Err(format!("target `{other}`; the lab compiles to SPIR-V 1.3, 1.5 or 1.6")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Command, Meaning, read_line};
    use crate::glsl::Target;

    fn one(line: &str) -> Meaning {
        let mut meanings = read_line(line, Path::new("/b")).expect("closed quotes");
        assert_eq!(meanings.len(), 1, "{meanings:?}");
        meanings.swap_remove(0)
    }

    fn compute(line: &str) -> Command {
        match one(line) {
            Meaning::Compute(command) => command,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn defines(command: &Command) -> String {
        let shown = command.defines.iter().map(|(name, value)| format!("{name}={value}"));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn glslc_lines_are_read() {
        let command = compute(
            "glslc -fshader-stage=compute --target-env=vulkan1.2 -O -MD -MF x.d -DA_TYPE=float \
             -D B_TYPE=vec4 -DBARE -I dir -I/abs mul_mm.comp -o out/x.spv -g",
        );
        assert_eq!(command.source, Path::new("/b/mul_mm.comp"));
        assert_eq!(command.includes, [PathBuf::from("/b/dir"), PathBuf::from("/abs")]);
        assert_eq!(defines(&command), "A_TYPE=float BARE= B_TYPE=vec4");
        assert_eq!(command.target, Target::Vulkan12);
        assert_eq!(command.output.as_deref(), Some(Path::new("/b/out/x.spv")));
    }

    #[test]
    fn glslang_lines_are_read() {
        let command = compute(
            "/opt/bin/glslangValidator -V --target-env vulkan1.3 -S comp --vn x -e main -DN=4 \
             --define-macro M=2 -UN k.glsl -o k.spv",
        );
        assert_eq!(command.source, Path::new("/b/k.glsl"));
        assert_eq!(defines(&command), "M=2");
        assert_eq!(command.target, Target::Vulkan13);
        assert_eq!(
            one("glslang -V -D main.comp"),
            Meaning::Unusable("`-D` without a macro: the source is HLSL".to_owned())
        );
    }

    #[test]
    fn quotes_are_those_of_a_shell() {
        let command = compute(r#"glslc "-DF"=1 a.comp"#);
        assert_eq!(defines(&command), "F=1");
        let command = compute(r#"glslc '-DT=uint(1 + 2)' -DS="a b" my\ file.comp # a comment"#);
        assert_eq!(defines(&command), "S=a b T=uint(1 + 2)");
        assert_eq!(command.source, Path::new("/b/my file.comp"));
        assert_eq!(read_line("glslc 'a.comp", Path::new("/b")), None);
    }

    #[test]
    fn the_last_value_of_a_macro_and_the_higher_target_count() {
        let line = "glslc -DN=1 --target-spv=spv1.5 --target-env=vulkan1.1 -DN=2 a.comp";
        let command = compute(line);
        assert_eq!(defines(&command), "N=2");
        assert_eq!(command.target, Target::Vulkan12);
    }

    #[test]
    fn a_build_log_is_read_too() {
        let line = "[3/7] cd sub && CACHE=1 ccache glslc.exe a.comp -o a.spv && touch stamp";
        assert_eq!(compute(line).source, Path::new("/b/sub/a.comp"));
        assert_eq!(one("cc -c a.c && touch stamp"), Meaning::NoCompiler);
    }

    #[test]
    fn stages_come_from_options_and_names() {
        assert_eq!(one("glslc a.vert"), Meaning::OtherStage);
        assert_eq!(one("glslc -fshader-stage=frag a.glsl"), Meaning::OtherStage);
        assert_eq!(one("glslangValidator -V a.mesh.glsl"), Meaning::OtherStage);
        assert_eq!(compute("glslc a.comp.glsl").source, Path::new("/b/a.comp.glsl"));
        let two = read_line("glslc -fshader-stage=vert a.x -fshader-stage=comp b.x", Path::new(""));
        let two = two.expect("closed quotes");
        assert_eq!(two[0], Meaning::OtherStage);
        assert!(matches!(&two[1], Meaning::Compute(c) if c.source == Path::new("b.x")));
    }

    #[test]
    fn what_the_lab_cannot_take_is_said() {
        for (line, part) in [
            ("glslc a.glsl", "which stage"),
            ("glslc -fshader-stage=comp -", "standard input"),
            ("glslc --version", "names no source"),
            ("glslc -x hlsl a.comp", "hlsl"),
            ("glslc --target-env=opengl a.comp", "opengl"),
            ("glslc -fshader-stage=compot a.comp", "compot"),
            ("glslangValidator -V -Pfoo a.comp", "preamble"),
        ] {
            let Meaning::Unusable(reason) = one(line) else { panic!("{line}") };
            assert!(reason.contains(part), "{line}: {reason}");
        }
    }
}
