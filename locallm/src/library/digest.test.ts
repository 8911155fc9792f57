import { dirname } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Blobs } from "./blob.ts";
import { digestOf, parseDigest } from "./digest.ts";

const blobs = new Blobs("/models");
const hex = "0123456789abcdef";
const nearDigest = fc.tuple(
  fc.constantFrom("sha256:", "sha256-", "sha256", "sha256:../", "SHA256:", ""),
  fc.string({ unit: fc.constantFrom(...hex, "A", "/", ".", "\0", "٣", "%"), minLength: 60, maxLength: 68 }),
);

test("every accepted digest has its path in the blobs folder", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.anything(),
        nearDigest.map(([a, b]) => a + b),
      ),
      (text) => {
        const digest = parseDigest(text);
        if (digest === null) return;
        expect(dirname(blobs.path(digest))).toBe("/models/blobs");
        expect(blobs.path(digest)).toMatch(/\/sha256-[0-9a-f]{64}$/);
      },
    ),
    { seed: 4, numRuns: 2_000 },
  );
});

test("accepts the digest of any bytes in both spellings", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
      const digest = digestOf(bytes);
      expect(parseDigest(digest)).toBe(digest);
      expect(parseDigest(digest.replace(":", "-"))).toBe(digest);
    }),
    { seed: 4 },
  );
});
