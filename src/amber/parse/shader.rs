//! `SHADER` and `VIRTUAL_FILE`.

use super::super::error::Read;
use super::super::script::{Format, Shader, Source, Target, Text};
use super::super::token::Token;
use super::Parser;

const STAGES: [&str; 13] = [
    "any_hit",
    "callable",
    "closest_hit",
    "compute",
    "fragment",
    "geometry",
    "intersection",
    "miss",
    "multi",
    "ray_generation",
    "tessellation_control",
    "tessellation_evaluation",
    "vertex",
];

const FORMATS: [&str; 7] =
    ["GLSL", "HLSL", "OPENCL-C", "PASSTHROUGH", "SPIRV-ASM", "SPIRV-BIN", "SPIRV-HEX"];

const TARGETS: [(&str, Target); 11] = [
    ("spv1.0", Target::Spirv10),
    ("spv1.1", Target::Spirv13),
    ("spv1.2", Target::Spirv13),
    ("spv1.3", Target::Spirv13),
    ("spv1.4", Target::Spirv14),
    ("spv1.5", Target::Spirv15),
    ("spv1.6", Target::Spirv16),
    ("vulkan1.0", Target::Spirv10),
    ("vulkan1.1", Target::Spirv13),
    ("vulkan1.2", Target::Spirv15),
    ("vulkan1.3", Target::Spirv16),
];

impl<'t> Parser<'t> {
    pub(super) fn shader(&mut self, token: Token<'t>) -> Read<()> {
        let stage = self.word("a stage after SHADER")?;
        match stage.text {
            "compute" => {}
            other if STAGES.contains(&other) => {
                return Err(self.unsupported(stage, " shaders"));
            }
            _ => return Err(self.unknown(stage, "stage", STAGES.into_iter())),
        }
        let name = self.fresh("shader", |this, name| this.shaders.contains_key(name))?;
        let format = self.word("a shader's format")?;
        let format = match format.text {
            "GLSL" => Format::Glsl,
            "SPIRV-ASM" => Format::Assembly,
            "SPIRV-BIN" => Format::Binary,
            other if FORMATS.contains(&other) => {
                return Err(self.unsupported(format, " shaders"));
            }
            _ => return Err(self.unknown(format, "shader format", FORMATS.into_iter())),
        };
        let target = if self.takes("TARGET_ENV") { self.target()? } else { Target::default() };
        let source = self.source(token, format)?;
        self.shaders.insert(name, self.script.shaders.len());
        self.script.shaders.push(Shader {
            name: name.to_owned(),
            line: token.line,
            format,
            source,
            target,
        });
        Ok(())
    }

    fn target(&mut self) -> Read<Target> {
        let token = self.word("an environment after TARGET_ENV")?;
        let found = TARGETS.iter().find(|(name, _)| *name == token.text);
        let names = TARGETS.iter().map(|(name, _)| *name);
        found.map(|(_, target)| *target).ok_or_else(|| self.unknown(token, "environment", names))
    }

    fn source(&mut self, token: Token<'t>, format: Format) -> Read<Source> {
        if self.takes("FILE") {
            let path = self.word("a path after FILE")?;
            self.end("SHADER")?;
            return Ok(Source::File(path.text.to_owned()));
        }
        if self.takes("VIRTUAL_FILE") {
            let path = self.word("a path after VIRTUAL_FILE")?;
            let found = self.script.files.iter().find(|(known, _)| known == path.text);
            let Some((_, text)) = found else {
                let known = self.script.files.iter().map(|(path, _)| path.as_str());
                return Err(self.unknown(path, "virtual file", known));
            };
            let text = text.clone();
            self.end("SHADER")?;
            return Ok(Source::Inline(text));
        }
        self.end("SHADER")?;
        if format == Format::Binary {
            return Err(self.wrong(token, "SPIRV-BIN is read from a FILE"));
        }
        self.text_block(token).map(Source::Inline)
    }

    pub(super) fn virtual_file(&mut self) -> Read<()> {
        let path = self.word("a path after VIRTUAL_FILE")?;
        if self.script.files.iter().any(|(known, _)| known == path.text) {
            return Err(self.wrong(path, "this virtual file is there already"));
        }
        if self.script.files.len() >= MOST_FILES {
            return Err(self.wrong(path, format!("more than {MOST_FILES} virtual files")));
        }
        self.end("VIRTUAL_FILE")?;
        let text = self.text_block(path)?;
        self.script.files.push((path.text.to_owned(), text));
        Ok(())
    }

    /// The lines up to `END`.
    fn text_block(&mut self, token: Token<'t>) -> Read<Text> {
        let Some((text, line)) = self.lexer.block() else { return Err(self.unclosed(token)) };
        self.lexer.next();
        self.end("END")?;
        Ok(Text { line, text: text.into() })
    }
}

/// They are gone through one after another.
const MOST_FILES: usize = 256;
