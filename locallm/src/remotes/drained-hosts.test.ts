import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseNamedHost } from "../wire/remote-address.ts";
import { DrainedHosts } from "./drained-hosts.ts";

const named = (text: string) => parseNamedHost(text)!;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drained-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("DrainedHosts", () => {
  it("keeps changes made at the same time, in a file that the next start reads", async () => {
    const path = join(folder, "hosts.json");
    const hosts = await DrainedHosts.open(path);
    await Promise.all(["gpu1:8000", "gpu2", "gpu3:443"].map((host) => hosts.add(named(host))));
    await hosts.remove(named("gpu3:443"));
    const next = await DrainedHosts.open(path);
    const urls = ["http://gpu1:8000/v1", "http://gpu1:8001/v1", "http://gpu2:9/x", "https://gpu3/v1"];
    expect(urls.map((url) => next.has(url))).toEqual([true, false, true, false]);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ drained: ["gpu1:8000", "gpu2"] });
  });

  it("resumes a host on all its ports, but no single port of a host that is drained on all", async () => {
    const hosts = await DrainedHosts.open(null);
    await hosts.add(named("gpu1:1"));
    await hosts.add(named("gpu1:2"));
    await hosts.remove(named("gpu1"));
    expect(hosts.has("http://gpu1:1/")).toBe(false);
    await hosts.add(named("gpu2"));
    await expect(hosts.remove(named("gpu2:1"))).rejects.toThrow("resume gpu2 instead");
    expect(hosts.has("http://gpu2:1/")).toBe(true);
  });

  it("changes nothing if the file cannot be written", async () => {
    await writeFile(join(folder, "file"), "");
    const hosts = await DrainedHosts.open(join(folder, "file", "hosts.json"));
    await expect(hosts.add(named("gpu1"))).rejects.toThrow();
    expect(hosts.has("http://gpu1/")).toBe(false);
  });

  it("rejects a damaged file and shows the valid form", async () => {
    for (const [index, text] of [
      '{"drained": [1]}',
      '{"drained": ["gpu 1"]}',
      "",
      '{"drained": []} {',
      '["gpu1"]',
    ].entries()) {
      const path = join(folder, `damaged-${index}`);
      await writeFile(path, text);
      await expect(DrainedHosts.open(path)).rejects.toThrow(/damaged-\d: it must be like \{"drained": \[/);
    }
  });
});
