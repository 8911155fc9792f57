import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCases, startScriptedServer } from "../../client/test/client-case.ts";
import { folder, missingModules, pythons, run } from "./python.ts";

const missing = missingModules("build", "flit_core", "twine");
const cases = fileURLToPath(new URL("../../cases/", import.meta.url));
const program = join(folder, "test", "run_cases.py");
const [oldest, newest] = pythons();
const installs = [
  ...(oldest === undefined ? [] : [{ ...oldest, httpx: "httpx==0.24.0" }]),
  ...(newest === undefined ? [] : [{ ...newest, httpx: "httpx" }]),
];

describe.skipIf(missing.length > 0)("the package (needs build, flit_core and twine from pip)", () => {
  const place = mkdtempSync(join(tmpdir(), "dataq-client-python-"));
  let files: string[];
  beforeAll(async () => {
    await run("python3", ["-m", "build", "--no-isolation", "--outdir", join(place, "dist"), folder]);
    files = readdirSync(join(place, "dist")).map((name) => join(place, "dist", name));
    await Promise.all(installs.map(install));
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  /** Installs the wheel in an empty virtual environment. */
  async function install({ path, version, httpx }: (typeof installs)[number]): Promise<void> {
    await run(path, ["-m", "venv", "--without-pip", join(place, version)]);
    const wheel = files.find((file) => file.endsWith(".whl")) ?? "";
    await run("python3", ["-m", "pip", "--python", pythonOf(version), "install", "--quiet", wheel, httpx]);
  }

  function pythonOf(version: string): string {
    return join(place, version, "bin", "python");
  }

  test.concurrent("sdist and wheel pass twine check", async () => {
    expect(files.map((path) => path.split("/").at(-1))).toEqual([
      "dataq_client-0.1.0-py3-none-any.whl",
      "dataq_client-0.1.0.tar.gz",
    ]);
    const env = { ...process.env, NO_COLOR: "1", TERM: "dumb" };
    const { stdout } = await run("python3", ["-m", "twine", "check", "--strict", ...files], { env });
    expect(stdout.match(/PASSED/g)).toHaveLength(2);
  });

  test.each(installs)(
    "Python $version, with $httpx: installs only httpx and its dependencies",
    ({ version }) => {
      const packages = join(place, version, "lib", `python${version}`, "site-packages");
      const names = readdirSync(packages)
        .filter((name) => name.endsWith(".dist-info"))
        .map((name) => name.split("-")[0] ?? "");
      const ofHttpx = ["anyio", "certifi", "exceptiongroup", "h11", "httpcore", "idna", "sniffio"];
      const allowed = ["dataq_client", "httpx", ...ofHttpx, "typing_extensions"];
      expect(names).toEqual(expect.arrayContaining(["dataq_client", "httpx"]));
      expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
    },
  );

  test.concurrent.each(installs)(
    "Python $version, with $httpx: obeys its settings and limits",
    async (one) => {
      const { stderr } = await run(pythonOf(one.version), ["-I", join(folder, "test", "test_client.py")]);
      expect(stderr).toMatch(/^Ran [1-9]\d* tests in .*\n\nOK$/m);
    },
  );

  test.concurrent.each(installs)(
    "Python $version, with $httpx: sync and async behave as every case says",
    async (one) => {
      const server = await startScriptedServer();
      const { stdout } = await run(pythonOf(one.version), ["-I", program, cases, server.url]);
      server.close();
      const ran = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { face: string; name: string; failure: string | null });
      expect(ran.filter(({ failure }) => failure !== null)).toEqual([]);
      const all = ["requests", "retries", "errors", "pages"].flatMap((file) => readCases(file));
      const faces = ["sync", "async"].flatMap((face) => all.map(({ name }) => `${face} ${name}`));
      expect(ran.map(({ face, name }) => `${face} ${name}`)).toEqual(faces);
    },
  );
});
