//! `PIPELINE` and `DERIVE_PIPELINE`.

use super::super::error::Read;
use super::super::number::Number;
use super::super::script::{Bind, BindKind, Part, Pipeline, SubgroupSize};
use super::super::token::Token;
use super::{Parser, shown};
use crate::device::SpecValue;
use crate::tensor::Dtype;

const STATEMENTS: [&str; 5] = ["ATTACH", "BIND", "SET", "SHADER_OPTIMIZATION", "SUBGROUP"];

/// What only other kinds of pipelines and shaders have.
const FOREIGN: [&str; 18] = [
    "BLEND",
    "COMPILE_OPTIONS",
    "DEPTH",
    "FLAGS",
    "FRAMEBUFFER_SIZE",
    "INDEX_DATA",
    "MAX_RAY_HIT_ATTRIBUTE_SIZE",
    "MAX_RAY_PAYLOAD_SIZE",
    "MAX_RAY_RECURSION_DEPTH",
    "PATCH_CONTROL_POINTS",
    "POLYGON_MODE",
    "SHADER_BINDING_TABLE",
    "SHADER_GROUP",
    "SHADER_OPTIMIZATION",
    "STENCIL",
    "USE_LIBRARY",
    "VERTEX_DATA",
    "VIEWPORT",
];

const BUFFER_KINDS: [&str; 13] = [
    "color",
    "combined_image_sampler",
    "depth_stencil",
    "push_constant",
    "resolve",
    "sampled_image",
    "storage",
    "storage_dynamic",
    "storage_image",
    "storage_texel_buffer",
    "uniform",
    "uniform_dynamic",
    "uniform_texel_buffer",
];

/// Pipelines are copied from one another, so their number and size have a limit.
const MOST_PIPELINES: usize = 1000;
/// Descriptors and constants of one.
const MOST_PARTS: usize = 1024;

impl<'t> Parser<'t> {
    pub(super) fn pipeline(&mut self, token: Token<'t>) -> Read<()> {
        let kind = self.word("a kind of pipeline")?;
        match kind.text {
            "compute" => {}
            "graphics" | "raytracing" => return Err(self.unsupported(kind, " pipelines")),
            _ => {
                let known = ["compute", "graphics", "raytracing"];
                return Err(self.unknown(kind, "kind of pipeline", known.into_iter()));
            }
        }
        let name = self.fresh("pipeline", |this, name| this.pipelines.contains_key(name))?;
        self.end("PIPELINE")?;
        let entry = "main".to_owned();
        let pipeline = Pipeline { entry, ..Pipeline::default() };
        self.body(token, name, pipeline)
    }

    pub(super) fn derived_pipeline(&mut self, token: Token<'t>) -> Read<()> {
        let name = self.fresh("pipeline", |this, name| this.pipelines.contains_key(name))?;
        self.keyword("DERIVE_PIPELINE", &["FROM"])?;
        let parent = self.known_pipeline()?;
        self.end("DERIVE_PIPELINE")?;
        let pipeline = self.script.pipelines[parent].clone();
        self.body(token, name, pipeline)
    }

    fn body(&mut self, token: Token<'t>, name: &'t str, mut pipeline: Pipeline) -> Read<()> {
        (pipeline.name, pipeline.line) = (name.to_owned(), token.line);
        while let Some(first) = self.line_of(token)? {
            match first.text {
                "ATTACH" => self.attach(first, &mut pipeline)?,
                "BIND" => self.bind(first, &mut pipeline)?,
                "SUBGROUP" => self.subgroup(first, &mut pipeline)?,
                "SET" => return Err(self.unsupported(first, " KERNEL, which is OpenCL's")),
                other if FOREIGN.contains(&other) => {
                    return Err(self.unsupported(first, ""));
                }
                _ => {
                    let known = STATEMENTS.iter().chain(&FOREIGN).copied();
                    return Err(self.unknown(first, "statement of a pipeline", known));
                }
            }
            let parts: usize = pipeline.binds.iter().map(|bind| bind.parts.len()).sum();
            if parts > MOST_PARTS || pipeline.spec.len() > MOST_PARTS {
                return Err(self.wrong(first, format!("more than {MOST_PARTS} in one pipeline")));
            }
        }
        if pipeline.shader.is_none() {
            return Err(self.wrong(token, format!("pipeline `{}` has no shader", shown(name))));
        }
        if self.script.pipelines.len() >= MOST_PIPELINES {
            return Err(self.wrong(token, format!("more than {MOST_PIPELINES} pipelines")));
        }
        self.pipelines.insert(name, self.script.pipelines.len());
        self.script.pipelines.push(pipeline);
        Ok(())
    }

