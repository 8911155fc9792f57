import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agents, createDesk, deskEnvironment, question, startPrinted } from "../test/clients/agents.ts";
import { chatModel, clientStore } from "../test/clients/models.ts";
import { startOpenWebUi } from "../test/clients/open-webui.ts";
import { startScriptedModel } from "../test/clients/scripted-model.ts";
import { command, until } from "../test/server-process.ts";
import { hasOpenWebUi, installedPrograms, libraries, python, tooLong, within, yes } from "./agents.ts";

export const title = "What agents and libraries show when a request is refused";

const noPermission =
  /does not have the permission "ask"; ask the administrator for one that has \(on the server: locallm keys create --name NAME --may ask\)/;
const busy =
  /server busy, .*; send it again in a moment, or raise LOCALLM_MAX_QUEUE or LOCALLM_NUM_PARALLEL on the server/;

/** Longer than the window of the model, 2,048 tokens, in a vocabulary of single bytes. */
const long = "heron ".repeat(600);

/** Asks through a program that runs with this key and this model, and returns what it shows. */
type Ask = (model: string, key: string, asked: string) => Promise<string>;

export async function run(print: (line: string) => void): Promise<void> {
  const programs = await installedPrograms();
  if (programs === null) return print("skipped: npm's registry cannot be reached");
  const { bins, clients } = programs;
  const store = await clientStore();
  const desk = await createDesk("kingfisher-42");
  const LOCALLM_KEYS = join(desk.home, "keys");
  const model = await startScriptedModel(desk.home, store.folder, { LOCALLM_KEYS, LOCALLM_MAX_QUEUE: "1" });
  const { server } = model;
  await server.ask("/api/create", {
    ...{ model: "busy", remotes: [{ url: model.engine.upstream.url, model: "scripted", requests: 1 }] },
    stream: false,
  });
  const keyThatMay = async (may: string) => {
    const { out } = await command(["keys", "create", "--name", may, "--may", may], { LOCALLM_KEYS });
    return /sk-locallm-\S+/.exec(out)![0];
  };
  const good = await keyThatMay("ask");
  const weak = await keyThatMay("usage");
  await until("requests need a key", async () => (await fetch(`${server.url}/api/tags`)).status === 401);
  const settings = { ...deskEnvironment(desk, bins), LOCALLM_HOST: server.url, LOCALLM_API_KEY: good };

  const asks = new Map<string, Ask>();
  for (const { name, parameters } of agents) {
    asks.set(name, async (of, key, asked) => {
      // `launch` would stop at the key; its settings are used as somebody does who copied them.
      const words = ["launch", name, "--model", of, "--print", "--", ...parameters(asked)];
      const { out } = await command(words, settings);
      const path = join(desk.work, `${name}-${of.replace(":", "-")}.sh`);
      await writeFile(path, out.replaceAll(good, key));
      return shownBy(startPrinted("sh", [path], desk.work, "", { ...settings, LOCALLM_API_KEY: key }));
    });
  }
  for (const name of ["ai-sdk", ...Object.keys(libraries)]) {
    asks.set(name, async (of, key, asked) => {
      const { out } = await command(["launch", name, "--model", of], settings);
      const text = out.replace("How warm is it in Oslo?", asked);
      const environment = { ...settings, LOCALLM_API_KEY: key };
      if (name === "ai-sdk")
        return shownBy(startPrinted(process.execPath, ["--input-type=module"], clients, text, environment));
      const path = join(desk.work, `printed-${name}-${of.replace(":", "-")}.py`);
      await writeFile(path, text);
      return shownBy(startPrinted(python, [path], desk.work, "", environment));
    });
  }
  const webUi = hasOpenWebUi ? await startOpenWebUi(server.url, desk, bins, good) : null;
  for (const prefix of webUi === null ? [] : ["", "ollama."]) {
    asks.set(`open-webui${prefix === "" ? "" : ", Ollama"}`, async (of, key, asked) => {
      const name = `${prefix}${of.includes(":") ? of : `${of}:latest`}`;
      await webUi!.connects(server.url, good);
      await webUi!.names();
      await webUi!.connects(server.url, key);
      return plain(await (await webUi!.asks(name, asked)).shown());
    });
  }
  try {
    const found = new Map<string, string[]>();
    const note = (name: string, is: boolean, shown: string) => {
      if (!is) console.error(`${name} shows:\n${shown.slice(-1_500)}\n`);
      found.set(name, [...(found.get(name) ?? []), yes(is)]);
    };
    for (const [name, ask] of asks) {
      model.reads(desk.note);
      const shown = await ask("scripted", weak, question);
      note(name, noPermission.test(shown), shown);
    }
    for (const [name, ask] of asks) {
      const shown = await ask(chatModel, good, long);
      note(name, tooLong.test(shown), shown);
    }
    // Last and all at once, because they ask again for minutes.
    model.hangs();
    const gone = new AbortController();
    const body = JSON.stringify({ model: "busy", messages: [{ role: "user", content: "x" }] });
    const headers = { authorization: `Bearer ${good}` };
    const held = [1, 2].map(() =>
      fetch(`${server.url}/api/chat`, { method: "POST", body, headers, signal: gone.signal })
        .then((response) => response.text())
        .catch(() => null),
    );
    await until("one waits", async () => {
      const { queued } = (await (await fetch(`${server.url}/health`)).json()) as { queued: number };
      return queued === 1;
    });
    let webUiTurn: Promise<unknown> = Promise.resolve();
    await Promise.all(
      [...asks].map(async ([name, ask]) => {
        // One program has one set of connections.
        const turn = name.startsWith("open-webui")
          ? webUiTurn.then(() => ask("busy", good, question))
          : ask("busy", good, question);
        if (name.startsWith("open-webui")) webUiTurn = turn;
        const shown = await turn;
        note(name, busy.test(shown), shown);
      }),
    );
    gone.abort();
    await Promise.all(held);
    print("| program | a key that may not ask | a window that is too small | a model whose queue is full |");
    print("|---|---|---|---|");
    for (const [name, cells] of found) print(`| ${name} | ${cells.join(" | ")} |`);
  } finally {
    await webUi?.stop();
    await model.stop();
    await store.remove();
    await desk.remove();
  }
}

async function shownBy(started: ReturnType<typeof startPrinted>): Promise<string> {
  await within(started, 240_000);
  return plain(started.stdout() + started.stderr());
}

/** Without the line breaks and escapes that a program adds. */
function plain(shown: string): string {
  return shown.replaceAll('\\"', '"').replace(/\s+/g, " ");
}
