import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Store } from "../src/library/store.ts";
import { writeWeightsModel } from "../src/library/weights.ts";
import { Pulls } from "../src/sources/pulls.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { dockerRegistry } from "../test/docker-registry.ts";
import { residentMib } from "../test/process-memory.ts";
import { startServer } from "../test/server-process.ts";
import { ggufBytes, tinyModel } from "../test/tiny-gguf.ts";

export const title = "Pull from loopback, beside curl | tee | sha256sum";

const pairs = 7;
const rows = 3_000_000;

/**
 * Two clients alternately fetch the same blob from the same docker-registry to the same disk. Only the pull
 * also verifies the blob and syncs it.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const registry = await dockerRegistry();
  if (registry === null) {
    print("skipped: Debian's package docker-registry is not installed");
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "locallm-pull-speed-"));
  const server = await startServer({ hasSmallHeap: true, models: join(folder, "pulled") });
  try {
    const model = `${registry.host}/ns/m:v`;
    const blob = await publish(join(folder, "source"), model);
    const url = `http://${registry.host}/v2/ns/m/blobs/${blob.digest}`;
    print("| pair | curl, tee, sha256sum: MB/s | pull: MB/s | ratio | memory of the server over before |");
    print("|---|---|---|---|---|");
    const ratios: number[] = [];
    for (let pair = 0; pair <= pairs; pair++) {
      const curlMs = await timed(() => curl(url, join(folder, "tee")));
      const before = residentMib(server.pid);
      const watch = watchMemory(server.pid);
      const pullMs = await timed(() => server.ask("/api/pull", { model, stream: false }));
      const peak = watch.peakMib();
      await server.post("/api/delete", { model }, { method: "DELETE" });
      // The first pair warms caches.
      if (pair === 0) continue;
      ratios.push(curlMs / pullMs);
      const rate = (ms: number) => (blob.sizeBytes / 1000 / ms).toFixed(0);
      const more = `${(((peak - before) * 1024 ** 2) / 1e6).toFixed(0)} MB`;
      print(`| ${pair} | ${rate(curlMs)} | ${rate(pullMs)} | ${(curlMs / pullMs).toFixed(2)} | ${more} |`);
    }
    ratios.sort((a, b) => a - b);
    const size = (blob.sizeBytes / 1e6).toFixed(0);
    print(
      `\nA file of ${size} MB. Median ratio: ${ratios[Math.floor(ratios.length / 2)]?.toFixed(2)}; the bar is 0.8.`,
    );
  } finally {
    await server.stop();
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function publish(root: string, reference: string): Promise<{ digest: string; sizeBytes: number }> {
  const store = new Store(root);
  const pulls = new Pulls(store, { network: {}, registries: null, credentials: null });
  const name = requireModelName(reference);
  const tensors = [
    { name: "token_embd.weight", shape: [32, rows], data: Buffer.alloc(rows * 128, "weights") },
  ];
  const blob = await store.blobs.writeBytes(ggufBytes({ ...tinyModel(), tensors }));
  await writeWeightsModel(store, name, [blob]);
  const push = pulls.preparePush(name, { insecure: false, credentials: null });
  await push(() => {}, new AbortController().signal);
  pulls.close();
  await rm(root, { recursive: true });
  return blob;
}

async function curl(url: string, path: string): Promise<void> {
  const child = spawn("sh", ["-c", 'curl -sf "$1" | tee "$2" | sha256sum', "sh", url, path], {
    stdio: "ignore",
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`curl ended with ${code}`);
  await rm(path);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

function watchMemory(pid: number) {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, residentMib(pid));
  };
  const timer = setInterval(look, 20);
  return {
    peakMib() {
      clearInterval(timer);
      look();
      return peak;
    },
  };
}
