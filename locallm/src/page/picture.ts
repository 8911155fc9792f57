import { element } from "./element.ts";

/** A picture from base64 without a prefix. */
export function picture(data: string): HTMLImageElement {
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
