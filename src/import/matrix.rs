//! Which builds of a source make one stub.

use std::collections::BTreeMap;

use super::Built;
use crate::spirv::{Binding, ElementType, Interface};
use crate::tensor::Dtype;

/// A define's values, in the order in which they were met; none where it isn't defined.
pub(super) type Values = Vec<Option<String>>;

/// One group where the builds are all combinations of some values and their interfaces differ in
/// nothing but element types and the workgroup size; else one group for each build.
pub(super) fn arrange(builds: Vec<Built>) -> Vec<Vec<Built>> {
    if is_matrix(&builds) {
        vec![builds]
    } else {
        builds.into_iter().map(|built| vec![built]).collect()
    }
}

fn is_matrix(builds: &[Built]) -> bool {
    let [first, rest @ ..] = builds else {
        return false;
    };
    let told = |built: &Built| (built.target, built.includes.clone());
    let shape = shape(&first.interface);
    let alike =
        |built: &Built| told(built) == told(first) && self::shape(&built.interface) == shape;
    rest.iter().all(alike) && is_product(builds)
}

/// Whether the builds, which are distinct, are as many as there are combinations.
fn is_product(builds: &[Built]) -> bool {
    let sizes = values(builds).into_values().map(|values| values.len());
    sizes.fold(1, usize::saturating_mul) == builds.len()
}

/// Every define of any build with its distinct values.
pub(super) fn values(builds: &[Built]) -> BTreeMap<String, Values> {
    let mut all: BTreeMap<String, Values> = BTreeMap::new();
    for name in builds.iter().flat_map(|built| built.defines.keys()) {
        all.entry(name.clone()).or_default();
    }
    for (name, values) in &mut all {
        for built in builds {
            let value = built.defines.get(name).cloned();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    all
}

/// The interface without what may differ between the builds of a matrix.
fn shape(interface: &Interface) -> Interface {
    let binding = |binding: &Binding| Binding {
        element: ElementType::Opaque,
        components: 0,
        stride_bytes: 0,
        ..binding.clone()
    };
    Interface {
        entry: String::new(),
        local_size: interface.local_size.map(|_| crate::spirv::LocalSize::Literal(0)),
        bindings: interface.bindings.iter().map(binding).collect(),
        capabilities: Vec::new(),
        shared: Vec::new(),
        shared_bytes: 0,
        ..interface.clone()
    }
}

/// The one define whose values are GLSL types that explain a buffer's element in every build.
pub(super) fn explains(builds: &[Built], elements: &[ElementType]) -> Option<String> {
    let mut names = values(builds).into_iter().filter(|(_, values)| values.len() > 1);
    let fits = |name: &str| {
        builds.iter().zip(elements).all(|(built, element)| {
            let value = built.defines.get(name);
            let named = value.and_then(|value| Dtype::from_glsl(value));
            named.is_some() && named == element.dtype()
        })
    };
    names.find(|(name, _)| fits(name)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{arrange, explains};
    use crate::glsl::Target;
    use crate::import::Built;
    use crate::spirv::{ElementType, Interface, LocalSize};

    fn built(defines: &[(&str, &str)]) -> Built {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Built {
            defines: defines.iter().map(owned).collect::<BTreeMap<_, _>>(),
            includes: Vec::new(),
            target: Target::Vulkan11,
            output: None,
            interface: Interface {
                entry: "main".to_owned(),
                local_size: [LocalSize::Literal(64), LocalSize::Literal(1), LocalSize::Literal(1)],
                bindings: Vec::new(),
                push: Vec::new(),
                push_bytes: 0,
                spec_constants: Vec::new(),
                capabilities: Vec::new(),
                shared: Vec::new(),
                shared_bytes: 0,
            },
        }
    }

    #[test]
    fn a_full_product_is_one_group() {
        let full = [("float", "1"), ("float", "2"), ("float16_t", "1"), ("float16_t", "2")];
        let builds: Vec<Built> = full.iter().map(|(t, n)| built(&[("T", t), ("N", n)])).collect();
        assert_eq!(arrange(builds.clone()).len(), 1);
        assert_eq!(arrange(builds[..3].to_vec()).len(), 3, "one combination is missing");
    }

    #[test]
    fn defined_or_not_is_a_pair_of_values() {
        assert_eq!(
            arrange(vec![built(&[("T", "int")]), built(&[("T", "int"), ("N", "")])]).len(),
            1
        );
        assert_eq!(arrange(vec![built(&[("A", "")]), built(&[("B", "")])]).len(), 2);
    }

    #[test]
    fn another_interface_or_target_needs_another_stub() {
        let mut pair = vec![built(&[("N", "1")]), built(&[("N", "2")])];
        pair[1].interface.push_bytes = 4;
        assert_eq!(arrange(pair).len(), 2);
        let mut pair = vec![built(&[("N", "1")]), built(&[("N", "2")])];
        pair[1].target = Target::Vulkan13;
        assert_eq!(arrange(pair).len(), 2);
        let mut pair = vec![built(&[("N", "1")]), built(&[("N", "2")])];
        pair[1].interface.local_size[0] = LocalSize::Literal(128);
        assert_eq!(arrange(pair).len(), 1);
    }

    #[test]
    fn a_define_is_named_only_if_it_explains_every_build() {
        let pair = [built(&[("T", "vec4"), ("N", "1")]), built(&[("T", "f16vec4"), ("N", "2")])];
        let named = |elements: &[ElementType]| explains(&pair, elements);
        assert_eq!(named(&[ElementType::F32, ElementType::F16]).as_deref(), Some("T"));
        assert_eq!(named(&[ElementType::F32, ElementType::U32]), None);
    }
}
