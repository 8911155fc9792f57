import { setTimeout as sleep } from "node:timers/promises";
import { median, quartiles } from "../testing/speed/bursts.ts";
import type { Peer } from "../testing/speed/peer.ts";
import { prompt } from "../testing/speed/text.ts";

export const title = "63 streams that arrive at once while one runs: last first token, speed, largest gaps";

const arriving = 63;
const answerTokens = 32;
/** The stream that runs before answers longer than the burst takes to begin. */
const runningTokens = 160;
/** So long before the others the first stream begins. */
const aheadMs = 250;

const kinds: readonly { readonly name: string; readonly of: (round: number, at: number) => string }[] = [
  {
    name: "21 tokens, 12 of them common",
    of: (round, at) =>
      `Story ${round} of many: a long one about a lighthouse number ${at}.\n\nOnce upon a time`,
  },
  { name: "100 tokens, all different", of: (round, at) => prompt(1_000 * (round + 1) + at, 100) },
];

const figures = [
  ["last first token, s", "lastFirst"],
  ["tokens/s in all", "speed"],
  ["largest gap of those that arrive, s", "gap"],
  ["of the one that runs, s", "runningGap"],
] as const;

type Figures = Record<(typeof figures)[number][1], number>;

/** The servers run with 64 slots of 256 tokens. Each round asks them one after the other, in another order. */
export async function report(
  peers: readonly Peer[],
  { scale }: { readonly scale: number },
  print: (line: string) => void,
): Promise<void> {
  const rounds = Math.max(1, Math.round(5 * scale));
  const base = peers.at(-1)!;
  print(`${title}; n = ${rounds}; ratios are to ${base.name}, medians of the rounds with quartiles`);
  print("");
  print(`| prompts | server |${figures.map(([name]) => ` ${name} | ratio |`).join("")}`);
  print(`| --- | --- |${figures.map(() => "--: | --: |").join("")}`);
  for (const { name, of } of kinds) {
    const seen = new Map<Peer, Figures[]>(peers.map((peer) => [peer, []]));
    for (let round = 0; round < rounds; round++)
      for (let turn = 0; turn < peers.length; turn++) {
        const peer = peers[(round + turn) % peers.length]!;
        seen.get(peer)!.push(await burst(peer, (at) => of(round, at)));
      }
    for (const peer of peers) {
      const cells = figures.map(([, figure]) => {
        const values = seen.get(peer)!.map((one) => one[figure]);
        const ratios = values.map((value, round) => value / seen.get(base)![round]![figure]);
        const ratio = peer === base ? "" : `${median(ratios).toFixed(2)} (${quartiles(ratios)})`;
        return ` ${median(values).toPrecision(3)} | ${ratio} |`;
      });
      print(`| ${name} | ${peer.name} |${cells.join("")}`);
    }
  }
}

async function burst(peer: Peer, promptOf: (at: number) => string): Promise<Figures> {
  const running = peer.complete({ prompt: promptOf(arriving), tokens: runningTokens, seed: 1 });
  await sleep(aheadMs);
  const begin = performance.now();
  const timings = await Promise.all(
    Array.from({ length: arriving }, (_, at) =>
      peer.complete({ prompt: promptOf(at), tokens: answerTokens, seed: 1 }),
    ),
  );
  const seconds = (performance.now() - begin) / 1000;
  const tokens = timings.reduce((sum, timing) => sum + timing.tokens, 0);
  return {
    lastFirst: Math.max(...timings.map(({ firstMs }) => firstMs)) / 1000,
    speed: tokens / seconds,
    gap: Math.max(...timings.map(({ largestGapMs }) => largestGapMs)) / 1000,
    runningGap: (await running).largestGapMs / 1000,
  };
}
