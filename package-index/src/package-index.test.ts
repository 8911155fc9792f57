import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Ask, findWheel, NoWheel } from "./package-index.ts";
import { readPipSettings } from "./pip-settings.ts";
import { compareVersions, parseRequirement, parseVersion, type Version } from "./version.ts";
import { fitsMachine, parseWheelName } from "./wheel-name.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "package-index-"));
  for (const name of Object.keys(process.env)) if (/^PIP_/.test(name)) vi.stubEnv(name, undefined);
  vi.stubEnv("PIP_CONFIG_FILE", "/dev/null");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const digest = (character: string) => character.repeat(64);

/** Answers like an index, and notes what it is asked. */
function index(pages: Record<string, string | object>): { ask: Ask; asked: string[] } {
  const asked: string[] = [];
  const ask: Ask = async (address, { headers }) => {
    asked.push(`${headers["authorization"] ?? "anonymous"} ${address.href}`);
    const page = pages[address.href];
    if (page === undefined) throw new Error("it answered 404");
    return typeof page === "string"
      ? { body: page, contentType: "text/html", address }
      : { body: JSON.stringify(page), contentType: "application/vnd.pypi.simple.v1+json", address };
  };
  return { ask, asked };
}

describe("a wheel without pip", () => {
  test("is the newest that is final, not withdrawn and of any Python", async () => {
    const file = (filename: string, more = {}) => ({
      filename,
      url: `../../files/${filename}`,
      hashes: { sha256: digest("a") },
      ...more,
    });
    const { ask, asked } = index({
      "https://pypi.org/simple/some-laws/": {
        files: [
          file("some_laws-1.9-py3-none-any.whl"),
          file("some_laws-1.10-py3-none-any.whl", { hashes: { sha256: digest("b") } }),
          file("some_laws-1.11-py3-none-any.whl", { yanked: "wrong data" }),
          file("some_laws-1.12-cp312-cp312-any.whl"),
          file("some_laws-1.13-py2-none-any.whl"),
          file("some_laws-2.0rc1-py3-none-any.whl"),
          file("some_laws-3.0.tar.gz"),
          file("other_laws-4.0-py3-none-any.whl"),
        ],
      },
    });
    expect(await findWheel("Some_Laws", ask)).toEqual({
      url: new URL("https://pypi.org/files/some_laws-1.10-py3-none-any.whl"),
      sha256: digest("b"),
      version: "1.10",
      certificateFile: null,
    });
    expect(asked).toEqual(["anonymous https://pypi.org/simple/some-laws/"]);
    expect((await findWheel("some-laws==1.9.0", ask)).version).toBe("1.9");
    expect((await findWheel("some-laws>=1.9,<1.10", ask)).version).toBe("1.9");
    expect((await findWheel("some-laws>1.10", ask)).version).toBe("2.0rc1");
    await expect(findWheel("some-laws>=9", ask)).rejects.toThrow("no index lists a wheel of some-laws>=9");
  });

  test("comes from a mirror that speaks HTML and wants a password, which no message repeats", async () => {
    vi.stubEnv("PIP_INDEX_URL", "https://me:s%40fe@mirror.example/simple/");
    const page = (more: string) =>
      `<!doctype html><A data-requires-python="&gt;=3.8" HREF='../../w/laws-2-py3-none-any.whl?a=1&amp;b=2#sha256=${digest("c")}'>x</A>${more}`;
    const address = "https://mirror.example/simple/laws/";
    const other = `<a href="https://files.example/laws-1-py3-none-any.whl#sha256=${digest("d")}" >y</a>`;
    const { ask, asked } = index({ [address]: page(other) });
    const found = await findWheel("laws", ask);
    expect(found.url.href).toBe("https://me:s%40fe@mirror.example/w/laws-2-py3-none-any.whl?a=1&b=2");
    expect(found.sha256).toBe(digest("c"));
    expect((await findWheel("laws==1", ask)).url.href).toBe("https://files.example/laws-1-py3-none-any.whl");
    expect(asked[0]).toBe(`Basic ${Buffer.from("me:s@fe").toString("base64")} ${address}`);
    const failure = findWheel("unknown", ask);
    await expect(failure).rejects.toThrow("mirror.example: it answered 404");
    await expect(failure).rejects.toBeInstanceOf(NoWheel);
    await expect(failure).rejects.not.toThrow(/s%40fe|s@fe/);
  });

  test("comes from a folder where no index may be asked, and is hashed there", async () => {
    vi.stubEnv("PIP_NO_INDEX", "1");
    vi.stubEnv("PIP_FIND_LINKS", folder);
    await writeFile(join(folder, "laws-1.0-py3-none-any.whl"), "a wheel");
    const { ask, asked } = index({});
    expect((await findWheel("laws", ask)).sha256).toBe(createHash("sha256").update("a wheel").digest("hex"));
    expect(asked).toEqual([]);
  });

  test.each([
    [
      "without a digest",
      `<a href="laws-1-py3-none-any.whl">x</a>`,
      "pypi.org lists laws-1-py3-none-any.whl without a sha256",
    ],
    [
      "of sources alone",
      `<a href="laws-1.tar.gz#sha256=${digest("a")}">x</a>`,
      "no index lists a wheel of laws",
    ],
  ])("is not taken from a page %s", async (_, body, message) => {
    await expect(findWheel("laws", index({ "https://pypi.org/simple/laws/": body }).ask)).rejects.toThrow(
      message,
    );
  });

  test("is not taken from an answer that is no list", async () => {
    const { ask } = index({ "https://pypi.org/simple/laws/": { files: "none" } });
    await expect(findWheel("laws", ask)).rejects.toThrow("pypi.org: no files");
  });
});

