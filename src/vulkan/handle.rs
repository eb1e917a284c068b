//! Owners of handles whose only parent is the device.

use std::sync::Arc;

use ash::vk;

use super::logical::Logical;

/// A handle that `vkDestroy…` with a device and nothing else gets rid of.
pub(super) trait Destroy: vk::Handle + Copy {
    /// # Safety
    /// The handle comes from this device, is destroyed once, and no submission that is not
    /// finished uses it.
    unsafe fn destroy(self, device: &ash::Device);
}

/// A handle with its parent.
pub(super) struct Owned<H: Destroy> {
    raw: H,
    logical: Arc<Logical>,
}

impl<H: Destroy> Owned<H> {
    /// Takes over a handle that was just made from `logical`.
    pub(super) fn new(logical: &Arc<Logical>, raw: H, name: &str) -> Self {
        logical.name(raw, name);
        Self { raw, logical: Arc::clone(logical) }
    }

    pub(super) fn raw(&self) -> H {
        self.raw
    }
}

impl<H: Destroy> Drop for Owned<H> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the handle and its parent is alive. Whoever drops an owner while a
        // submission runs breaks the module's own rule: slots, kernels and buffers go only after
        // their fence, and are leaked when it never comes.
        unsafe { self.raw.destroy(&self.logical.raw) };
    }
}

impl Destroy for vk::Fence {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyFence-fence-01120).
        unsafe { device.destroy_fence(self, None) };
    }
}

impl Destroy for vk::CommandPool {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyCommandPool-commandPool-00041).
        unsafe { device.destroy_command_pool(self, None) };
    }
}

impl Destroy for vk::DescriptorPool {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyDescriptorPool-descriptorPool-00303).
        unsafe { device.destroy_descriptor_pool(self, None) };
    }
}

impl Destroy for vk::DescriptorSetLayout {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise; sets made with it stay valid
        // (VUID-vkDestroyDescriptorSetLayout-descriptorSetLayout-parent).
        unsafe { device.destroy_descriptor_set_layout(self, None) };
    }
}

impl Destroy for vk::QueryPool {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyQueryPool-queryPool-00793).
        unsafe { device.destroy_query_pool(self, None) };
    }
}

impl Destroy for vk::ShaderModule {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise; pipelines made with it stay valid
        // (VUID-vkDestroyShaderModule-shaderModule-parent).
        unsafe { device.destroy_shader_module(self, None) };
    }
}

impl Destroy for vk::PipelineLayout {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyPipelineLayout-pipelineLayout-02004).
        unsafe { device.destroy_pipeline_layout(self, None) };
    }
}

impl Destroy for vk::Pipeline {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyPipeline-pipeline-00765).
        unsafe { device.destroy_pipeline(self, None) };
    }
}

impl Destroy for vk::PipelineCache {
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the caller's promise (VUID-vkDestroyPipelineCache-pipelineCache-parent).
        unsafe { device.destroy_pipeline_cache(self, None) };
    }
}
