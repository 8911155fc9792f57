import koffi from "koffi";

/**
 * The C structures of libmtmd in the same release as `libllama/layout-0.5.0.ts` (`tools/mtmd/mtmd.h`), and the defaults
 * that `mtmd_context_params_default` returns.
 */
export const mtmdLayout = {
  contextParams: koffi.struct({
    use_gpu: "bool",
    device: "void *",
    print_timings: "bool",
    n_threads: "int32_t",
    image_marker: "void *",
    media_marker: "void *",
    flash_attn_type: "int32_t",
    warmup: "bool",
    image_min_tokens: "int32_t",
    image_max_tokens: "int32_t",
    cb_eval: "void *",
    cb_eval_user_data: "void *",
    batch_max_tokens: "int32_t",
    progress_callback: "void *",
    progress_callback_user_data: "void *",
  }),
  inputText: koffi.struct({
    text: "str",
    text_len: "size_t",
    add_special: "bool",
    parse_special: "bool",
  }),
  decoderPosition: koffi.struct({ t: "uint32_t", x: "uint32_t", y: "uint32_t", z: "uint32_t" }),
  defaults: {
    use_gpu: true,
    device: null,
    print_timings: true,
    n_threads: 4,
    image_marker: null,
    flash_attn_type: -1,
    warmup: true,
    image_min_tokens: -1,
    image_max_tokens: -1,
    cb_eval: null,
    cb_eval_user_data: null,
    batch_max_tokens: 1024,
    progress_callback: null,
    progress_callback_user_data: null,
  },
};

export type MtmdParams = typeof mtmdLayout.defaults & { readonly media_marker: bigint | null };
