import { embedding, gaussian, ones, randomTensor, type SmallArchitecture, smallSpec } from "./small-llama.ts";
import { type Entry, f32, type GgufSpec, ggufBytes, type TensorSpec, text, u32 } from "./tiny-gguf.ts";

/** A kind of projector: how it cuts pictures, places their cells, and marks them in the text. */
export type Family = "idefics3" | "qwen2vl" | "gemma3" | "llava";
/** A kind of projector that hears. */
export type HearingFamily = "ultravox" | "voxtral";

export const families: readonly Family[] = ["idefics3", "qwen2vl", "gemma3", "llava"];
export const hearingFamilies: readonly HearingFamily[] = ["ultravox", "voxtral"];

interface WeightsSpec {
  readonly architecture: SmallArchitecture;
  readonly marks: readonly string[];
}

interface FamilySpec extends WeightsSpec {
  readonly metadata: readonly [string, Entry][];
  tensors(tensor: MakeTensor): TensorSpec[];
}

type MakeTensor = (name: string, ...shape: number[]) => TensorSpec;

const width = 32;
const hidden = 64;
const layers = 2;
const patch = 16;

/** A text model with random weights that knows the marks of a family's projector. */
export function smallSeer(family: Family | HearingFamily, seed: number): Buffer {
  const { architecture, marks }: WeightsSpec = { ...specs, ...hearing }[family];
  const spec = smallSpec(architecture, seed, undefined, marks);
  const [embeddings, ...rest] = spec.tensors;
  const { data } = embeddings!;
  const numbers = new Float32Array(data!.buffer, data!.byteOffset, data!.length / 4);
  const random = gaussian(seed + 1);
  // Qwen2-VL divides by the length of an input without adding anything: a token without weights gives no numbers.
  const faint = numbers.map((value) => (value === 0 ? random() / 1000 : value));
  return ggufBytes({ ...spec, tensors: [{ ...embeddings!, data: Buffer.from(faint.buffer) }, ...rest] });
}

/**
 * A projector with random weights. What a model says of a picture then means nothing; but two engines with the same
 * files must say the same.
 */
export function smallProjector(family: Family, seed: number): Buffer {
  const random = gaussian(seed);
  const tensor: MakeTensor = (name, ...shape) => randomTensor(name, shape, () => random() * 0.3);
  const { metadata, tensors } = specs[family];
  const spec: GgufSpec = {
    metadata: [
      ["general.architecture", text("clip")],
      ["general.type", text("mmproj")],
      ["general.name", text(`small ${family} projector ${seed}`)],
      ["general.file_type", u32(0)],
      ["clip.has_vision_encoder", { kind: "bool", value: true }],
      ["clip.use_gelu", { kind: "bool", value: true }],
      ["clip.vision.embedding_length", u32(width)],
      ["clip.vision.feed_forward_length", u32(hidden)],
      ["clip.vision.block_count", u32(layers)],
      ["clip.vision.projection_dim", u32(embedding)],
      ["clip.vision.attention.head_count", u32(2)],
      ["clip.vision.attention.layer_norm_epsilon", f32(1e-6)],
      ["clip.vision.patch_size", u32(patch)],
      ["clip.vision.image_mean", threeFloats(0.5)],
      ["clip.vision.image_std", threeFloats(0.5)],
      ...metadata,
    ],
    tensors: [
      tensor("v.patch_embd.weight", patch, patch, 3, width),
      ...Array.from({ length: layers }, (_, index) => layer(`v.blk.${index}`, tensor)).flat(),
      ones("v.post_ln.weight", width),
      tensor("v.post_ln.bias", width),
      ...tensors(tensor),
    ],
  };
  return ggufBytes(spec);
}

/**
 * A projector with random weights that hears, as Whisper's encoder does: of each 30 seconds it makes 75 cells.
 */
export function smallHearer(family: HearingFamily, seed: number): Buffer {
  const random = gaussian(seed);
  const tensor: MakeTensor = (name, ...shape) => randomTensor(name, shape, () => random() * 0.3);
  const { stack, tensors } = hearing[family];
  return ggufBytes({
    metadata: [
      ["general.architecture", text("clip")],
      ["general.type", text("mmproj")],
      ["general.name", text(`small ${family} projector ${seed}`)],
      ["general.file_type", u32(0)],
      ["clip.has_audio_encoder", { kind: "bool", value: true }],
      ["clip.projector_type", text(family)],
      ["clip.audio.embedding_length", u32(width)],
      ["clip.audio.feed_forward_length", u32(hidden)],
      ["clip.audio.block_count", u32(layers)],
      ["clip.audio.projection_dim", u32(embedding)],
      ["clip.audio.attention.head_count", u32(2)],
      ["clip.audio.attention.layer_norm_epsilon", f32(1e-5)],
      ["clip.audio.num_mel_bins", u32(melBins)],
      ["clip.audio.projector.stack_factor", u32(stack)],
    ],
    tensors: [
      tensor("a.conv1d.1.weight", 3, melBins, width),
      tensor("a.conv1d.1.bias", 1, width),
      tensor("a.conv1d.2.weight", 3, width, width),
      tensor("a.conv1d.2.bias", 1, width),
      tensor("a.position_embd.weight", width, 1500),
      // Whisper has no bias there.
      ...Array.from({ length: layers }, (_, index) => layer(`a.blk.${index}`, tensor))
        .flat()
        .filter(({ name }) => !name.endsWith("attn_k.bias")),
      ones("a.post_ln.weight", width),
      tensor("a.post_ln.bias", width),
      ...tensors(tensor),
    ],
  });
}

