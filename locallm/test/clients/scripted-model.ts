import type { ServerResponse } from "node:http";
import { basename } from "node:path";
import { done, eventStream, type ReceivedRequest, startScriptedEngine } from "../scripted-engine.ts";
import { startServerHere, type TestServer } from "../server-process.ts";

/** What a program is to do with a file. `text`: what to write; without it, the file is read. */
interface FileTask {
  readonly path: string;
  readonly text?: string;
}

/** The tools with which programs read a file, and the one of the programs that `locallm launch` prints. */
const reading: readonly string[] = ["Read", "exec_command", "read", "read_file", "weather"];
const writing: readonly string[] = ["Write", "exec_command", "write", "write_file"];

/** Arguments for these tools, by the name that a tool gives them. */
const inputs: Readonly<Record<string, (task: FileTask) => string>> = {
  file_path: ({ path }) => path,
  filePath: ({ path }) => path,
  filepath: ({ path }) => path,
  content: ({ text = "" }) => text,
  cmd: ({ path, text }) => (text === undefined ? `cat ${path}` : `printf %s '${text}' > ${path}`),
  city: () => "Oslo",
};

export interface Called {
  /** Whether the program asked for a stream. */
  readonly isStreamed: boolean;
  /** The tool that was called first. Null if the program offered none that is known. */
  readonly tool: string | null;
  /** What the program sent back. */
  readonly result: string | null;
}

/**
 * A locallm with the model `scripted`, which does what a model should: it calls a tool and then repeats what the tool
 * returned. A real model of this size would not do so, and the prompts of these programs are long; what is tested is
 * the program and our side of its API. The model is remote, so the script stands behind locallm.
 */
export async function startScriptedModel(
  folder: string,
  models = `${folder}/models`,
  environment: Readonly<Record<string, string>> = {},
) {
  const engine = await startScriptedEngine();
  const server: TestServer = await startServerHere({
    models,
    env: {
      LOCALLM_CREDENTIALS: `${folder}/credentials.json`,
      LOCALLM_REMOTES: new URL(engine.upstream.url).host,
      ...environment,
    },
  });
  await server.ask("/api/create", {
    model: "scripted",
    remotes: [{ url: engine.upstream.url, model: "scripted", requests: null }],
    stream: false,
  });
  /** Answers with a call of one of the tools, and then with what the tool returned. */
  function uses(tools: readonly string[], task: FileTask, otherwise: string): Called {
    const called: { -readonly [Key in keyof Called]: Called[Key] } = {
      isStreamed: false,
      tool: null,
      result: null,
    };
    engine.answers(({ body }) => {
      const { messages = [], tools: offered = [], stream } = body as Request;
      called.isStreamed ||= stream === true;
      const last = called.tool === null ? undefined : messages.at(-1);
      // smolagents sends a result as a message of the user.
      const result = messages.findLast(({ role }) => role === "tool") ?? last;
      const names = offered.map((tool) => tool.function.name);
      if (result !== undefined) {
        called.result = textOf(result.content);
        const text = `The tool says: ${called.result}`;
        return names.includes("final_answer") ? calls("final_answer", { answer: text }) : says(text);
      }
      const tool = offered.find(({ function: { name } }) => tools.includes(name))?.function;
      if (tool === undefined) return says(otherwise);
      called.tool = tool.name;
      const known = Object.keys(tool.parameters.properties).filter((key) => Object.hasOwn(inputs, key));
      return calls(tool.name, Object.fromEntries(known.map((key) => [key, inputs[key]!(task)])));
    });
    return called;
  }
  return {
    server,
    engine,
    /** Answers until the next call of a script. `path` is the file to read. */
    reads: (path: string) => uses(reading, { path }, "There is nothing to call."),
    /** The same with a file to write. A program without tools gets the file as Aider reads it: its name and a block. */
    writes: (path: string, text: string) =>
      uses(writing, { path, text }, `${basename(path)}\n\`\`\`\n${text}\n\`\`\``),
    /** Begins an answer and never ends it. Resolves when the program has gone and the engine was told so. */
    hangs(): { readonly asked: Promise<void>; readonly closed: Promise<void> } {
      const asked = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<void>();
      engine.answers((request: ReceivedRequest, response: ServerResponse) => {
        if (!request.path.endsWith("/chat/completions")) return list;
        // Silence for two minutes would end it.
        const drip = setInterval(() => response.write(eventStream(chunk({ content: "." }))), 10_000);
        response.once("close", () => {
          clearInterval(drip);
          closed.resolve();
        });
        asked.resolve();
        return { chunks: [eventStream(chunk({ role: "assistant", content: "One moment" }))], end: "hang" };
      });
      return { asked: asked.promise, closed: closed.promise };
    },
    async stop() {
      await server.stop();
      await engine.stop();
    },
  };
}

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>;

interface Request {
  readonly stream?: boolean;
  readonly messages?: readonly { role: string; content: unknown }[];
  readonly tools?: readonly { function: { name: string; parameters: { properties: object } } }[];
}

/** What the engine answers when it is asked whether it is well. */
const list = {
  headers: { "content-type": "application/json" },
  chunks: [JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] })],
};

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

function says(text: string) {
  const middle = Math.ceil(text.length / 2);
  return streamed(
    "stop",
    { role: "assistant", content: text.slice(0, middle) },
    { content: text.slice(middle) },
  );
}

function calls(name: string, input: object) {
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  };
  return streamed("tool_calls", { role: "assistant", tool_calls: [call] });
}

function streamed(finish: string, ...deltas: readonly object[]) {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const events = [
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finish),
    { ...chunk({}), choices: [], usage },
  ];
  return { chunks: [eventStream(...events, done)] };
}

function chunk(delta: object, finish: string | null = null) {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", choices };
}
