import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { purposeOf } from "../src/library/abilities.ts";
import type { CreateRequest } from "../src/wire/api/library.ts";
import { errors } from "../src/wire/errors.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { command, startServerHere, type TestServer } from "./server-process.ts";
import { smallAdapter, smallEncoder, smallSpec, smallTensor } from "./small-llama.ts";
import { type Entry, type GgufSpec, ggufBytes, text, u32, withEntry } from "./tiny-gguf.ts";

let store: ModelStore;
let server: TestServer;
let far: TestServer;
beforeAll(async () => {
  store = await createModelStore();
  for (const { name, file, more } of localKinds) await add(name, file(), await more?.());
  const environment = { LOCALLM_CREDENTIALS: join(store.folder, "credentials.json") };
  far = await startServerHere({ models: store.folder });
  server = await startServerHere({ models: store.folder, env: environment });
  for (const [name, { of }] of Object.entries(remoteKinds)) {
    const path = join(store.folder, "Modelfile");
    await writeFile(path, `FROM ${far.url}/v1#${of}`);
    const env = { ...environment, LOCALLM_MODELS: store.folder, LOCALLM_HOST: new URL(server.url).host };
    expect(await command(["create", name, "-f", path], env)).toMatchObject({ code: 0 });
  }
});
afterAll(async () => {
  await server?.stop();
  await far?.stop();
  await store.remove();
});

interface Kind {
  readonly name: string;
  readonly label: string;
  file(): GgufSpec;
  more?(): Promise<Partial<CreateRequest>>;
}

const rankHead = (spec: GgufSpec, architecture: string, heads: GgufSpec["tensors"]): GgufSpec => ({
  ...withEntry(spec, `${architecture}.pooling_type`, u32(4)),
  tensors: [...spec.tensors, ...heads],
});
const strings = (...items: string[]): Entry => ({ kind: "array", of: "string", items });

const localKinds: readonly Kind[] = [
  { name: "text", label: "text", file: () => smallSpec("llama", 1) },
  {
    name: "insert",
    label: "text, with a template for code between code",
    file: () => smallSpec("llama", 2),
    more: async () => ({
      template: "{{ .Prompt }}{{ if .Suffix }}<MID>{{ .Suffix }}{{ end }}",
    }),
  },
  {
    name: "code",
    label: "text, with tokens for infill",
    file: () => codeModel(),
  },
  {
    name: "quantised",
    label: "text, quantised",
    file: () => smallSpec("llama", 3),
    more: async () => ({ quantize: "q8_0" }),
  },
  {
    name: "adapter",
    label: "text, with an adapter",
    file: () => smallSpec("llama", 4),
    more: async () => ({ adapters: { "lora.gguf": await upload(smallAdapter(5)) } }),
  },
  {
    name: "projector",
    label: "text, with a projector for pictures",
    file: () => smallSpec("llama", 6),
    more: async () => ({
      files: { "mmproj.gguf": await upload(ggufBytes(projector)) },
    }),
  },
  {
    name: "listener",
    label: "text, with a projector for sound",
    file: () => smallSpec("llama", 17),
    more: async () => ({
      files: {
        "mmproj.gguf": await upload(
          ggufBytes(withEntry(projector, "clip.has_audio_encoder", { kind: "bool", value: true })),
        ),
      },
    }),
  },
  { name: "encoder", label: "embedding, an encoder", file: () => smallEncoder(7) },
  {
    name: "decoder",
    label: "embedding, a decoder with pooling",
    file: () => withEntry(smallSpec("qwen3", 8), "qwen3.pooling_type", u32(3)),
  },
  {
    name: "ranker",
    label: "reranker, an encoder with a head",
    file: () => rankHead(smallEncoder(9), "bert", [smallTensor("cls.output.weight", [64, 1], 10)]),
  },
  {
    name: "judge",
    label: "reranker, a decoder with yes and no",
    file: () =>
      rankHead(
        {
          ...smallSpec("qwen3", 11),
          metadata: [
            ...smallSpec("qwen3", 11).metadata,
            ["qwen3.classifier.output_labels", strings("yes", "no")],
            ["tokenizer.chat_template.rerank", text("Q: {query} D: {document} A:")],
          ],
        },
        "qwen3",
        [smallTensor("cls.output.weight", [64, 2], 12)],
      ),
  },
  {
    name: "headless",
    label: "reranker whose file lacks the head",
    file: () => rankHead(smallEncoder(13), "bert", []),
  },
];

/** Three bytes that no text has are tokens for infill instead. */
function codeModel(): GgufSpec {
  const spec = smallSpec("llama", 15);
  const infill = ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"];
  return [
    { key: "tokenizer.ggml.tokens", values: infill },
    { key: "tokenizer.ggml.token_type", values: infill.map(() => 3) },
  ].reduce((changed, { key, values }) => {
    const entry = changed.metadata.find(([name]) => name === key)![1] as Entry & { kind: "array" };
    return withEntry(changed, key, { ...entry, items: entry.items.toSpliced(4, 3, ...values) });
  }, spec);
}