const melBins = 80;

const hearing: Readonly<
  Record<HearingFamily, WeightsSpec & { readonly stack: number; tensors(tensor: MakeTensor): TensorSpec[] }>
> = {
  // No marks around sounds.
  ultravox: {
    ...{ architecture: "llama", marks: [], stack: 20 },
    tensors: (tensor) => [
      ones("mm.a.norm_pre.weight", width * 20),
      tensor("mm.a.mlp.1.weight", width * 20, hidden * 2),
      ones("mm.a.norm_mid.weight", hidden),
      tensor("mm.a.mlp.2.weight", hidden, embedding),
    ],
  },
  // A mark before each sound.
  voxtral: {
    ...{ architecture: "llama", marks: ["[BEGIN_AUDIO]"], stack: 10 },
    tensors: (tensor) => [
      tensor("mm.a.mlp.1.weight", width * 10, hidden),
      tensor("mm.a.mlp.2.weight", hidden, embedding),
    ],
  },
};

function threeFloats(value: number): Entry {
  return { kind: "array", of: "f32", items: [value, value, value] };
}

function layer(name: string, tensor: MakeTensor): TensorSpec[] {
  return [
    ...["attn_q", "attn_k", "attn_v", "attn_out"].flatMap((part) => [
      tensor(`${name}.${part}.weight`, width, width),
      tensor(`${name}.${part}.bias`, width),
    ]),
    ...["ln1", "ln2"].flatMap((part) => [
      ones(`${name}.${part}.weight`, width),
      tensor(`${name}.${part}.bias`, width),
    ]),
    tensor(`${name}.ffn_up.weight`, width, hidden),
    tensor(`${name}.ffn_up.bias`, hidden),
    tensor(`${name}.ffn_down.weight`, hidden, width),
    tensor(`${name}.ffn_down.bias`, width),
  ];
}

const specs: Readonly<Record<Family, FamilySpec>> = {
  // An overview and, of larger pictures, slices with their row and column.
  idefics3: {
    architecture: "llama",
    marks: [
      "\u010a\u010a",
      "<fake_token_around_image>",
      "<global-img>",
      ...[1, 2, 3, 4].flatMap((row) => [1, 2, 3, 4].map((column) => `<row_${row}_col_${column}>`)),
    ],
    metadata: [
      ["clip.projector_type", text("idefics3")],
      ["clip.vision.image_size", u32(64)],
      ["clip.vision.preproc_image_size", u32(256)],
      ["clip.vision.projector.scale_factor", u32(2)],
    ],
    tensors: (tensor) => [
      tensor("v.patch_embd.bias", width),
      tensor("v.position_embd.weight", width, 16),
      tensor("mm.model.fc.weight", width * 4, embedding),
    ],
  },
  // Cells in a grid of the picture's own size, with positions in three dimensions.
  qwen2vl: {
    architecture: "qwen2vl",
    marks: ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>"],
    metadata: [
      ["clip.projector_type", text("qwen2vl_merger")],
      ["clip.vision.image_size", u32(64)],
    ],
    tensors: (tensor) => [
      tensor("v.patch_embd.weight.1", patch, patch, 3, width),
      tensor("mm.0.weight", width * 4, width * 4),
      tensor("mm.0.bias", width * 4),
      tensor("mm.2.weight", width * 4, embedding),
      tensor("mm.2.bias", embedding),
    ],
  },
  // Each cell of a picture sees all others.
  gemma3: {
    architecture: "gemma3",
    marks: ["<start_of_image>", "<end_of_image>"],
    metadata: [
      ["clip.projector_type", text("gemma3")],
      ["clip.vision.image_size", u32(128)],
      ["clip.vision.projector.scale_factor", u32(2)],
    ],
    tensors: (tensor) => [
      tensor("v.patch_embd.bias", width),
      tensor("v.position_embd.weight", width, 64),
      tensor("mm.input_projection.weight", embedding, width),
      ones("mm.soft_emb_norm.weight", width),
    ],
  },
  // No marks around pictures.
  llava: {
    architecture: "llama",
    marks: [],
    metadata: [
      ["clip.projector_type", text("mlp")],
      ["clip.vision.image_size", u32(64)],
    ],
    tensors: (tensor) => [
      tensor("v.class_embd", width),
      tensor("v.position_embd.weight", width, 17),
      ones("v.pre_ln.weight", width),
      tensor("v.pre_ln.bias", width),
      tensor("mm.0.weight", width, embedding),
      tensor("mm.0.bias", embedding),
      tensor("mm.2.weight", embedding, embedding),
      tensor("mm.2.bias", embedding),
    ],
  },
};
