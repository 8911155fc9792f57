import { element } from "./element.ts";

/** A picture from base64 without a prefix. */
/** A picture or a sound, as a message has them. */
export function medium(data: string): HTMLElement {
  const type = soundType(data);
  if (type === null) return picture(data);
  const player = element("audio");
  player.controls = true;
  player.src = `data:${type};base64,${data}`;
  return player;
}

export function isSound(data: string): boolean {
  return soundType(data) !== null;
}

/** Detects a sound from the first bytes, which are in base64: those of a WAV file, of tags, or of a frame of MP3. */
function soundType(data: string): string | null {
  if (data.startsWith("UklGR") && data.slice(12, 16) === "QVZF") return "audio/wav";
  return /^(?:SUQz|\/[/+])/.test(data) ? "audio/mpeg" : null;
}

function picture(data: string): HTMLImageElement {
  const image = element("img");
  image.src = `data:${imageType(data)};base64,${data}`;
  image.alt = "";
  return image;
}

/** Detects the image type from the first bytes, which are in base64. */
function imageType(data: string): string {
  if (data.startsWith("/9j/")) return "image/jpeg";
  if (data.startsWith("UklGR")) return "image/webp";
  return data.startsWith("R0lGOD") ? "image/gif" : "image/png";
}
