import { setTimeout as sleep } from "node:timers/promises";
import type { Peer } from "./peer.ts";
import { cpuMs, descendants, machineMs } from "./processes.ts";

export interface Figure {
  readonly title: string;
  readonly unit: string;
  readonly better: "more" | "less";
  /** Reads a state, which other programs cannot slow down, so no burst is dropped. */
  readonly isReading?: true;
  /** Called once per server, before the bursts. */
  prepare?(peer: Peer): Promise<void>;
  /** Measures one burst. `round` is the same number for all servers. */
  measure(peer: Peer, round: number): Promise<number>;
}

export interface BurstOptions {
  readonly bursts: number;
  /** Drops a burst if other programs used more than this fraction of a core. */
  readonly othersCores: number;
}

/**
 * Measures the servers in rounds, one burst each, rotates their order, and prints medians with quartiles.
 * Each server but the first also gets the median of its ratios to the first server in the same round, because
 * whatever slows a round slows both values.
 */
export async function compare(
  figure: Figure,
  peers: readonly Peer[],
  options: BurstOptions,
  print: (line: string) => void,
): Promise<void> {
  const rounds: Map<Peer, { value: number; cpuMs: number }>[] = [];
  let disturbed = 0;
  let empty = 0;
  const others: number[] = [];
  for (const peer of peers) await figure.prepare?.(peer);
  for (let round = 0; rounds.length < options.bursts && round < options.bursts * 4; round++) {
    const results = new Map<Peer, { value: number; cpuMs: number }>();
    let most = 0;
    let isDisturbed = false;
    for (let turn = 0; turn < peers.length; turn++) {
      const peer = peers[(round + turn) % peers.length]!;
      await untilIdle(peers);
      const before = snapshot(peer, peers);
      const value = await figure.measure(peer, round);
      const after = snapshot(peer, peers);
      const spanMs = after.nowMs - before.nowMs;
      const own = after.ownMs - before.ownMs;
      const othersMs = after.machineMs - before.machineMs - own;
      most = Math.max(most, othersMs / spanMs);
      isDisturbed ||= othersMs > options.othersCores * spanMs + countingMs;
      results.set(peer, { value, cpuMs: after.peerMs - before.peerMs });
    }
    others.push(most);
    if (figure.isReading !== true && isDisturbed) disturbed++;
    else if ([...results.values()].some(({ value }) => !(value > 0))) empty++;
    else rounds.push(results);
  }
  const better = figure.better === "more" ? "more is better" : "less is better";
  print(
    `${figure.title}, ${figure.unit} (${better}); n = ${rounds.length}; dropped: ${disturbed} disturbed, ${empty} without a figure; others had ${quantile(others, 0.5).toFixed(2)} of a core (${quartiles(others)})`,
  );
  print("");
  const bases = peers.slice(1);
  print(
    `| server | median | quartiles |${bases.map(({ name }) => ` ratio to ${name} |`).join("")} processor ms |`,
  );
  print(`|---|---:|---:|${bases.map(() => "---:|").join("")}---:|`);
  for (const peer of peers) {
    const values = rounds.map((round) => round.get(peer)!.value);
    const ratios = bases.map((base) => {
      const each = rounds.map((round) => round.get(peer)!.value / round.get(base)!.value);
      return base === peer ? " |" : ` ${show(quantile(each, 0.5))} (${quartiles(each)}) |`;
    });
    const cpu = rounds.map((round) => round.get(peer)!.cpuMs);
    print(
      `| ${peer.name} | ${show(quantile(values, 0.5))} | ${quartiles(values)} |${ratios.join("")} ${quantile(cpu, 0.5).toFixed(0)} |`,
    );
  }
}

/**
 * The system counts the machine's time in ticks of 10 ms but each process's time exactly. In a short burst
 * the rounding error is larger than the time that other programs use.
 */
const countingMs = 20;

/** So often it is looked whether the servers compute, and so often at most. */
const [lookEveryMs, mostLooks] = [50, 40];

/**
 * Waits until no server computes. The engine's threads go on polling after an answer (llama-server's for some tenths of a
 * second), on a core that the next server needs, and a server whose threads have not slept yet would begin sooner.
 */
async function untilIdle(peers: readonly Peer[]): Promise<void> {
  const usedMs = () => peers.reduce((sum, peer) => sum + treeMs(peer), 0);
  let beforeMs = usedMs();
  for (let look = 0; look < mostLooks; look++) {
    await sleep(lookEveryMs);
    const nowMs = usedMs();
    if (nowMs - beforeMs < lookEveryMs / 10) return;
    beforeMs = nowMs;
  }
}

function treeMs(peer: Peer): number {
  try {
    return cpuMs(peer.tree());
  } catch {
    // A server that the figure itself starts and stops is not running between bursts.
    return 0;
  }
}

function snapshot(peer: Peer, peers: readonly Peer[]) {
  const peerMs = treeMs(peer);
  const ownMs =
    cpuMs(descendants(process.pid)) +
    peers.reduce((sum, other) => sum + (other.command === null ? treeMs(other) : 0), 0);
  return { nowMs: performance.now(), machineMs: machineMs(), ownMs, peerMs };
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

const show = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
export const quartiles = (values: readonly number[]) =>
  `${show(quantile(values, 0.25))}–${show(quantile(values, 0.75))}`;

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}
