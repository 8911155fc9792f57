import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** What pip would read of its settings: where packages are, and whom to trust. */
export interface PipSettings {
  /** Addresses of indexes, the main one first; empty with `no-index`. They may hold a name and a password. */
  readonly indexes: readonly string[];
  /** Folders, `file:` addresses or pages that list wheels. */
  readonly links: readonly string[];
  /** A file of additional PEM certificates. */
  readonly certificateFile: string | null;
}

/** The system that the settings are read from; tests pass their own. */
export interface System {
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export function thisSystem(): System {
  return { environment: process.env, home: homedir(), platform: process.platform };
}

const pypi = "https://pypi.org/simple";

/**
 * Reads pip's files and variables in pip's order: the machine's, the user's, those of `VIRTUAL_ENV` and of
 * `PIP_CONFIG_FILE`, then variables. A section `[install]` wins over `[global]`. Unreadable files are left out, as pip
 * leaves them out.
 */
export async function readPipSettings(system: System): Promise<PipSettings> {
  const { environment } = system;
  const found = new Map<string, string>();
  const files = await Promise.all(filesOf(system).map((path) => readFile(path, "utf8").catch(() => "")));
  for (const section of ["global", "install"])
    for (const text of files) for (const [key, value] of valuesIn(text, section)) found.set(key, value);
  for (const [name, value] of Object.entries(environment))
    if (/^PIP_/i.test(name) && value) found.set(keyOf(name.slice(4)), value);
  const words = (key: string) => found.get(key)?.split(/\s+/).filter(Boolean) ?? [];
  const isTrue = (key: string) => /^(?:1|true|yes|on|y|t)$/i.test(found.get(key) ?? "");
  const main = found.get("index-url") ?? found.get("pypi-url") ?? pypi;
  return {
    indexes: isTrue("no-index") ? [] : [main, ...words("extra-index-url")],
    links: words("find-links"),
    certificateFile: found.get("cert") ?? null,
  };
}

function filesOf({ environment, home, platform }: System): string[] {
  const own = environment["PIP_CONFIG_FILE"];
  if (own === "/dev/null" || own?.toLowerCase() === "nul") return [];
  const name = platform === "win32" ? "pip.ini" : "pip.conf";
  const at = (folder: string | undefined, ...more: string[]) => (folder ? [join(folder, ...more, name)] : []);
  const machine = {
    win32: at(environment["ProgramData"], "pip"),
    darwin: at("/Library/Application Support", "pip"),
  }[platform as string] ?? [
    ...(environment["XDG_CONFIG_DIRS"] || "/etc/xdg").split(delimiter).flatMap((folder) => at(folder, "pip")),
    "/etc/pip.conf",
  ];
  const user = {
    win32: [...at(home, "pip"), ...at(environment["APPDATA"], "pip")],
    darwin: [
      ...at(home, ".pip"),
      ...at(home, ".config", "pip"),
      ...at(home, "Library/Application Support/pip"),
    ],
  }[platform as string] ?? [
    ...at(home, ".pip"),
    ...at(environment["XDG_CONFIG_HOME"] || join(home, ".config"), "pip"),
  ];
  return [...machine, ...user, ...at(environment["VIRTUAL_ENV"]), ...(own ? [own] : [])];
}

/** Reads a section of an INI file. Lines that are indented continue the value before them. */
function valuesIn(text: string, wanted: string): Map<string, string> {
  const values = new Map<string, string>();
  let section = "";
  let key: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const [, name] = /^\[([^\]]+)\]/.exec(line) ?? [];
    const [, before, value] = /^(\S[^=:]*?)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      section = name.trim();
      key = undefined;
    } else if (/^\s/.test(line)) {
      if (key !== undefined) values.set(key, `${values.get(key)}\n${line.trim()}`.trim());
    } else {
      key = section === wanted && before !== undefined ? keyOf(before) : undefined;
      if (key !== undefined) values.set(key, (value as string).trim());
    }
  }
  return values;
}

function keyOf(name: string): string {
  return name.toLowerCase().replaceAll("_", "-").replace(/^-+/, "");
}
