import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../../../fuzz/random.ts";
import { Model } from "../../src/engine/model.ts";
import type { GenerateJob, PromptPart } from "../../src/wire/inference/generate.ts";
import { defaultSampling } from "../../src/wire/inference/generate.ts";
import { type EncodedPicture, isPicture } from "../../src/wire/inference/picture.ts";
import { type SmallArchitecture, smallInputs, smallModel } from "../small-llama.ts";
import { collect, loadOf, newJob, startModel } from "./jobs.ts";
import { type Asked, Bench, closeKept, newKeeper, silently, text } from "./slot-bench.ts";
import { library } from "./slots-here.ts";

// A picture whose rows are what the first layer gets for known tokens must give the answers of these tokens. So the
// engine's whole way of pictures is compared with that of text, without a projector.

const seed = 5;
const greedy = { ...defaultSampling, temperature: 0 };
type Pieces = readonly (readonly number[] | EncodedPicture)[];

let folder: string;
const models = new Map<SmallArchitecture, Model>();
const architectures = ["llama", "gemma3", "jamba", "qwen2vl"] as const;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-pictures-"));
  for (const architecture of architectures) {
    const path = join(folder, architecture);
    await writeFile(path, smallModel(architecture, seed));
    models.set(
      architecture,
      silently(() => Model.load(library, loadOf(path), () => {})),
    );
  }
});
afterAll(async () => {
  await closeKept();
  await rm(folder, { recursive: true, force: true });
});

/** Makes pictures of tokens, and tokens of pictures. */
class Painter {
  readonly #inputs: readonly Float32Array[];
  readonly #tokens = new Map<string, readonly number[]>();

  constructor(architecture: SmallArchitecture) {
    this.#inputs = smallInputs(architecture, seed);
  }

