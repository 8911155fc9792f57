/** Windows reserves these names, also in front of a dot, for devices. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * The file name for a part of a model's name. On Windows, characters that Windows forbids are written as in URLs:
 * `localhost%3A5000` for a registry with a port, `%63on` for a device, `model%2E` for a last dot, which Windows would
 * drop. Everywhere else the file name is the part itself, as in Ollama's stores; Ollama cannot store these names on
 * Windows. No part contains `%`, so the two never conflict.
 */
export function fileNameOf(part: string, platform: NodeJS.Platform): string {
  if (platform !== "win32") return part;
  return part
    .replaceAll(":", escaped)
    .replace(deviceName, (name) => `${escaped(name[0]!)}${name.slice(1)}`)
    .replace(/\.$/, escaped);
}

/** The part of a model's name that the file name stands for. */
export function partOf(fileName: string, platform: NodeJS.Platform): string {
  if (platform !== "win32") return fileName;
  return fileName.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
