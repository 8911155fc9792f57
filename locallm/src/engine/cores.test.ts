import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { computingCores } from "./cores.ts";

const folder = mkdtempSync(join(tmpdir(), "cores-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the cores that compute", () => {
  it("are at least one, whatever the system tells", () => {
    expect(computingCores()).toBeGreaterThanOrEqual(1);
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const nowhere = { platform, devices: "/nowhere", sysctl: "/nowhere" };
      expect(computingCores({ ...nowhere, usable: 6 })).toBe(6);
      expect(computingCores({ ...nowhere, usable: 0 })).toBe(1);
    }
  });

  it.each([
    ["two threads each", ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"], "", 8, 4],
    ["one thread each", ["0", "1", "2"], "", 3, 3],
    ["fewer that this process may use", ["0", "1", "2", "3"], "", 2, 2],
    ["some that are switched off", ["0", "", "2", ""], "", 4, 2],
    [
      "performance cores with two threads, efficiency cores with one",
      ["0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"],
      "0-3\n",
      8,
      2,
    ],
    ["a list of performance cores with a gap", ["0", "1", "2", "3", "4", "5"], "0,3-4", 6, 3],
    ["a list that says nothing", ["0", "1"], "\n", 2, 2],
  ])("of Linux: %s", (what, topology, fast, usable, expected) => {
    const devices = join(folder, what);
    for (const [number, together] of topology.entries()) {
      const cpu = join(devices, "system/cpu", `cpu${number}`, "topology");
      mkdirSync(cpu, { recursive: true });
      if (together !== "") writeFileSync(join(cpu, "core_cpus_list"), `${together}\n`);
    }
    mkdirSync(join(devices, "system/cpu/cpufreq"), { recursive: true });
    if (fast !== "") {
      mkdirSync(join(devices, "cpu_core"), { recursive: true });
      writeFileSync(join(devices, "cpu_core/cpus"), fast);
    }
    expect(computingCores({ platform: "linux", devices, usable })).toBe(expected);
  });

  it.skipIf(process.platform === "win32").each([
    ["Apple's, with 4 efficiency cores", '[ "$2" = hw.perflevel0.physicalcpu ] && echo 8', 12, 8],
    ["Intel's, which have one kind", '[ "$2" = hw.physicalcpu ] && echo 6', 12, 6],
    ["a kernel that says something else", "echo 'unknown oid'", 5, 5],
  ])("of macOS: %s", (what, script, usable, expected) => {
    const sysctl = join(folder, what.replaceAll("'", ""));
    writeFileSync(sysctl, `#!/bin/sh\n${script}\n`);
    chmodSync(sysctl, 0o755);
    expect(computingCores({ platform: "darwin", sysctl, usable })).toBe(expected);
  });
});
