import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createSmallStore } from "../../locallm/test/model-store.ts";
import { starterName, starterStore } from "../../locallm/test/starter-model.ts";

/**
 * What somebody does first on this system: makes the archives for it, installs them with its script, starts both
 * products, gets an answer from each, and removes them. CI runs it on systems where a release cannot be tried by hand:
 *   npm run first-answer -- [--archives FOLDER]     a release that is there
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
const isWindows = process.platform === "win32";
const platform = `${isWindows ? "win" : process.platform}-${process.arch}`;
const { values } = parseArgs({ options: { archives: { type: "string" } } });
const place = mkdtempSync(join(tmpdir(), "first answer 首次 "));
const home = join(place, "home");
mkdirSync(home);
const environment: NodeJS.ProcessEnv = { ...process.env, HOME: home, LOCALAPPDATA: join(home, "local") };
// Nothing of who runs this, and what is downloaded, is used.
for (const name of Object.keys(environment))
  if (/^(?:LOCALLM|DATAQ|XDG)_/.test(name)) delete environment[name];
const started: ChildProcess[] = [];
try {
  const release = values.archives ?? makeRelease();
  for (const product of ["locallm", "dataq"] as const) {
    if (!readdirSync(release).some((name) => name.startsWith(`${product}-`) && name.includes(platform)))
      throw new Error(`The release has no ${product} for ${platform}.`);
    const began = Date.now();
    const [folder, program] = install(product, release);
    console.log(
      `${product}: installed in ${Date.now() - began} ms, version ${output(program, "--version").trim()}`,
    );
    await (product === "locallm" ? answerOfModel(program) : answerOfLaws(program));
    await stopAll();
    uninstall(product);
    if (existsSync(folder)) throw new Error(`${folder} is still there.`);
    console.log(`${product}: removed`);
  }
} finally {
  await stopAll();
  rmSync(place, { recursive: true, force: true, maxRetries: 10 });
}

function makeRelease(): string {
  const out = join(place, "release");
  const words = ["run", "release", "--", "--out", out, "--platform", platform, "--no-xz", "--allow-changes"];
  execFileSync("npm", isWindows ? words.map((word) => `"${word}"`) : words, {
    cwd: root,
    shell: isWindows,
    stdio: "inherit",
  });
  return out;
}

/** Returns the folder and the program. */
function install(product: string, release: string): [folder: string, program: string] {
  if (isWindows) {
    powershell("-Product", product, "-From", release);
    const folder = join(home, "local", "Programs", product);
    return [folder, join(folder, "bin", `${product}.cmd`)];
  }
  execFileSync("sh", [join(release, "install.sh"), product, "--from", release], {
    env: environment,
    stdio: "inherit",
  });
  return [join(home, ".local/share", `${product}-program`), join(home, ".local/bin", product)];
}

function uninstall(product: string): void {
  if (isWindows) powershell("-Product", product, "-Uninstall");
  else
    execFileSync("sh", [join(root, "scripts/release/install.sh"), product, "--uninstall"], {
      env: environment,
    });
}

function powershell(...words: string[]): void {
  const script = join(root, "scripts/release/install.ps1");
  execFileSync("powershell", ["-NoProfile", "-ExecutionPolicy", "Bypass", "-File", script, ...words], {
    env: environment,
    stdio: "inherit",
  });
}

async function answerOfModel(program: string): Promise<void> {
  const small = await createSmallStore();
  try {
    const starter = await starterStore();
    cpSync(starter ?? small.folder, join(home, "models"), { recursive: true });
  } finally {
    await small.remove();
  }
  const model = (await starterStore()) === null ? "small:a" : starterName;
  Object.assign(environment, { LOCALLM_HOST: "127.0.0.1:21711", LOCALLM_MODELS: join(home, "models") });
  const began = Date.now();
  await start(program, ["serve"], /127\.0\.0\.1:21711/);
  const listens = Date.now() - began;
  const answer = output(program, "run", model, "The capital of France is").trim();
  if (answer === "") throw new Error("locallm gave an empty answer.");
  console.log(
    `locallm: listens after ${listens} ms; first answer after ${Date.now() - began} ms: ${JSON.stringify(answer.slice(0, 80))}`,
  );
}

async function answerOfLaws(program: string): Promise<void> {
  const data = join(home, "数据 data");
  Object.assign(environment, { DATAQ_HOST: "127.0.0.1:21712", DATAQ_LAWS: "off", DATAQ_DATA: data });
  const laws = join(home, "laws.jsonl");
  const law = { law_id: "1", law_name: "档案保管条例", article_no: "第一条", article_no_arabic: 1 };
  writeFileSync(laws, `${JSON.stringify({ ...law, article_text: "为了保管档案，制定本条例。" })}\n`);
  const began = Date.now();
  await start(program, ["serve"], /http:\/\/127\.0\.0\.1:21712/);
  const listens = Date.now() - began;
  output(program, "import", "legal_laws", laws);
  Object.assign(environment, {
    DATAQ_BASE_URL: "http://127.0.0.1:21712",
    DATAQ_API_KEY: readFileSync(join(data, "local-key"), "utf8").trim(),
  });
  const answer = JSON.parse(
    output(program, "query", "legal_laws", "query=档案保管条例 第一条", "--json"),
  ) as {
    usage: { billed: boolean; tokens: number };
  };
  if (!answer.usage.billed) throw new Error(`dataq charged nothing: ${JSON.stringify(answer)}`);
  console.log(
    `dataq: listens after ${listens} ms; first paid answer after ${Date.now() - began} ms: ${answer.usage.tokens} tokens`,
  );
}

/** Starts a server, and waits until it prints the pattern. */
async function start(program: string, words: readonly string[], pattern: RegExp): Promise<void> {
  const child = spawn(quoted(program), words.map(quoted), {
    env: environment,
    shell: isWindows,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let said = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  while (!pattern.test(said)) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}:\n${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A shell of Windows starts the program of a .cmd file, so all of its processes are ended there. */
async function stopAll(): Promise<void> {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null) continue;
    const ended = once(child, "exit");
    if (isWindows) execFileSync("taskkill", ["/pid", String(child.pid), "/t", "/f"], { stdio: "ignore" });
    else child.kill();
    await ended;
  }
}

function output(program: string, ...words: string[]): string {
  return execFileSync(quoted(program), words.map(quoted), {
    env: environment,
    encoding: "utf8",
    shell: isWindows,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The shell of Windows divides words at spaces. */
function quoted(word: string): string {
  return isWindows ? `"${word}"` : word;
}
