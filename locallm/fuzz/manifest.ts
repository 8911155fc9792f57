import assert from "node:assert/strict";
import type { Target } from "../../fuzz/target.ts";
import { manifestLayers, mediaTypes, parseManifest, printManifest } from "../src/library/manifest.ts";
import { LocallmError } from "../src/wire/errors.ts";

const digest = `sha256:${"0".repeat(64)}`;
const layer = { mediaType: mediaTypes.model, digest, size: 12 };

/** What is printed is read and printed as the same. */
export const target: Target = {
  covers: ["locallm/src/library/manifest.ts", "locallm/src/library/digest.ts"],
  seeds: [
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: layer,
      layers: [layer, layer],
    }),
    JSON.stringify({ schemaVersion: 2, config: { ...layer, name: "a" }, layers: null }),
  ],
  read(input) {
    const manifest = parseManifest(input);
    const printed = printManifest(manifest);
    assert.deepEqual(printManifest(parseManifest(printed)), printed);
    assert(manifestLayers(manifest).length <= manifest.layers.length + 1);
  },
  refuses: (error) => error instanceof LocallmError,
};
