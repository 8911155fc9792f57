import { describe, expect, it } from "vitest";
import { describedBytes, describedCases, recordedAnswers } from "../../test/engine-fit/described.ts";
import { byShares, fit } from "./fit.ts";

const answers = recordedAnswers();

async function fitted(described: (typeof describedCases)[number]) {
  const { model, freeBytes, marginBytes } = described;
  let measured = 0;
  const division = await fit({
    devices: freeBytes.map((bytes) => ({ freeBytes: bytes, marginBytes })),
    layers: model.layers,
    hasExperts: model.experts > 0,
    measure: async (tried) => {
      measured++;
      return describedBytes(described, tried);
    },
  });
  return { division: division!, measured };
}

describe("fit", () => {
  it.each(describedCases.map((described, index) => [index, described] as const))(
    "divides as llama.cpp does: case %i",
    async (index, described) => {
      const answer = answers[index]!;
      const { division, measured } = await fitted(described);
      if (answer === null) {
        // An assertion of llama.cpp's fails here. Ours must fit all the same.
        for (const [id, bytes] of describedBytes(described, division).entries())
          expect(bytes).toBeLessThanOrEqual(described.freeBytes[id]! - described.marginBytes);
        return;
      }
      const all = described.model.layers + 1;
      expect(division).toEqual(
        answer.division ?? { layers: byShares(described.freeBytes, all), overflows: [] },
      );
      expect(measured).toBeLessThanOrEqual(answer.measured);
    },
  );
});