const projector: GgufSpec = {
  metadata: [
    ["general.architecture", text("clip")],
    ["general.type", text("mmproj")],
  ],
  tensors: [smallTensor("mm.0.weight", [32, 32], 14)],
};

const remoteKinds: Readonly<Record<string, { label: string; of: string }>> = {
  "remote-text": { label: "remote, text", of: "text" },
  "remote-embedding": { label: "remote, embedding", of: "encoder" },
  "remote-ranker": { label: "remote, reranker", of: "ranker" },
};

const prompt = { prompt: "Hi", stream: false, max_tokens: 2, options: { num_predict: 2 } };
const message = { ...prompt, prompt: undefined, messages: [{ role: "user", content: "Hi" }] };
const ranking = { query: "a", documents: ["b", "c"] };
const png = `iVBORw0KGgo${"A".repeat(13)}`;
const wav = Buffer.from("RIFF1234WAVE").toString("base64");
const sound = { type: "input_audio", input_audio: { data: wav, format: "wav" } };
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };

/** What a model may be asked for. Every request for the same must get the same answer. */
const columns: Readonly<Record<string, readonly [path: string, body: object][]>> = {
  chat: [
    ["/api/chat", message],
    ["/v1/chat/completions", message],
    ["/v1/responses", { input: "Hi", max_output_tokens: 2 }],
    ["/v1/messages", message],
  ],
  "count tokens": [["/v1/messages/count_tokens", { messages: message.messages }]],
  generate: [
    ["/api/generate", prompt],
    ["/v1/completions", prompt],
  ],
  suffix: [
    ["/api/generate", { ...prompt, suffix: "!" }],
    ["/v1/completions", { ...prompt, suffix: "!" }],
  ],
  pictures: [
    ["/api/chat", { ...message, messages: [{ role: "user", content: "Hi", images: [png] }] }],
    ["/v1/chat/completions", { ...message, messages: [{ role: "user", content: [picture] }] }],
  ],
  sounds: [
    ["/api/chat", { ...message, messages: [{ role: "user", content: "Hi", images: [wav] }] }],
    ["/v1/chat/completions", { ...message, messages: [{ role: "user", content: [sound] }] }],
  ],
  embed: [
    ["/api/embed", { input: "Hi" }],
    ["/api/embeddings", { prompt: "Hi" }],
    ["/v1/embeddings", { input: "Hi" }],
  ],
  rerank: ["/v1/rerank", "/v2/rerank", "/rerank", "/api/rerank"].map((path) => [path, ranking] as const),
  tokenize: [["/api/tokenize", { content: "Hi" }]],
};

it("answers each kind of model on each route as docs/locallm/models.md says, and refuses the rest by name", async () => {
  const kinds = [
    ...localKinds.map(({ name, label }) => ({ name, label })),
    ...Object.entries(remoteKinds).map(([name, { label }]) => ({ name, label })),
  ];
  const rows = [["kind of model", "`capabilities`", "answers", "refuses, with 400 and a code"]];
  for (const { name, label } of kinds) {
    const { capabilities } = await server.ask<{ capabilities: string[] }>("/api/show", { model: name });
    const listed = await server.ask<{ capabilities: string[] }>(`/v1/models/${name}`);
    expect(listed.capabilities, name).toEqual(capabilities);
    const answered: string[] = [];
    const refused = new Map<string, string[]>();
    for (const [what, requests] of Object.entries(columns)) {
      const answers: Answer[] = [];
      for (const [path, body] of requests) answers.push(await answerOf(path, { model: name, ...body }));
      for (const answer of answers)
        expect(answer, `${name}: ${requests.map(([path]) => path)}`).toEqual(answers[0]);
      const { ok, said } = answers[0]!;
      if (ok) answered.push(what + said);
      else refused.set(said, [...(refused.get(said) ?? []), what]);
    }
    const refusals = [...refused].map(([code, what]) => `\`${code}\`: ${what.join(", ")}`);
    rows.push([
      label,
      capabilities.join(", ") || "none",
      answered.join(", ") || "nothing",
      refusals.join("; ") || "nothing",
    ]);
  }
  const page = join(import.meta.dirname, "../../docs/locallm/models.md");
  const written = await readFile(page, "utf8");
  // `npx vitest run locallm/test/kinds.test.ts -u` writes the page.
  await expect(written.replace(tablePlace, printed(rows))).toMatchFileSnapshot(page);
});

