import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Explained } from "../test/crowd.ts";
import { createSmallStore } from "../test/model-store.ts";
import { residentMib } from "../test/process-memory.ts";
import { type ServerProcess, startServer } from "../test/server-process.ts";

export const title = "A reader of 1 KB a second of an answer without end: memory, and its neighbour";

const model = "small:a";
const seconds = 120;
const rowSeconds = 20;

/** Each second, the slow reader reads one kilobyte and another client requests 200 tokens. */
export async function run(print: (line: string) => void): Promise<void> {
  const store = await createSmallStore();
  const server = await startServer({
    hasSmallHeap: true,
    models: store.folder,
    env: { LOCALLM_NUM_PARALLEL: "2" },
  });
  try {
    await askNeighbour(server);
    const slow = askSlowly(server);
    print(
      "| seconds | slots taken | neighbour served | server RSS, MiB | runner RSS, MiB | runner, processor s |",
    );
    print("|---|---|---|---|---|---|");
    const { loaded } = (await server.ask<Explained>("/api/ps?explain")).explain;
    const runner = loaded[0]!.pid;
    let spentBefore = processorSeconds(runner);
    for (let second = 1; second <= seconds; second++) {
      const aSecond = new Promise((resolve) => setTimeout(resolve, 1000));
      slow.read(1024);
      await askNeighbour(server);
      await aSecond;
      if (second % rowSeconds !== 0) continue;
      const view = await server.ask<Explained>("/api/ps?explain");
      const spent = processorSeconds(runner);
      const memory = `${residentMib(server.pid).toFixed(1)} | ${residentMib(runner).toFixed(1)}`;
      const taken = view.explain.loaded[0]!.active;
      print(
        `| ${second} | ${taken} | ${second} of ${second} | ${memory} | ${(spent - spentBefore).toFixed(1)} |`,
      );
      spentBefore = spent;
    }
    slow.destroy();
  } finally {
    await server.stop();
    await store.remove();
  }
}

/** Throws if the answer is incomplete. */
async function askNeighbour(server: ServerProcess): Promise<void> {
  const options = { num_predict: 200, temperature: 0 };
  const answer = await server.ask("/api/generate", { model, prompt: "x", stream: false, options });
  if (answer["eval_count"] !== 200) throw new Error(`the neighbour got ${JSON.stringify(answer)}`);
}

/** Opens a connection that reads only when the test asks for data. */
function askSlowly(server: ServerProcess): Socket {
  const body = JSON.stringify({ model, prompt: "1 2 3", shift: true, options: { num_predict: -1 } });
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1").pause();
  socket.write(
    `POST /api/generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
