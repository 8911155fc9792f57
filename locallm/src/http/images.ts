import { LocallmError } from "../wire/errors.ts";

/** Rejects images, because no model can read them yet; invalid base64 gets an error of its own. */
export function refuseImages(model: string, images: readonly string[] | undefined, field: string): void {
  if (images === undefined || images.length === 0) return;
  const bad = images.findIndex((image) => !isBase64(image));
  if (bad >= 0) throw new LocallmError("invalid_image", { field: `${field}[${bad}]` });
  throw new LocallmError("unsupported_capability", { model, capability: "vision" });
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 !== 1 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