test("versions have the order of PEP 440", () => {
  const ordered =
    "1.0.dev1 1.0a1.dev2 1.0a1 1.0b2 1.0rc1 1.0 1.0.post1.dev1 1.0.post1 1.0.1 1.9 1.10 2.0 1!0.1".split(" ");
  const shuffled = ordered.toReversed().map((text) => parseVersion(text) as Version);
  expect(shuffled.sort(compareVersions).map(({ text }) => text)).toEqual(ordered);
  for (const text of ["", "latest", "1..2", "1.0-"]) expect(parseVersion(text), text).toBeNull();
});

test.each(["a b", "-r", "a==1.*", "a~=1.2", "a @ https://x"])(
  "%s is no requirement that we read",
  (wanted) => {
    expect(parseRequirement(wanted)).toBeNull();
  },
);

test.each([
  ["py3-none-any", true],
  ["py2.py3-none-manylinux2014_x86_64", true],
  ["py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64", true],
  ["py3-none-manylinux_2_39_x86_64", false],
  ["py3-none-manylinux2014_aarch64", false],
  ["py3-none-musllinux_1_2_x86_64", false],
  ["py3-none-win_amd64", false],
  ["py2-none-any", false],
])("a wheel for %s fits a Linux on x64 with glibc 2.36: %s", (tags, fits) => {
  const wheel = parseWheelName(`a-1-${tags}.whl`);
  expect(wheel !== null && fitsMachine(wheel, { platform: "linux", arch: "x64", glibc: "2.36" })).toBe(fits);
});

test("pip's settings are read in pip's order", async () => {
  const machine = join(folder, "xdg", "pip");
  const home = join(folder, "home");
  await mkdir(machine, { recursive: true });
  await mkdir(join(home, ".config", "pip"), { recursive: true });
  await writeFile(
    join(machine, "pip.conf"),
    "# a comment\n[global]\nindex-url = https://machine.example/simple\nextra_index_url =\n  https://one.example/simple\n  https://two.example/simple\n[list]\nindex-url = https://wrong.example\n",
  );
  await writeFile(
    join(home, ".config/pip/pip.conf"),
    "[global]\r\nindex-url=https://user.example/simple\r\ncert : /user.pem\r\n",
  );
  const read = (environment: NodeJS.ProcessEnv) =>
    readPipSettings({
      environment: { XDG_CONFIG_DIRS: join(folder, "xdg"), ...environment },
      home,
      platform: "linux",
    });
  const extra = ["https://one.example/simple", "https://two.example/simple"];
  expect(await read({})).toMatchObject({
    indexes: ["https://user.example/simple", ...extra],
    certificateFile: "/user.pem",
  });
  const own = join(folder, "own.conf");
  await writeFile(own, "[install]\nindex-url = https://own.example/simple\n");
  expect((await read({ PIP_CONFIG_FILE: own })).indexes[0]).toBe("https://own.example/simple");
  const variables = {
    PIP_CONFIG_FILE: own,
    PIP_INDEX_URL: "https://variable.example",
    PIP_EXTRA_INDEX_URL: "",
  };
  expect((await read(variables)).indexes[0]).toBe("https://variable.example");
  expect((await read({ PIP_CONFIG_FILE: "/dev/null" })).indexes).toEqual(["https://pypi.org/simple"]);
});