    /// The pipeline that the next word names.
    pub(super) fn known_pipeline(&mut self) -> Read<usize> {
        let token = self.word("the name of a pipeline")?;
        let found = self.pipelines.get(token.text).copied();
        found.ok_or_else(|| self.unknown(token, "pipeline", self.pipelines.keys().copied()))
    }

    fn known_shader(&mut self) -> Read<usize> {
        let token = self.word("the name of a shader")?;
        let found = self.shaders.get(token.text).copied();
        found.ok_or_else(|| self.unknown(token, "shader", self.shaders.keys().copied()))
    }

    fn attach(&mut self, statement: Token<'t>, pipeline: &mut Pipeline) -> Read<()> {
        let shader = self.known_shader()?;
        if pipeline.shader.replace(shader).is_some() {
            return Err(self.wrong(statement, "a compute pipeline has one shader"));
        }
        if self.takes("TYPE") {
            self.keyword("TYPE", &["compute"])?;
        }
        if self.takes("ENTRY_POINT") {
            self.word("an entry point")?.text.clone_into(&mut pipeline.entry);
        }
        while self.takes("SPECIALIZE") {
            let id = self.integer("the id of a constant")?;
            self.keyword("SPECIALIZE", &["AS"])?;
            let bits = self.constant()?;
            pipeline.spec.retain(|known| known.id != id);
            pipeline.spec.push(SpecValue { id, bits });
        }
        self.end("ATTACH")
    }

