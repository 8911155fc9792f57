import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command, until } from "../server-process.ts";
import { agents, createDesk, type Desk, startAgent, startPrinted } from "./agents.ts";
import { installed, installedClients } from "./installed.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

const quick = agents.filter(({ isQuick }) => isQuick);
const packages = Object.fromEntries(quick.flatMap(({ npm }) => (npm === null ? [] : [npm])));
const built = quick.flatMap(({ npm, isBuilt }) => (npm === null || !isBuilt ? [] : [npm[0]]));
const [folder, clients] = await Promise.all([installed("agents", packages, built), installedClients()]);

describe.skipIf(folder === null || process.platform === "win32")(
  "agents run unchanged, started by `locallm launch` (needs npm's registry)",
  () => {
    const word = "kingfisher-42";
    let desk: Desk;
    let model: ScriptedModel;
    beforeAll(async () => {
      desk = await createDesk(word);
      model = await startScriptedModel(desk.home);
    });
    afterAll(async () => {
      await model?.stop();
      await desk?.remove();
    });
    const start = (agent: (typeof agents)[number]) =>
      startAgent(agent, model, desk, [join(folder!, "node_modules", ".bin")]);

    describe.each(quick)("$name", (agent) => {
      it("connects, streams, calls a tool and gets its result", async () => {
        const called = model.reads(desk.note);
        const started = start(agent);
        const { code } = await started.exited;
        expect([code, started.stdout()], started.stderr()).toEqual([0, expect.stringContaining(word)]);
        expect([called.tool, called.result]).toEqual([expect.any(String), expect.stringContaining(word)]);
      });

      it("is cut off cleanly", async () => {
        const { asked, closed } = model.hangs();
        const started = start(agent);
        await Promise.race([asked, started.exited]);
        // As Ctrl-C does.
        process.kill(-started.child.pid!, "SIGINT");
        await Promise.all([closed, started.exited]);
        expect((await model.server.ask("/api/tags"))["models"]).toHaveLength(1);
      });
    });

    it("a key that may not ask: says so, and how to get one that may, before the program starts", async () => {
      const LOCALLM_KEYS = join(desk.home, "keys");
      const guarded = await startScriptedModel(desk.home, join(desk.home, "guarded"), { LOCALLM_KEYS });
      try {
        const { out } = await command(["keys", "create", "--name", "u", "--may", "usage"], { LOCALLM_KEYS });
        const LOCALLM_API_KEY = /sk-locallm-\S+/.exec(out)![0];
        await until("requests need a key", async () => {
          return (await fetch(`${guarded.server.url}/api/tags`)).status === 401;
        });
        const bins = [join(folder!, "node_modules", ".bin")];
        const called = guarded.reads(desk.note);
        for (const agent of quick) {
          const started = startAgent(agent, guarded, desk, bins, { environment: { LOCALLM_API_KEY } });
          const { code } = await started.exited;
          expect([agent.name, code, started.stderr()]).toEqual([
            agent.name,
            1,
            expect.stringContaining("on the server: locallm keys create --name NAME --may ask"),
          ]);
        }
        expect(called.tool).toBeNull();
      } finally {
        await guarded.stop();
      }
    });

    it.skipIf(clients === null)("the printed program of the AI SDK calls a tool", async () => {
      const called = model.reads(desk.note);
      const { out } = await command(["launch", "ai-sdk", "--model", "scripted"], {
        LOCALLM_HOST: model.server.url,
      });
      const started = startPrinted(process.execPath, ["--input-type=module"], clients!.folder, out);
      const { code } = await started.exited;
      expect([code, started.stdout()], started.stderr()).toEqual([
        0,
        "The tool says: It is 21 degrees in Oslo.",
      ]);
      expect(called.tool).toBe("weather");
    });
  },
);
