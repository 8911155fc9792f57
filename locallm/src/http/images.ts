import type { ContentPart, Image, Message } from "../dialogue/turn.ts";
import { pictureLimits } from "../vision/limits.ts";
import { LocallmError } from "../wire/errors.ts";
import type { MediaType } from "../wire/image.ts";
import { remoteCapability } from "./capabilities.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/** Engines of remote models have limits of their own, such as 5 MB. */
const remoteBytes = 10 * 2 ** 20;

/** Checks an image in base64. `field` is its field in the request. */
export type ReadImage = (base64: string, field: string) => Image;

/**
 * Returns the reader of a request's images. It throws `unsupported_capability` for a model that cannot see,
 * `vision_missing` if this machine cannot encode pictures, and `invalid_field` for pictures over the limits.
 */
export function imageReader(parts: Pick<Parts, "vision">, run: Run): ReadImage {
  const canSee =
    run.remote === null ? run.model.projectorPaths.length > 0 : remoteCapability(run.model, "vision");
  const limitBytes = run.remote === null ? pictureLimits.bytes : remoteBytes;
  let count = 0;
  return (data, field) => {
    const bytes = base64Bytes(data);
    if (bytes === null) throw new LocallmError("invalid_image", { field });
    if (!canSee)
      throw new LocallmError("unsupported_capability", { model: run.typedName, capability: "vision" });
    if (run.remote === null) parts.vision.requireVision();
    if (bytes > limitBytes)
      throw new LocallmError("invalid_field", {
        field,
        problem: `is an image of ${bytes} bytes; the limit is ${limitBytes}`,
      });
    if (++count > pictureLimits.perRequest)
      throw new LocallmError("invalid_field", {
        field,
        problem: `is one image too many: the limit of a request is ${pictureLimits.perRequest}`,
      });
    const mediaType = mediaTypeOf(Buffer.from(data.slice(0, 16), "base64"));
    if (mediaType === null)
      throw new LocallmError("invalid_field", { field, problem: "must be a JPEG, PNG, GIF or WebP image" });
    return { mediaType, data, field };
  };
}

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

/** Reads an image from a `data:` URL. Web addresses are rejected, because the server would have to fetch them. */
export function imageOfUrl(url: string, field: string, read: ReadImage): Image {
  const comma = url.indexOf(",");
  const head = /^data:([^;,]*);base64,$/i.exec(url.slice(0, comma + 1));
  if (head === null)
    throw new LocallmError("unsupported_parameter", {
      field,
      hint: ": send the image as a URL that begins with data:image/png;base64, or another type; web addresses are never fetched",
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

/** The content of a message: its texts, and all parts in their order if there are images. */
export function contentOf(parts: readonly ContentPart[]): Pick<Message, "content" | "parts"> {
  const content = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  return parts.some(({ kind }) => kind === "image") ? { content, parts } : { content };
}

/** The content of a message whose images, in base64, are in a field of their own. They come before the text. */
export function contentWithImages(
  text: string,
  images: readonly string[] | undefined,
  field: string,
  read: ReadImage,
): Pick<Message, "content" | "parts"> {
  return contentOf([
    ...(images ?? []).map((each, index) => ({
      kind: "image" as const,
      image: read(each, `${field}[${index}]`),
    })),
    { kind: "text", text },
  ]);
}