    /// A type of 32 bits and a value of it.
    fn constant(&mut self) -> Read<u32> {
        let ty = self.word("a type after AS")?;
        let dtype = match super::super::types::dtype(ty.text) {
            Some(dtype @ (Dtype::I32 | Dtype::U32 | Dtype::F32)) => dtype,
            _ => {
                let what =
                    format!("a constant is int32, uint32 or float, not `{}`", shown(ty.text));
                return Err(self.wrong(ty, what));
            }
        };
        let (token, number) = self.number("a value")?;
        let bytes = number.encode(dtype);
        match bytes.and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()) {
            Some(bytes) => Ok(u32::from_le_bytes(bytes)),
            None => Err(self.wrong(token, format!("`{}` is no {dtype}", shown(token.text)))),
        }
    }

    fn bind(&mut self, statement: Token<'t>, pipeline: &mut Pipeline) -> Read<()> {
        let object = self.word("BUFFER after BIND")?;
        let is_array = match object.text {
            "BUFFER" => false,
            "BUFFER_ARRAY" => true,
            "SAMPLER" | "SAMPLER_ARRAY" | "ACCELERATION_STRUCTURE" => {
                return Err(self.unsupported(object, ""));
            }
            _ => {
                let known = ["BUFFER", "BUFFER_ARRAY"].into_iter();
                return Err(self.unknown(object, "object to bind", known));
            }
        };
        let mut buffers = vec![self.known_buffer()?];
        while is_array && !["AS", "KERNEL"].iter().any(|word| self.lexer.peek().is(word)) {
            buffers.push(self.known_buffer()?);
            if buffers.len() > MOST_PARTS {
                return Err(self.wrong(object, format!("more than {MOST_PARTS} buffers")));
            }
        }
        let next = self.lexer.peek();
        if next.is("KERNEL") {
            return Err(self.unsupported(next, ", which is OpenCL's"));
        }
        self.keyword("the name of a buffer", &["AS"])?;
        let kind = self.word("a kind of buffer after AS")?;
        let next = self.lexer.peek();
        let (kind, is_dynamic) = match kind.text {
            "push_constant" => {
                pipeline.push = buffers.first().copied();
                return self.end("BIND");
            }
            "storage" => (BindKind::Storage, false),
            "uniform" => (BindKind::Uniform, false),
            "storage_dynamic" => (BindKind::Storage, true),
            "uniform_dynamic" => (BindKind::Uniform, true),
            other if BUFFER_KINDS.contains(&other) => return Err(self.unsupported(kind, "")),
            _ => return Err(self.unknown(kind, "kind of buffer", BUFFER_KINDS.into_iter())),
        };
        if next.is("KERNEL") {
            return Err(self.unsupported(next, ", which is OpenCL's"));
        }
        self.descriptors(statement, pipeline, (kind, is_dynamic), &buffers)
    }

    fn descriptors(
        &mut self,
        statement: Token<'t>,
        pipeline: &mut Pipeline,
        (kind, is_dynamic): (BindKind, bool),
        buffers: &[usize],
    ) -> Read<()> {
        self.keyword("the kind of a buffer", &["DESCRIPTOR_SET"])?;
        let set = self.integer("the number of a set")?;
        self.keyword("DESCRIPTOR_SET", &["BINDING"])?;
        let binding = self.integer("the number of a binding")?;
        let part = |buffer: &usize| Part { buffer: *buffer, offset_bytes: 0, range_bytes: None };
        let mut parts: Vec<Part> = buffers.iter().map(part).collect();
        if is_dynamic {
            self.keyword("a dynamic buffer's BINDING", &["OFFSET"])?;
            self.add_offsets(&mut parts)?;
        }
        if self.takes("DESCRIPTOR_OFFSET") {
            self.add_offsets(&mut parts)?;
        }
        if self.takes("DESCRIPTOR_RANGE") {
            for part in &mut parts {
                let bytes: i128 = self.integer("a number of bytes")?;
                // -1 and 2^64-1 are Vulkan's word for all of it.
                let is_whole = bytes == -1 || bytes == u64::MAX.into();
                part.range_bytes = if is_whole { None } else { u64::try_from(bytes).ok() };
            }
        }
        pipeline.binds.retain(|known| (known.set, known.binding) != (set, binding));
        pipeline.binds.push(Bind { set, binding, kind, parts, line: statement.line });
        self.end("BIND")
    }

    fn add_offsets(&mut self, parts: &mut [Part]) -> Read<()> {
        for part in parts {
            let bytes: u32 = self.integer("a number of bytes")?;
            part.offset_bytes += u64::from(bytes);
        }
        Ok(())
    }

    fn subgroup(&mut self, statement: Token<'t>, pipeline: &mut Pipeline) -> Read<()> {
        let token = self.lexer.peek();
        if pipeline.shader != Some(self.known_shader()?) {
            return Err(self.wrong(token, "SUBGROUP of a shader that isn't attached"));
        }
        self.end("SUBGROUP")?;
        while let Some(first) = self.line_of(statement)? {
            match first.text {
                "FULLY_POPULATED" => {
                    let switch = self.keyword("FULLY_POPULATED", &["on", "off"])?;
                    pipeline.full_subgroups = switch == "on";
                }
                "VARYING_SIZE" => {
                    self.keyword("VARYING_SIZE", &["on", "off"])?;
                }
                "REQUIRED_SIZE" => pipeline.subgroup_size = Some(self.subgroup_size()?),
                _ => {
                    let known = ["FULLY_POPULATED", "REQUIRED_SIZE", "VARYING_SIZE"];
                    return Err(self.unknown(first, "option of SUBGROUP", known.into_iter()));
                }
            }
            self.end(first.text)?;
        }
        Ok(())
    }

    fn subgroup_size(&mut self) -> Read<SubgroupSize> {
        let token = self.word("a subgroup size")?;
        match (token.text, Number::parse(token.text)) {
            ("MIN", _) => Ok(SubgroupSize::Least),
            ("MAX", _) => Ok(SubgroupSize::Most),
            (_, Some(Number::Int(size))) if (1..=1 << 16).contains(&size) => {
                Ok(SubgroupSize::Exactly(u32::try_from(size).unwrap_or(1)))
            }
            _ => {
                let what = format!("`{}` is no subgroup size, MIN or MAX", shown(token.text));
                Err(self.wrong(token, what))
            }
        }
    }
}
