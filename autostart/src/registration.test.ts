import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { install, registrationFor, remove, shownRegistration, status } from "./autostart.ts";
import { type Program, programSettings } from "./program.ts";
import type { Machine } from "./registration.ts";
import { packagedService } from "./systemd.ts";

const program: Program = {
  name: "locallm",
  description: "locallm, a local model server",
  node: process.execPath,
  parameters: ['/opt/my programs/100%/$x"y\\z/main.js', "serve"],
  systemSettings: { DATA: "/srv/a b" },
  usesGpu: true,
  settings: programSettings([{ variable: "LOCALLM_HOST", value: "127.0.0.1:1", meaning: "where to listen" }]),
};
const machine: Machine = {
  platform: "linux",
  home: "/home/an & b",
  userName: "an",
  uid: 1000,
  gpuGroups: ["render"],
};
const hasVerify = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe.each(["system", "user"] as const)("the systemd unit of the %s", (scope) => {
  const { unit, settings, install: commands, logs } = registrationFor(program, scope, machine);

  it("escapes spaces, quotation marks, % and $ in the command", () => {
    const line = unit.text.match(/^ExecStart=(.*)$/m)?.[1];
    expect(line).toBe(`${process.execPath} "/opt/my programs/100%%/$$x\\"y\\\\z/main.js" serve`);
  });

  it("restarts after a failure, reads the settings and needs no new privileges", () => {
    for (const setting of ["Restart=on-failure", "NoNewPrivileges=yes", "UMask=0077", "OOMPolicy=continue"])
      expect(unit.text).toContain(`\n${setting}\n`);
    expect(unit.text).toContain(`\nEnvironmentFile=-${settings.path}\n`);
    expect(settings).toMatchObject({
      mode: 0o600,
      text: expect.stringContaining("\n# where to listen\n#LOCALLM_HOST="),
    });
    const flag = scope === "user" ? " --user" : "";
    expect(commands.at(-1)?.join(" ")).toBe(`systemctl${flag} restart locallm`);
    expect(unit.text).toContain(`systemctl${flag} edit locallm\n`);
    expect(logs).toBe(`journalctl${flag} -u locallm -f`);
  });

  it.skipIf(!hasVerify)("passes systemd-analyze verify (needs systemd)", () => {
    const folder = mkdtempSync(join(tmpdir(), "unit-"));
    try {
      const path = join(folder, "locallm.service");
      // The verifier requires that the program exists.
      writeFileSync(path, unit.text);
      const check = (text: string) => {
        writeFileSync(path, text);
        return spawnSync(
          "systemd-analyze",
          [`--${scope}`, "verify", "--man=no", "--recursive-errors=no", path],
          {
            encoding: "utf8",
            env: { PATH: process.env["PATH"], XDG_RUNTIME_DIR: folder },
          },
        );
      };
      const own = (text: string) => text.split("\n").filter((line) => line.includes("locallm.service"));
      expect(own(check(unit.text).stderr)).toEqual([]);
      const odd = join(folder, `no"de's $HOME 100% 用户`);
      symlinkSync(process.execPath, odd);
      const oddUnit = registrationFor({ ...program, node: odd }, scope, machine).unit;
      expect(own(check(oddUnit.text).stderr)).toEqual([]);
      expect(own(check(unit.text.replace("Restart=on-failure", "Restart=often")).stderr)).not.toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the unit of the system", () => {
  const text = (more: Partial<Program>) =>
    registrationFor({ ...program, ...more }, "system", machine).unit.text;

  it("runs as a separate user without access to the rest of the system", () => {
    for (const setting of ["User=locallm", "ProtectSystem=strict", "CapabilityBoundingSet="])
      expect(text({})).toContain(`\n${setting}\n`);
    expect(text({})).toContain('\nEnvironment="DATA=/srv/a b"\n');
  });

  it("hides devices from a program that uses no GPU", () => {
    expect(text({})).not.toContain("PrivateDevices");
    expect(text({})).toContain("\nSupplementaryGroups=render\n");
    expect(text({ usesGpu: false })).toContain("\nPrivateDevices=yes\n");
    expect(text({ usesGpu: false })).not.toContain("SupplementaryGroups");
  });

  it("hides home folders, unless the program is in one", () => {
    expect(text({ node: "/usr/bin/node", parameters: ["/usr/lib/main.js"] })).toContain(
      "\nProtectHome=yes\n",
    );
    expect(text({ node: "/home/an/node" })).toContain("\nProtectHome=read-only\n");
  });

  it("exists on Linux only", () => {
    for (const platform of ["darwin", "win32"] as const)
      expect(() => registrationFor(program, "system", { ...machine, platform })).toThrow(/without --system/);
  });
});

describe("the commands that are shown", () => {
  it.each([
    {
      platform: "win32",
      home: "C:\\Users\\o'neil & b",
      command:
        '#   schtasks /Create /TN locallm /XML "C:\\Users\\o\'neil & b\\AppData\\Local\\locallm\\locallm.task.xml" /F',
      log: "Get-Content -Wait 'C:\\Users\\o''neil & b\\AppData\\Local\\locallm\\locallm.log'",
    },
    {
      platform: "darwin",
      home: "/Users/o'neil & b",
      command: "#   launchctl bootstrap gui/1000 '/Users/o'\\''neil & b/Library/LaunchAgents/locallm.plist'",
      log: "tail -f '/Users/o'\\''neil & b/Library/Logs/locallm.log'",
    },
  ] as const)(
    "can be pasted on $platform for a user with a space in the name",
    ({ platform, home, command, log }) => {
      const registration = registrationFor(program, "user", { ...machine, platform, home });
      expect(shownRegistration(registration)).toContain(command);
      expect(registration.logs).toBe(log);
    },
  );
});

/** Reads XML with Python's parser, which refuses what is not well-formed. */
function pythonReads(code: string, bytes: Uint8Array): unknown {
  return JSON.parse(execFileSync("python3", ["-c", code], { input: bytes, encoding: "utf8" }));
}
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe.skipIf(!hasPython)("on macOS and Windows (needs python3)", () => {
  it("the launchd agent is a property list with the command and the settings", () => {
    const {
      unit,
      settings,
      install: commands,
    } = registrationFor(program, "user", {
      ...machine,
      platform: "darwin",
    });
    const read = "import sys,json,plistlib;print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
    expect(pythonReads(read, Buffer.from(unit.text, unit.encoding))).toMatchObject({
      Label: "locallm",
      ProgramArguments: [program.node, `--env-file-if-exists=${settings.path}`, ...program.parameters],
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
    });
    expect(unit.path).toBe("/home/an & b/Library/LaunchAgents/locallm.plist");
    expect(commands).toEqual([["launchctl", "bootstrap", "gui/1000", unit.path]]);
  });

  it("the task is XML in UTF-16 with the command and the settings", () => {
    const home = "C:\\Users\\an & b";
    const {
      unit,
      settings,
      remove: commands,
    } = registrationFor(program, "user", {
      ...machine,
      platform: "win32",
      home,
    });
    const read = `import sys,json,xml.etree.ElementTree as t
root=t.fromstring(sys.stdin.buffer.read())
print(json.dumps({e.tag.split("}")[1]:e.text for e in root.iter()}))`;
    expect(unit.path).toBe(`${home}\\AppData\\Local\\locallm\\locallm.task.xml`);
    expect(pythonReads(read, Buffer.from(unit.text, unit.encoding))).toMatchObject({
      Command: "cmd.exe",
      Arguments: `/d /s /c ""${process.execPath}" "--env-file-if-exists=${settings.path}" "${program.parameters[0]}" "serve" >> "${home}\\AppData\\Local\\locallm\\locallm.log" 2>&1"`,
      UserId: "an",
      ExecutionTimeLimit: "PT0S",
    });
    expect(commands.at(-1)?.join(" ")).toBe("schtasks /Delete /TN locallm /F");
  });
});

describe.skipIf(
  process.platform !== "linux" || spawnSync("test", ["-d", "/run/systemd/system"]).status === 0,
)("on Linux without systemd", () => {
  it("installing says what to do instead, and writes nothing", () => {
    expect(() => install(program, false)).toThrow(
      /^systemd does not run on this machine, so it cannot run locallm\. Start "locallm serve" with/,
    );
  });

  it("status and remove say that nothing is installed", () => {
    const other = { ...program, name: "locallm-never-installed" };
    for (const act of [status, remove])
      expect(act(other, false)).toMatchObject({
        ok: false,
        lines: [
          expect.stringMatching(/^locallm-never-installed is not installed as a service: .*not found$/),
        ],
      });
  });
});

describe("a package of the system", () => {
  it("has the unit of the system, its user and its settings, and says where the unit comes from", () => {
    const [unit, users, settings] = packagedService(program);
    const { unit: own } = registrationFor(program, "system", { ...machine, gpuGroups: [] });
    const body = (text: string) => text.split("\n").slice(1);
    expect(body(unit!.text)).toEqual(body(own.text));
    expect(unit).toMatchObject({ path: "/usr/lib/systemd/system/locallm.service", mode: 0o644 });
    expect(unit!.text).toMatch(/^# Part of the package locallm\. To change it: systemctl edit locallm\n/);
    // A group that a system lacks is made with its user; a unit that names one would not start.
    expect(users!.text).toBe(
      'u locallm - "locallm, a local model server" /var/lib/locallm /usr/sbin/nologin\nm locallm render\nm locallm video\n',
    );
    expect(settings).toMatchObject({ path: "/etc/locallm/locallm.env", mode: 0o600 });
    expect(packagedService({ ...program, usesGpu: false })[1]!.text).not.toContain("\nm ");
  });
});