  picture(tokens: readonly number[], changes: Partial<EncodedPicture> = {}): EncodedPicture {
    const identity = Buffer.from(`${tokens.length} ${tokens}`.padEnd(32)).toString("hex").slice(0, 64);
    this.#tokens.set(identity, tokens);
    return {
      ...{ identity, cells: tokens.length, positions: tokens.length, layout: "line", causal: true },
      rows: Float32Array.from(tokens.flatMap((token) => [...this.#inputs[token]!])),
      ...changes,
    };
  }

  tokens(pieces: Pieces): number[] {
    return pieces.flatMap((piece) => [...(isPicture(piece) ? this.#tokens.get(piece.identity)! : piece)]);
  }
}

const askedFor: Partial<GenerateJob> = { sampling: greedy, numPredict: 6 };
const answerOf = ({ done }: Asked) => done.context!.slice(-done.evalTokens);

/**
 * The probabilities of the first token must be the same, but for the last bits: the rows were computed in other steps.
 * Where text is computed in other steps, they differ by up to 0.05.
 */
function expectSame(found: Asked, expected: Asked): void {
  const differences = Array.from(expected.logprobs[0]!, ([token, logprob]) =>
    Math.abs(logprob - (found.logprobs[0]!.get(token) ?? Number.NaN)),
  ).filter((difference) => !Number.isNaN(difference));
  expect(differences.length).toBeGreaterThan(25);
  expect(Math.max(...differences)).toBeLessThan(0.15);
  const [answer, wanted] = [answerOf(found), answerOf(expected)];
  const at = wanted.findIndex((token, index) => token !== answer[index]);
  if (at < 0) return;
  // Two tokens were as likely as each other.
  const [first, second] = [...expected.logprobs[at]!.values()].sort((a, b) => b - a);
  expect(first! - second!).toBeLessThan(0.15);
}

type Ask = (pieces: Pieces) => Promise<Asked>;

/**
 * Asks prompts that share beginnings with pictures, two at a time, in two slots whose conversations are kept. Each
 * answer must be like one from an empty cache.
 */
async function expectLikeCold(model: Model, pictures: readonly EncodedPicture[], cold: Ask): Promise<void> {
  const bench = new Bench(model, 2, 1024, newKeeper().keeper);
  bench.isLate = true;
  const texts = [1, 20, 90].map((length) => text(length, 60 + length));
  const random = new Random(3);
  const pieces = (): Pieces => {
    const rest = Array.from({ length: 1 + random.below(4) }, () =>
      random.pick<Pieces[number]>(random.below(2) === 0 ? pictures : texts),
    );
    return random.below(8) === 0
      ? rest
      : [random.pick(texts.slice(1)), random.pick(pictures.slice(-2)), ...rest];
  };
  let reused = 0;
  for (let round = 0; round < 12; round++) {
    const prompts = [pieces(), pieces()];
    const answers = await Promise.all(prompts.map((prompt) => bench.ask(prompt, askedFor)));
    for (const [index, answer] of answers.entries()) {
      expectSame(answer, await cold(prompts[index]!));
      reused += answer.done.cachedTokens;
    }
  }
  expect(reused).toBeGreaterThan(1000);
}

describe.each(architectures)("pictures of a model such as %s", (architecture) => {
  let painter: Painter;
  let model: Model;
  let cold: Bench;
  beforeAll(() => {
    painter = new Painter(architecture);
    model = models.get(architecture)!;
    cold = new Bench(model);
  });

  it("answer like the tokens they are made of: mixed, repeated, cut, copied, kept and returned", async () => {
    // Longer and shorter than a step of 64 rows, and than gemma3's window of 64.
    const pictures = [1, 7, 63, 130].map((length) => painter.picture(text(length, 40 + length)));
    await expectLikeCold(model, pictures, (pieces) =>
      cold.ask(painter.tokens(pieces), { ...askedFor, deterministic: true }),
    );
  });

  it("are counted as their cells, and computed once for all conversations that have them", async () => {
    const bench = new Bench(model, 3);
    bench.isLate = true;
    const picture = painter.picture(text(150, 1));
    const head = [text(20, 2), picture];
    const prompts = [3, 4, 5].map((topic) => [...head, text(40, topic)]);
    const asked = await Promise.all(prompts.map((prompt) => bench.ask(prompt, askedFor)));
    expect(asked.map(({ done }) => [done.promptTokens, done.cachedTokens])).toEqual([
      [210, 0],
      [210, 170],
      [210, 170],
    ]);
    // The rows travel once, too.
    expect(bench.wanted).toBe(1);
    expect(asked[0]!.done.context!.slice(0, 60)).toEqual([...text(20, 2), ...text(40, 3)]);
    // Another picture ends what is common, at its border.
    const other = await bench.ask([text(20, 2), painter.picture(text(150, 6)), text(40, 3)], askedFor);
    expect(other.done.cachedTokens).toBe(architecture === "llama" || architecture === "qwen2vl" ? 20 : 0);
    // A question that is shorter than what a checkpoint leaves out.
    const short = [text(20, 7), picture, text(9, 8)];
    await bench.ask(short, askedFor);
    const next = await bench.ask([...short, text(9, 9)], askedFor);
    expect(next.done.cachedTokens).toBeGreaterThanOrEqual(170);
  });

  it("are dropped whole where a prompt is cut or a window is full", async () => {
    const picture = painter.picture(text(66, 9));
    const [first, middle, last] = [text(30, 10), text(20, 11), text(44, 12)];
    const pieces = [first, picture, middle, last];
    const bench = new Bench(model);
    // 122 cells have room: the first 30, and 92 of the end, which begin inside the picture.
    const cutting = { ...askedFor, numCtx: 128, truncate: true, numKeep: 30 };
    const cut = await bench.ask(pieces, cutting);
    expect([cut.done.promptTokens, cut.done.truncatedTokens]).toEqual([94, 66]);
    expectSame(cut, await cold.ask([...first, ...middle, ...last], askedFor));
    const tooLarge = bench.ask([first, painter.picture(text(125, 8))], cutting);
    await expect(tooLarge).rejects.toMatchObject({ code: "prompt_too_long" });

    // The window is full after two tokens of the answer. What is to be kept ends inside the picture, and so does half
    // of the rest.
    const shifting = { ...askedFor, numCtx: 162, numPredict: 12, shift: true };
    const shifted = await bench.ask(pieces, { ...shifting, numKeep: 31 });
    const tokens = await cold.ask(painter.tokens(pieces), { ...shifting, numKeep: 30 });
    expect([shifted.done.shiftedTokens, tokens.done.shiftedTokens]).toEqual([66, 66]);
    expectSame(shifted, tokens);
  });

  it("are computed again if the client leaves, or another one does, in the middle of one", async () => {
    const bench = new Bench(model, 2);
    const pieces = [text(20, 20), painter.picture(text(200, 21)), text(20, 22)];
    const expected = await cold.ask(painter.tokens(pieces), askedFor);
    for (const leaver of ["itself", "another"]) {
      const { stepAside } = bench.context;
      let steps = 0;
      const asked = leaver === "another" ? bench.ask(pieces, askedFor) : null;
      const gone = bench.nextId;
      void bench.ask(leaver === "itself" ? pieces : [painter.picture(text(200, 23))], askedFor);
      const left = new Promise<void>((resolve) => {
        bench.context.stepAside = async () => {
          // The third step computes a picture.
          if (++steps !== 3) return await stepAside.call(bench.context);
          bench.context.stepAside = stepAside;
          bench.slots.cancel(gone);
          setImmediate(resolve);
          return "aborted";
        };
      });
      await left;
      expectSame(asked === null ? await bench.ask(pieces, askedFor) : await asked, expected);
    }
  });

  it("see themselves as a whole if they are not causal", async () => {
    const tokens = text(60, 30);
    const [whole, causal] = [false, true].map((isCausal) => painter.picture(tokens, { causal: isCausal }));
    const ends = [text(20, 31), text(5, 32)] as const;
    const asked = await Promise.all(
      [whole!, causal!].map((picture) => cold.ask([ends[0], picture, ends[1]], askedFor)),
    );
    // jamba's second layer alone sees earlier cells, and only what the first one made of them.
    if (architecture !== "jamba") expect(asked[0]!.logprobs[0]).not.toEqual(asked[1]!.logprobs[0]);
    const pictures = [1, 30, 64].map((length) =>
      painter.picture(text(length, 40 + length), { causal: false }),
    );
    await expectLikeCold(model, pictures, (pieces) => cold.ask(pieces, { ...askedFor, deterministic: true }));
    // A step has 64 rows.
    const tooLarge = cold.ask([painter.picture(text(65, 33), { causal: false })]);
    await expect(tooLarge).rejects.toMatchObject({ code: "batch_too_small" });
    expectSame(await cold.ask(painter.tokens([ends[0]]), askedFor), await cold.ask(ends[0], askedFor));
  });
});

function grid(width: number, height: number, causal: boolean): EncodedPicture {
  return new Painter("qwen2vl").picture(text(width * height, 50 + width), {
    ...{ layout: { width, height }, positions: Math.max(width, height), causal },
  });
}

it("a picture in a grid takes fewer positions than cells, wherever its conversation goes on", async () => {
  const model = models.get("qwen2vl")!;
  const cold = new Bench(model);
  await cold.ask([text(10, 51), grid(12, 9, true), text(4, 52)], { ...askedFor, numPredict: 1 });
  expect(cold.context.lastPosition(0)).toBe(10 + 12 + 4 - 1);
  const pictures = [grid(1, 5, true), grid(8, 8, false), grid(20, 3, false), grid(12, 13, true)];
  await expectLikeCold(model, pictures, (pieces) => cold.ask(pieces, { ...askedFor, deterministic: true }));
  const line = new Painter("qwen2vl").picture(text(64, 53));
  const square = { ...line, layout: { width: 8, height: 8 }, positions: 8 };
  const [inLine, inSquare] = [await cold.ask([line, text(5, 54)]), await cold.ask([square, text(5, 54)])];
  expect(inLine.logprobs[0]).not.toEqual(inSquare.logprobs[0]);
});

it("a picture in a grid is computed whole again where only a part of it could be reused", async () => {
  const model = models.get("qwen2vl")!;
  const [bench, cold] = [new Bench(model, 1, 1024, newKeeper().keeper), new Bench(model)];
  const expectAsCold = async (pieces: Pieces, cachedTokens: number) => {
    const asked = await bench.ask(pieces, askedFor);
    expectSame(asked, await cold.ask(pieces, { ...askedFor, deterministic: true }));
    expect(asked.done.cachedTokens).toBe(cachedTokens);
  };
  const [head, picture] = [text(40, 60), grid(12, 13, true)];
  // The client leaves after the second step, which computed 64 of 156 cells.
  const { stepAside } = bench.context;
  const gone = bench.nextId;
  const left = new Promise<void>((resolve) => {
    let steps = 0;
    bench.context.stepAside = async () => {
      const outcome = await stepAside.call(bench.context);
      if (++steps < 2) return outcome;
      bench.context.stepAside = stepAside;
      bench.slots.cancel(gone);
      setImmediate(resolve);
      return outcome;
    };
  });
  void bench.ask([head, picture], askedFor);
  await left;
  await expectAsCold([head, picture, text(20, 61)], 40);
  // Another conversation takes the slot, and the state of the first one is kept.
  await expectAsCold([text(90, 62)], 0);
  await expectAsCold([head, picture], 40);
});

it("pictures reach a runner as they are", async () => {
  const runner = await startModel(join(folder, "llama"), { wholePicture: 600 });
  try {
    const painter = new Painter("llama");
    const pieces = [text(9, 70), painter.picture(text(300, 71)), text(20, 72), painter.picture(text(2, 73))];
    const [found, expected] = [
      await collect(runner.generate(newJob([...pieces, "So?"]))),
      await collect(runner.generate(newJob([painter.tokens(pieces), "So?"], { deterministic: true }))),
    ];
    expect([found.text, found.done.promptTokens]).toEqual([expected.text, 334]);
    expect(runner.info.inputLength).toBe(64);
    // More than a step has room for by default.
    const whole = painter.picture(text(600, 74), { causal: false });
    expect((await collect(runner.generate(newJob([whole, "So?"])))).done.promptTokens).toBe(603);
    // As long as a text that is tokenized aside, and as one whose middle is left out.
    for (const length of [10_000, 300_000]) {
      const long = [...pieces, "x".repeat(length)];
      const { done } = await collect(runner.generate(newJob(long, { truncate: true, numKeep: 400 })));
      expect(done.promptTokens + done.truncatedTokens).toBeGreaterThan(length);
      const refused = collect(runner.generate(newJob(long)));
      await expect(refused).rejects.toMatchObject({ code: "prompt_too_long" });
    }
  } finally {
    await runner.kill();
  }
});

it.each([
  ["rows of another length", { rows: new Float32Array(3 * 64 - 1) }],
  ["cells that are no number", { cells: Number.NaN }],
  ["no cells", { cells: 0, positions: 0, rows: new Float32Array(0) }],
  ["a grid of other cells", { layout: { width: 2, height: 2 }, positions: 2 }],
  ["positions of another layout", { positions: 2 }],
  ["a grid for a model without M-RoPE", { layout: { width: 3, height: 1 }, positions: 3 }],
])("a picture with %s is refused, and the next job is answered", async (_, changes) => {
  const [architecture, other] = ["llama", "qwen2vl"] as const;
  const bench = new Bench(models.get("layout" in changes && changes.positions === 2 ? other : architecture)!);
  const picture = new Painter("llama").picture(text(3, 1), changes);
  await expect(bench.ask([picture, text(3, 2)])).rejects.toMatchObject({ code: "decode_failed" });
  expect((await bench.ask(text(3, 2))).done.evalTokens).toBe(4);
});

it("a job whose rows come late is answered when they come, fails if they are wrong, and can be cancelled", async () => {
  const painter = new Painter("llama");
  const bench = new Bench(models.get("llama")!);
  const picture = painter.picture(text(3, 1));
  bench.isLate = true;
  const supply = bench.slots.supply.bind(bench.slots);
  for (const [rows, code] of [
    [new Float32Array(5), "decode_failed"],
    [new Float32Array(0), "decode_failed"],
  ] as const) {
    bench.slots.supply = (id, identity) => supply(id, identity, rows);
    await expect(bench.ask([picture, text(3, 2)])).rejects.toMatchObject({ code });
  }
  bench.slots.supply = () => {};
  const waiting = bench.nextId;
  void bench.ask([picture, text(3, 2)]);
  await new Promise((resolve) => setTimeout(resolve, 10));
  bench.slots.cancel(waiting);
  supply(waiting, picture.identity, picture.rows);
  bench.slots.supply = supply;
  expectSame(await bench.ask([picture, text(3, 2)]), await bench.ask(painter.tokens([picture, text(3, 2)])));
});

it("prompts that wait for rows, and for each other, leave the loop at rest", async () => {
  const painter = new Painter("llama");
  const bench = new Bench(models.get("llama")!, 2);
  bench.isLate = true;
  const supply = bench.slots.supply.bind(bench.slots);
  const wanted = new Promise<string>((resolve) => {
    bench.slots.supply = (_, identity) => resolve(identity);
  });
  const picture = painter.picture(text(50, 1));
  const [gone, first] = [bench.nextId, [text(20, 2), picture, text(9, 3)]];
  void bench.ask(first, askedFor);
  const second = bench.ask([text(20, 2), picture, text(9, 4)], askedFor);
  await wanted;
  // What stands before the picture is computed first.
  const rested = async () => {
    const before = bench.slots.progress();
    await new Promise((resolve) => setTimeout(resolve, 30));
    return bench.slots.progress() - before;
  };
  await rested();
  expect(await rested()).toBeLessThan(5);
  // The second one goes on by itself when the first one's client leaves.
  bench.slots.supply = supply;
  bench.slots.cancel(gone);
  expect((await second).done.promptTokens).toBe(79);
});

it("a token that the vocabulary does not have is refused, beside a picture too", async () => {
  const bench = new Bench(models.get("llama")!);
  const picture = new Painter("llama").picture(text(3, 1));
  for (const token of [-1, models.get("llama")!.vocabulary.size, 2 ** 31, 1.5])
    for (const prompt of [[token], [picture, [5, token]]])
      await expect(bench.ask(prompt as PromptPart[])).rejects.toMatchObject({ code: "invalid_token" });
});
