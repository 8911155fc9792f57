import type { GgufHeader } from "./gguf/header.ts";
import type { Model } from "./model.ts";
import { headerOf, headerValue } from "./model-details.ts";
import type { Store } from "./store.ts";

/** What weights are made for. */
export type Purpose = "completion" | "embedding" | "rerank";

/** What the model's weights are made for, read from their header. Null if this server can ask them nothing. */
export async function modelPurpose(store: Store, model: Model): Promise<Purpose | null> {
  const header = await headerOf(store, model);
  return header === null ? "completion" : purposeOf(header);
}

/** The engine must agree with it: see `canGenerate` in `engine/model.ts`. */
export function purposeOf(header: Pick<GgufHeader, "metadata" | "tensors">): Purpose | null {
  if (unasked.has(String(header.metadata.get("general.architecture")))) return null;
  const pooling = headerValue(header, "pooling_type");
  if (pooling === rankPooling) return hasRankHead(header) ? "rerank" : null;
  if (pooling !== undefined && pooling !== noPooling) return "embedding";
  const readsBothWays = headerValue(header, "attention.causal") === false;
  return readsBothWays ? "embedding" : "completion";
}

function hasRankHead({ tensors }: Pick<GgufHeader, "tensors">): boolean {
  return tensors.some(({ name }) => name === "cls.weight" || name === "cls.output.weight");
}

/** A projector that lets a model see, hear, or both. */
export interface Senses {
  readonly projectorPath: string;
  readonly sees: boolean;
  readonly hears: boolean;
  /**
   * The cells of its largest picture, if one step must compute all cells of a picture, because they see each other.
   * Otherwise 0.
   */
  readonly wholePicture: number;
}

/** Returns null if the model has no projector. Of several, the first that sees or hears counts. */
export async function sensesOf(store: Store, model: Model): Promise<Senses | null> {
  for (const projectorPath of model.projectorPaths) {
    const senses = projectorSenses(await store.headers.of(projectorPath));
    if (senses !== null) return { projectorPath, ...senses };
  }
  return null;
}

/** Returns null if the projector neither sees nor hears. */
export function projectorSenses({
  metadata,
}: Pick<GgufHeader, "metadata">): Omit<Senses, "projectorPath"> | null {
  const type = metadata.get("clip.projector_type") ?? metadata.get("clip.vision.projector_type");
  // libmtmd leaves out the sound of Gemma 3n.
  const hears = metadata.get("clip.has_audio_encoder") === true && type !== "gemma3nv";
  const sees = (metadata.get("clip.has_vision_encoder") ?? !hears) === true;
  if (!sees && !hears) return null;
  const number = (key: string, byDefault: number) => Number(metadata.get(`clip.vision.${key}`) ?? byDefault);
  const side = number("image_size", 896) / number("patch_size", 14) / number("projector.scale_factor", 4);
  // See `mtmd_decode_use_non_causal` of libmtmd, and its largest pictures of each type.
  const largest: Readonly<Record<string, number>> = {
    ...{ gemma3: side ** 2, gemma4v: 1120, gemma4uv: 1120, deepseek4v: 384 },
  };
  const cells = largest[String(type)] ?? 0;
  const wholePicture = Number.isFinite(cells) ? Math.min(Math.ceil(cells), 8192) : 0;
  return { sees, hears, wholePicture };
}

/** llama.cpp's numbers of a pooling. */
const noPooling = 0;
const rankPooling = 4;

/**
 * Architectures that llama.cpp loads and that answer in other ways than one token after the other: encoders with
 * decoders, diffusion of text, and voices.
 */
const unasked: ReadonlySet<string> = new Set([
  "t5",
  "dream",
  "llada",
  "llada-moe",
  "rnd1",
  "wavtokenizer-dec",
]);
