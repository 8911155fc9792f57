import { randomUUID } from "node:crypto";
import { freePort } from "../../../testing/free-port.ts";
import { command, until } from "../server-process.ts";
import { type Desk, deskEnvironment, startPrinted } from "./agents.ts";

/** A message as Open WebUI keeps it, and its page shows it. */
interface Shown {
  readonly content: string;
  readonly error?: { readonly content: string } | null;
  readonly done?: boolean;
}

/**
 * Open WebUI with the settings that `locallm launch open-webui` prints, asked as its page asks it: an answer is a task
 * of its server, and is read from the chat. It has both connections: models of the OpenAI API have their own names, those
 * of the Ollama API begin with `ollama.`.
 */
export async function startOpenWebUi(
  serverUrl: string,
  desk: Desk,
  bins: readonly string[],
  apiKey = "locallm",
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { out } = await command(["launch", "open-webui"], {
    ...{ LOCALLM_HOST: serverUrl, LOCALLM_API_KEY: apiKey },
  });
  const script = `${out.trim()} --host 127.0.0.1 --port ${port}`;
  const started = startPrinted("sh", ["-c", script], desk.work, "", {
    ...deskEnvironment(desk, bins),
    LOCALLM_API_KEY: apiKey,
    DATA_DIR: `${desk.home}/open-webui`,
    WEBUI_AUTH: "false",
    OFFLINE_MODE: "true",
    HF_HUB_OFFLINE: "1",
  });
  let ended: number | null | undefined;
  void started.exited.then(({ code }) => {
    ended = code;
  });
  for (let seconds = 0; !(await fetch(`${url}/health`).catch(() => null))?.ok; seconds++) {
    if (ended !== undefined || seconds > 180)
      throw new Error(`Open WebUI did not start: ${started.stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  let token = "";
  const ask = async <Answer>(path: string, body?: object): Promise<Answer> => {
    const response = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };
  ({ token } = await ask<{ token: string }>("/api/v1/auths/signin", { email: "", password: "" }));
  const names = async () =>
    (await ask<{ data: { id: string }[] }>("/api/models?refresh=true")).data.map(({ id }) => id);
  await ask("/api/v1/tools/create", {
    ...{ id: "weather", name: "Weather", content: weather, meta: { description: "The weather" } },
  });
  return {
    names,
    version: async () => (await ask<{ version: string }>("/api/version")).version,
    /** Connects it to a server by both APIs. Models that it has listed remain until it lists again. */
    async connects(to: string, key: string): Promise<void> {
      await ask("/openai/config/update", {
        ...{ ENABLE_OPENAI_API: true, OPENAI_API_BASE_URLS: [`${to}/v1`], OPENAI_API_KEYS: [key] },
        OPENAI_API_CONFIGS: {},
      });
      await ask("/ollama/config/update", {
        ...{ ENABLE_OLLAMA_API: true, OLLAMA_BASE_URLS: [to] },
        OLLAMA_API_CONFIGS: { "0": { enable: true, prefix_id: "ollama", key } },
      });
    },
    /** Begins a chat. `stop` is the page's button. */
    async asks(model: string, content: string) {
      const id = randomUUID();
      const user = { id: randomUUID(), role: "user", content, parentId: null, childrenIds: [id] };
      const begun = await ask<{ chat_id: string; task_ids: string[] }>("/api/chat/completions", {
        ...{ model, stream: true, messages: [{ role: "user", content }], tool_ids: ["weather"] },
        ...{ session_id: "page", parent_id: null, id, user_message: user },
      });
      const message = async () => {
        const { chat } = await ask<{ chat: { history: { messages: Record<string, Shown> } } }>(
          `/api/v1/chats/${begun.chat_id}`,
        );
        return chat.history.messages[id];
      };
      return {
        stop: () => ask(`/api/tasks/stop/${begun.task_ids[0]}`, {}),
        async shown(): Promise<string> {
          await until("the answer is there", async () => {
            const now = await message();
            return now?.done === true || (now?.error ?? null) !== null;
          });
          const { content: text, error } = (await message())!;
          return error?.content ?? text;
        },
      };
    },
    async stop() {
      if (ended === undefined) process.kill(-started.child.pid!, "SIGTERM");
      const late = setTimeout(() => process.kill(-started.child.pid!, "SIGKILL"), 10_000);
      await started.exited;
      clearTimeout(late);
    },
  };
}

const weather = `class Tools:
    def weather(self, city: str) -> str:
        """
        The weather in a city.
        :param city: the city's name
        """
        return f"It is 21 degrees in {city}."
`;
