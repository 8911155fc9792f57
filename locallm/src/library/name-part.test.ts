import fc from "fast-check";
import { expect, test } from "vitest";
import { fileNameOf, partOf } from "./name-part.ts";

/** Every character that a part of a name may have, and the names of devices. */
const parts = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,80}$/),
  fc
    .tuple(
      fc.constantFrom("con", "NUL", "aux", "prn", "COM1", "lpt9"),
      fc.stringMatching(/^[A-Za-z0-9.:-]{0,5}$/),
    )
    .map(([device, rest]) => `${device}${rest}`),
);

test("Windows accepts each file name, and it stands for one part only", () => {
  fc.assert(
    fc.property(parts, (part) => {
      const fileName = fileNameOf(part, "win32");
      expect(fileName).toMatch(/^[A-Za-z0-9_%][A-Za-z0-9_.%-]*$/);
      expect(fileName).not.toMatch(/\.$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
      expect(partOf(fileName, "win32")).toBe(part);
    }),
  );
});

test.each(["linux", "darwin"] as const)("%s keeps every part as it is", (platform) => {
  fc.assert(
    fc.property(parts, (part) => {
      expect(fileNameOf(part, platform)).toBe(part);
      expect(partOf(part, platform)).toBe(part);
    }),
  );
});
