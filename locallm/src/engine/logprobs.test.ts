import fc from "fast-check";
import { expect, it } from "vitest";
import { tokenLogprobs } from "./logprobs.ts";

const piece = (token: number) => Buffer.from(`t${token}`);

it("gives the likeliest tokens in order, with the logarithms of their probabilities", () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ min: -100, max: 100, noNaN: true }), { minLength: 1, maxLength: 50 }),
      fc.nat(20),
      fc.nat(),
      (scores, top, pick) => {
        const logits = new Float32Array(scores);
        const sampled = pick % logits.length;
        const { token, bytes, logprob, top_logprobs: likeliest } = tokenLogprobs(logits, sampled, top, piece);
        const weights = [...logits].map((logit) => Math.exp(logit - Math.max(...logits)));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        const expected = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b).slice(0, top);
        expect([token, Buffer.from(bytes).toString()]).toEqual([`t${sampled}`, `t${sampled}`]);
        if (weights[sampled]! > 1e-30) expect(logprob).toBeCloseTo(Math.log(weights[sampled]! / total), 6);
        expect(likeliest.map((each) => each.token)).toEqual(expected.map((each) => `t${each}`));
      },
    ),
    { seed: 3, numRuns: 300 },
  );
});

it("reports a finite log probability for an impossible token, and the bytes of half a code point", () => {
  const logits = new Float32Array([Number.NEGATIVE_INFINITY, 0]);
  const half = () => new Uint8Array([0xc3]);
  expect(tokenLogprobs(logits, 0, 1, half)).toEqual({
    token: "\ufffd",
    bytes: [0xc3],
    logprob: -9999,
    top_logprobs: [{ token: "\ufffd", bytes: [0xc3], logprob: 0 }],
  });
});
