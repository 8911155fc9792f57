import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hermesTemplate } from "../../../locallm/test/hermes-template.ts";
import { type ServiceProcess, startService } from "../test/service-process.ts";
import { conformance } from "./mcp/conformance.ts";

export const title =
  "MCP: the official conformance runner, and an agent with a local model over both transports";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const node = [process.execPath, "--conditions=source"];
const agentSdk = "openai-agents==0.24.0";

interface Outcome {
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly outputs: readonly string[];
  readonly answer: string;
}

/** The vendor answers whatever a model asks, so that its calls cost their price. */
export async function run(print: (line: string) => void, folder: string): Promise<void> {
  await using service = await startService({ vendor: true });
  await conformance(service.url, service.key, join(folder, "conformance"), print);

  const python = await agentPython(join(folder, "agent"));
  await using model = await startModel(join(folder, "models"));
  print("");
  print(`${agentSdk}, smollm2:135m on locallm (it must call a tool; it chooses which, and with what):`);
  print("");
  print("| transport | question | tools shown | called with | the agent was told |");
  print("|---|---|---|---|---|");
  const cases = [
    ["http", "How many tokens does my account have?", "balance,legal_law_catalog"],
    ["http", "Find research papers about maize.", "research_paper_search,balance"],
    ["stdio", "Find research papers about maize.", "research_paper_search,balance"],
  ] as const;
  for (const [transport, question, tools] of cases) {
    const before = await requestsOf(service);
    const outcome = await ask(python, service, model.url, [transport, question, tools]);
    const [first] = outcome.calls;
    const told = outcome.outputs[0] ?? "";
    print(
      `| ${transport} | ${question} | ${tools} | \`${first?.name} ${cell(first?.arguments, 60)}\` | ${cell(told, 120)} |`,
    );
    if (!first || told === "" || outcome.answer === "") throw new Error(JSON.stringify(outcome));
    const paid = (await requestsOf(service)).slice(before.length);
    if (first.name === "research_paper_search" && !paid.some(({ tokens }) => tokens > 0))
      throw new Error(`The call is not in the account's list: ${JSON.stringify(outcome)}`);
  }
}

async function requestsOf(service: ServiceProcess): Promise<readonly { readonly tokens: number }[]> {
  const { body } = await service.call("/v1/requests?limit=100");
  return body.data.toReversed();
}

async function ask(python: string, service: ServiceProcess, modelUrl: string, args: readonly string[]) {
  const script = fileURLToPath(new URL("mcp/agent.py", import.meta.url));
  const cli = [...node, join(root, "dataq/service/src/cli/main.ts")];
  const { stdout } = await promisify(execFile)(python, [script, ...args, ...cli], {
    env: {
      PATH: process.env["PATH"],
      DATAQ_API_KEY: service.key,
      DATAQ_BASE_URL: service.url,
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      MODEL: "clerk",
    },
  });
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Outcome;
}

async function agentPython(folder: string): Promise<string> {
  const python = join(folder, "bin", "python");
  if (!existsSync(python)) {
    await promisify(execFile)("python3", ["-m", "venv", folder]);
    await promisify(execFile)(python, ["-m", "pip", "install", "--quiet", agentSdk]);
  }
  return python;
}

/** locallm with its starter model, and a template that shows the model the tools. */
async function startModel(models: string): Promise<AsyncDisposable & { readonly url: string }> {
  const child = spawn(
    node[0]!,
    [node[1]!, join(root, "locallm/src/cli/main.ts"), "serve", "--starter-model"],
    {
      env: { ...process.env, LOCALLM_HOST: "127.0.0.1:0", LOCALLM_MODELS: models },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  let shown = "";
  let url: string | undefined;
  for await (const bytes of child.stdout) {
    shown += String(bytes);
    url = /listening on (http:\S+?);?\s/.exec(shown)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error(`locallm did not start:\n${shown}`);
  await waitForModel(url);
  const made = await fetch(`${url}/api/create`, {
    method: "POST",
    body: JSON.stringify({
      model: "clerk",
      from: "smollm2:135m",
      template: hermesTemplate,
      parameters: { num_ctx: 8192 },
      stream: false,
    }),
  });
  if (!made.ok) throw new Error(await made.text());
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function waitForModel(url: string): Promise<void> {
  for (let second = 0; second < 300; second++) {
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: unknown[] | null };
    if (data?.length) return;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new Error("The starter model could not be downloaded.");
}

function cell(text: string | undefined, most: number): string {
  const line = (text ?? "").replaceAll(/\s+/g, " ").replaceAll("|", "/");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
