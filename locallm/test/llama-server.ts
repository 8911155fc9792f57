import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** llama-server from the Python package xllamacpp. CI installs it from .ci/pip.txt. */
export const hasLlamaServer =
  spawnSync("python3", ["-c", "import importlib.util as i; print(i.find_spec('xllamacpp') is not None)"], {
    encoding: "utf8",
  }).stdout?.trim() === "True";

const program = `
import sys, time, xllamacpp as x
p = x.CommonParams()
p.model.path = sys.argv[1]
p.n_parallel = int(sys.argv[2])
p.n_ctx = 512 * p.n_parallel
p.port = 0
p.cpuparams.n_threads = 1
p.cpuparams_batch.n_threads = 1
p.endpoint_slots = True
p.warmup = False
if len(sys.argv) > 4:
    p.mmproj.path = sys.argv[4]
    p.mmproj_use_gpu = False
if len(sys.argv) > 3 and sys.argv[3] == "rerank":
    p.embedding = True
    p.pooling_type = x.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
s = x.Server(p)
print("listening on " + s.listening_address, flush=True)
while True: time.sleep(60)
`;

/** Starts it on a free port. Each of its slots has a window of 512 tokens. `projector` is a file that lets it see. */
export async function startLlamaServer(
  model: string,
  slots = 2,
  task: "generate" | "rerank" = "generate",
  projector?: string,
) {
  const files = [model, String(slots), task, ...(projector === undefined ? [] : [projector])];
  const child = spawn("python3", ["-c", program, ...files], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-4000);
  });
  const exited = once(child, "exit");
  const url = await Promise.race([
    (async () => {
      for await (const line of createInterface(child.stdout)) {
        const address = /^listening on (\S+)/.exec(line)?.[1];
        if (address !== undefined) return address;
      }
      return null;
    })(),
    exited.then(() => null),
  ]);
  if (url === null) throw new Error(`llama-server did not start:\n${stderr}`);
  return {
    url: `${url}/v1`,
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
