import type { ContentPart, Image, Message, Sound } from "../dialogue/turn.ts";
import { pictureLimits } from "../vision/limits.ts";
import { LocallmError } from "../wire/errors.ts";
import type { MediaType } from "../wire/image.ts";
import type { SoundFormat } from "../wire/sound.ts";
import { remoteCapability } from "./capabilities.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/** Engines of remote models have limits of their own, such as 5 MB. */
const remoteBytes = 10 * 2 ** 20;

/** Checks an image in base64. `field` is its field in the request. */
export interface ReadImage {
  (base64: string, field: string): Image;
  readonly sound: (base64: string, field: string) => Sound;
  /** Images of the web that were fetched for the request, in base64, by their addresses. */
  readonly web?: ReadonlyMap<string, string>;
}

/**
 * Returns the reader of a request's images and sounds, after fetching the images that `body` names by their addresses.
 * It throws `unsupported_capability` for a model that cannot see or hear, `vision_missing` if this machine cannot encode
 * them, and `invalid_field` for those over the limits.
 */
export async function imageReader(
  parts: Pick<Parts, "vision" | "webPictures">,
  run: Run,
  body: unknown = null,
): Promise<ReadImage> {
  const limitBytes = run.remote === null ? pictureLimits.bytes : remoteBytes;
  let count = 0;
  const check = (data: string, field: string, sense: Sense): Buffer => {
    const bytes = base64Bytes(data);
    if (bytes === null)
      throw new LocallmError(sense === "vision" ? "invalid_image" : "invalid_sound", { field });
    requireSense(parts, run, sense);
    if (bytes > limitBytes)
      throw new LocallmError("invalid_field", {
        field,
        problem: `is ${sense === "vision" ? "an image" : "a sound"} of ${bytes} bytes; the limit is ${limitBytes}`,
      });
    if (++count > pictureLimits.perRequest) throw tooMany(field);
    return Buffer.from(data.slice(0, 16), "base64");
  };
  const read = (data: string, field: string): Image => {
    const mediaType = mediaTypeOf(check(data, field, "vision"));
    if (mediaType === null)
      throw new LocallmError("invalid_field", { field, problem: "must be a JPEG, PNG, GIF or WebP image" });
    return { mediaType, data, field };
  };
  const sound = (data: string, field: string): Sound => {
    const format = soundFormatOf(check(data, field, "audio"));
    if (format === null)
      throw new LocallmError("invalid_field", { field, problem: "must be a WAV or MP3 sound" });
    return { format, data, field };
  };
  const web = new Map<string, string>();
  for (const address of webAddresses(body)) {
    requireSense(parts, run, "vision");
    if (web.size === pictureLimits.perRequest) throw tooMany("the request");
    const bytes = await parts.webPictures.fetch(address, { limitBytes, signal: run.signal });
    web.set(address, bytes.toString("base64"));
  }
  return Object.assign(read, { sound, web });
}

type Sense = "vision" | "audio";

function requireSense(parts: Pick<Parts, "vision">, run: Run, sense: Sense): void {
  const senses = run.remote === null ? run.runnable.senses : undefined;
  const hasSense =
    run.remote === null
      ? (sense === "vision" ? senses?.sees : senses?.hears) === true
      : remoteCapability(run.model, sense);
  if (!hasSense)
    throw new LocallmError("unsupported_capability", { model: run.typedName, capability: sense });
  if (run.remote === null) parts.vision.requireVision();
}

function tooMany(field: string): LocallmError {
  const problem = `has more images and sounds than a request may have: ${pictureLimits.perRequest}`;
  return new LocallmError("invalid_field", { field, problem });
}

/** The web addresses of a request's images, in the forms of OpenAI and Anthropic. */
function webAddresses(body: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (url: unknown) => {
    if (typeof url === "string" && /^https?:/i.test(url)) found.add(url);
  };
  const search = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth === 0) return;
    if (!Array.isArray(value)) {
      const { type, image_url: image, source } = value as Record<string, unknown>;
      add(typeof image === "object" && image !== null ? (image as { url?: unknown }).url : image);
      if (type === "image" && typeof source === "object" && source !== null && "url" in source)
        add(source.url);
    }
    for (const each of Object.values(value)) search(each, depth - 1);
  };
  search(body, deepest);
  return found;
}

/** How deep images stand in a request: in a result of a tool, in a message, in the list of messages. */
const deepest = 8;

/** The number of bytes that a base64 text stands for, or null if it is empty or not base64. */
function base64Bytes(text: string): number | null {
  if (text === "" || text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // Looks for one wrong character: a pattern for megabytes of right ones may need a stack as large.
  if (/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - padding))) return null;
  return (text.length / 4) * 3 - padding;
}

/** Recognises an image by its first bytes. */
function mediaTypeOf(head: Buffer): MediaType | null {
  const text = head.toString("latin1");
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (/^GIF8[79]a/.test(text)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(text) ? "image/webp" : null;
}

/** Recognises a sound by its first bytes, as Ollama does. An MP3 file begins with its tags or with a frame. */
function soundFormatOf(head: Buffer): SoundFormat | null {
  const text = head.toString("latin1");
  if (/^RIFF.{4}WAVE/s.test(text)) return "wav";
  return text.startsWith("ID3") || (head[0] === 0xff && (head[1] ?? 0) >= 0xe0) ? "mp3" : null;
}

/** Reads an image from a `data:` URL, or one that was fetched from the web. */
export function imageOfUrl(url: string, field: string, read: ReadImage): Image {
  const fetched = read.web?.get(url);
  if (fetched !== undefined) return read(fetched, field);
  const comma = url.indexOf(",");
  const head = /^data:([^;,]*);base64,$/i.exec(url.slice(0, comma + 1));
  if (head === null)
    throw new LocallmError("unsupported_parameter", {
      field,
      hint: ": send the image as a URL that begins with data:image/png;base64, or another type",
    });
  const image = read(url.slice(comma + 1), field);
  requireMediaType(image, head[1]!.toLowerCase(), field);
  return image;
}

/** Throws if the image is of another type than the request says. */
export function requireMediaType({ mediaType }: Image, said: string, field: string): void {
  if (said === mediaType) return;
  throw new LocallmError("invalid_field", {
    field,
    problem: `says ${said.slice(0, 40)}, but the image is ${mediaType}`,
  });
}

/** The content of a message: its texts, and all parts in their order if there are images or sounds. */
export function contentOf(parts: readonly ContentPart[]): Pick<Message, "content" | "parts"> {
  const content = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  return parts.some(({ kind }) => kind !== "text") ? { content, parts } : { content };
}

/**
 * The content of a message whose images and sounds, in base64, are in a field of their own. They come before the text.
 * Ollama has both in one field, and tells them apart by their first bytes.
 */
export function contentWithImages(
  text: string,
  images: readonly string[] | undefined,
  field: string,
  read: ReadImage,
): Pick<Message, "content" | "parts"> {
  return contentOf([
    ...(images ?? []).map((each, index): ContentPart => {
      const at = `${field}[${index}]`;
      return soundFormatOf(Buffer.from(each.slice(0, 16), "base64")) === null
        ? { kind: "image", image: read(each, at) }
        : { kind: "sound", sound: read.sound(each, at) };
    }),
    { kind: "text", text },
  ]);
}
