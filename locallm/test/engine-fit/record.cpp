// Records what llama.cpp's own fit answers for devices that exist only on paper; see record.ts.
//
// fit.cpp asks the engine for the memory of a load. record.ts cuts that function out, and this file answers in its place,
// with the formula that described.ts also has.

#include "llama.h"
#include "../src/llama-ext.h"

#include <vector>

static std::vector<llama_device_memory_data> common_get_device_memory_data_impl(
        const char *, const llama_model_params *, const llama_context_params *, std::vector<ggml_backend_dev_t> &,
        uint32_t &, uint32_t &, uint32_t &, ggml_log_level);

#include "fit-cut.cpp"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <regex>

struct described_model {
    uint32_t layers;
    uint32_t experts;
    // bytes: attention, up, gate, down, experts' up, experts' gate, experts' down, cache
    int64_t attention, up, gate, down, up_exps, gate_exps, down_exps, cache;
    int64_t output, compute, compute_layer;
};

static described_model model;
static std::vector<int64_t> free_bytes;
static int measured = 0;

// Addresses stand for devices and their buffers: 0x1000 for the processor, 0x1001 and on for the others.
static ggml_backend_dev_t device_at(size_t index) { return (ggml_backend_dev_t) (0x1001 + index); }

extern "C" {
    ggml_backend_buffer_type_t ggml_backend_cpu_buffer_type() { return (ggml_backend_buffer_type_t) 0x1000; }
    ggml_backend_buffer_type_t ggml_backend_dev_buffer_type(ggml_backend_dev_t device) { return (ggml_backend_buffer_type_t) device; }
    const char * ggml_backend_dev_name(ggml_backend_dev_t) { return "device"; }
    const char * ggml_backend_dev_description(ggml_backend_dev_t) { return "on paper"; }
    llama_model_params llama_model_default_params() { llama_model_params params = {}; params.n_gpu_layers = -1; params.split_mode = LLAMA_SPLIT_MODE_LAYER; return params; }
    size_t llama_max_tensor_buft_overrides() { return 4096; }
    int64_t llama_time_us() { return 0; }
    void ggml_abort(const char *, int, const char *, ...) { abort(); }
}
struct common_log * common_log_main() { return nullptr; }
int common_log_get_verbosity_thold() { return -1; }
void common_log_add(struct common_log *, enum ggml_log_level, const char *, ...) {}

static std::vector<llama_device_memory_data> common_get_device_memory_data_impl(
        const char *, const llama_model_params * params, const llama_context_params *, std::vector<ggml_backend_dev_t> & devices,
        uint32_t & layers, uint32_t & trained, uint32_t & experts, ggml_log_level) {
    measured++;
    layers = model.layers;
    trained = 4096;
    experts = model.experts;
    const size_t count = free_bytes.size();
    devices.clear();
    for (size_t id = 0; id < count; id++) devices.push_back(device_at(id));
    std::vector<llama_device_memory_data> memory(count + 1);
    for (size_t id = 0; id < count; id++) memory[id].free = memory[id].total = free_bytes[id];

    const int wanted = params->n_gpu_layers < 0 ? model.layers + 1 : params->n_gpu_layers;
    const int first = std::max(int(model.layers) + 1 - wanted, 0);
    const int moved = std::min(wanted, int(model.layers) + 1);
    bool is_set = false;
    for (size_t id = 0; id < count; id++) is_set = is_set || (params->tensor_split && params->tensor_split[id] != 0.0f);
    std::vector<float> splits(count);
    float sum = 0;
    for (size_t id = 0; id < count; id++) splits[id] = sum += is_set ? params->tensor_split[id] : float(free_bytes[id]);
    for (float & split : splits) split /= sum;
    std::vector<int> on(count);
    for (int il = 0; il <= int(model.layers); il++) {
        size_t id = count;
        if (il >= first && il - first < moved) {
            id = std::upper_bound(splits.begin(), splits.end(), float(il - first) / moved) - splits.begin();
            on[id]++;
        }
        if (il == int(model.layers)) { memory[id].mb.model += model.output; continue; }
        memory[id].mb.context += model.cache;
        const std::string prefix = "blk." + std::to_string(il) + ".";
        const std::pair<const char *, int64_t> tensors[] = {
            {"attn_q.weight", model.attention}, {"ffn_up.weight", model.up}, {"ffn_gate.weight", model.gate}, {"ffn_down.weight", model.down},
            {"ffn_up_exps.weight", model.up_exps}, {"ffn_gate_exps.weight", model.gate_exps}, {"ffn_down_exps.weight", model.down_exps},
        };
        for (const auto & [name, bytes] : tensors) {
            size_t at = id;
            for (const auto * one = params->tensor_buft_overrides; one && one->pattern; one++) {
                if (!std::regex_search(prefix + name, std::regex(one->pattern))) continue;
                const size_t buffer = (size_t) one->buft - 0x1000;
                at = buffer == 0 ? count : buffer - 1;
                break;
            }
            memory[at].mb.model += bytes;
        }
    }
    for (size_t id = 0; id < count; id++) if (on[id] > 0) memory[id].mb.compute += model.compute + on[id] * model.compute_layer;
    return memory;
}

// A line of input: layers, experts, the 11 sizes, the margin, the number of devices and their free memory.
int main() {
    int64_t layers, experts, margin, count;
    while (std::cin >> layers >> experts >> model.attention >> model.up >> model.gate >> model.down >> model.up_exps >> model.gate_exps
            >> model.down_exps >> model.cache >> model.output >> model.compute >> model.compute_layer >> margin >> count) {
        model.layers = layers;
        model.experts = experts;
        free_bytes.resize(count);
        for (int64_t & bytes : free_bytes) std::cin >> bytes;
        measured = 0;
        llama_model_params params = llama_model_default_params();
        llama_context_params context = {};
        context.n_ctx = 4096;
        context.n_seq_max = 1;
        float split[16] = {};
        std::vector<llama_model_tensor_buft_override> overrides(4096);
        params.tensor_split = split;
        size_t margins[16];
        for (size_t & one : margins) one = margin;
        const int status = common_fit_params("", &params, &context, split, overrides.data(), margins, 4096, nullptr, GGML_LOG_LEVEL_ERROR);
        printf("{\"status\":%d,\"measured\":%d,\"layers\":%d,\"split\":[", status, measured, params.n_gpu_layers);
        for (int64_t id = 0; id < count; id++) printf("%s%d", id ? "," : "", int(split[id]));
        printf("],\"overrides\":[");
        for (size_t at = 0; params.tensor_buft_overrides && params.tensor_buft_overrides[at].pattern; at++) {
            std::string pattern = params.tensor_buft_overrides[at].pattern;
            for (size_t slash = 0; (slash = pattern.find('\\', slash)) != std::string::npos; slash += 2) pattern.insert(slash, "\\");
            printf("%s[\"%s\",%d]", at ? "," : "", pattern.c_str(), int((size_t) params.tensor_buft_overrides[at].buft - 0x1001));
        }
        printf("]}\n");
    }
}