it("gives the probability of yes that the weights give by hand, for the file's own template", async () => {
  // The same weights without the head: the last token's numbers are what the head reads.
  const body = withEntry(smallSpec("qwen3", 11), "qwen3.pooling_type", u32(3));
  await add("judge-body", body);
  const head = smallTensor("cls.output.weight", [64, 2], 12).data!;
  const weights = new Float32Array(head.buffer, head.byteOffset, 128);
  const documents = ["It rains.", "x", "", "the then"];
  const { results } = await server.ask<{ results: { index: number; relevance_score: number }[] }>(
    "/v1/rerank",
    {
      ...{ model: "judge", query: "rain?", documents },
    },
  );
  expect(new Set(results.map((each) => each.relevance_score)).size).toBe(documents.length);
  for (const { index, relevance_score: score } of results) {
    const { embedding } = await server.ask<{ embedding: number[] }>("/api/embeddings", {
      ...{ model: "judge-body", prompt: `Q: rain? D: ${documents[index]} A:` },
    });
    const logit = (row: number) =>
      embedding.reduce((sum, each, at) => sum + each * weights[64 * row + at]!, 0);
    // A batch of several texts rounds differently.
    expect(score, documents[index]).toBeCloseTo(1 / (1 + Math.exp(logit(1) - logit(0))), 2);
  }
});

it("reranks on another engine as here", async () => {
  const ask = (model: string, more = {}) =>
    server.ask<{ results: object[]; usage: object }>("/v1/rerank", {
      ...{ model, query: "a", documents: ["b", "c d", "", "e".repeat(40)], ...more },
    });
  const here = await ask("ranker");
  const there = await ask("remote-ranker");
  expect(there.results).toEqual(here.results);
  expect(there.usage).toEqual(here.usage);
  for (const more of [{ top_n: 2, return_documents: true }, { normalize: true }, { documents: [] }])
    expect((await ask("remote-ranker", more)).results, JSON.stringify(more)).toEqual(
      (await ask("ranker", more)).results,
    );
});

it("fills a gap with the tokens of the file, and reads their texts in a prompt as text", async () => {
  const ids = async (content: string) =>
    (
      await server.ask<{ tokens: number[] }>("/api/tokenize", {
        model: "code",
        content,
        parse_special: false,
      })
    ).tokens;
  const [before, after] = ["f(<|fim_suffix|>x", ") + <|fim_middle|>"];
  const { context } = await server.ask<{ context: number[] }>("/api/generate", {
    ...{ model: "code", stream: false, options: { num_predict: 1 } },
    ...{ prompt: before, suffix: after },
  });
  const [prefix, suffix, middle] = [4, 5, 6];
  expect(context.slice(0, -1)).toEqual([
    prefix,
    ...(await ids(before)),
    suffix,
    ...(await ids(after)),
    middle,
  ]);
});

it("asks nothing of weights that do not answer one token after the other", () => {
  const of = (architecture: string, ...more: [string, number | boolean][]) =>
    purposeOf({
      metadata: new Map<string, string | number | boolean>([["general.architecture", architecture], ...more]),
      tensors: [],
    });
  expect([of("t5"), of("dream"), of("bert", ["bert.pooling_type", 4])]).toEqual([null, null, null]);
  expect(of("llama", ["llama.pooling_type", 0])).toBe("completion");
  expect(of("modern-bert", ["modern-bert.attention.causal", false])).toBe("embedding");
});

const tablePlace = /(?<=<!-- from locallm\/test\/kinds.test.ts -->\n\n).*?(?=\n\n)/s;

interface Answer {
  readonly ok: boolean;
  /** The code of a refusal, or what must be done before this is answered. */
  readonly said: string;
}

async function answerOf(path: string, body: object): Promise<Answer> {
  const reply = await server.post(path, body);
  const answer = await reply.text();
  if (reply.status === 200) return { ok: true, said: "" };
  expect(reply.status, answer).toBe(400);
  const { error } = JSON.parse(answer) as { error: string | { message: string } };
  const told = typeof error === "string" ? error : error.message;
  const code = codeOf(told);
  // `seeing.test.ts` and `hearing.test.ts` ask where the part is installed.
  const isMissing = code === "vision_missing";
  return { ok: isMissing, said: isMissing ? " [once installed](pictures.md)" : code };
}

function printed(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(" | ")} |`;
  const [head, ...rest] = rows;
  return [
    line(head!, " "),
    line(
      head!.map(() => ""),
      "-",
    ),
    ...rest.map((row) => line(row, " ")),
  ].join("\n");
}

/** Answers say an error's message; the table of errors says which code that is. */
function codeOf(told: string): string {
  const literal = (message: string) => message.split(/\{[^}]*\}/);
  const fits = Object.entries(errors).filter(([, { message }]) => {
    const pattern = literal(message).map((part) => RegExp.escape(part));
    return new RegExp(`^${pattern.join(".*")}$`, "s").test(told);
  });
  // Messages that are all details fit everything.
  const length = ([, { message }]: (typeof fits)[number]) => literal(message).join("").length;
  return fits.sort((a, b) => length(b) - length(a))[0]?.[0] ?? told;
}

async function add(name: string, spec: GgufSpec, more: Partial<CreateRequest> = {}): Promise<void> {
  const files = { "model.gguf": await upload(ggufBytes(spec)), ...more.files };
  // As `ModelStore.add` does.
  await store.derive(name, { parameters: { num_thread: 1 }, ...more, files });
}

async function upload(bytes: Buffer) {
  const path = join(store.folder, "file.gguf");
  await writeFile(path, bytes);
  const digest = await store.put(path);
  // The store may have linked the file.
  await rm(path);
  return digest;
}
