import { fileURLToPath } from "node:url";
import { serviceCommand as commandFor, type Program, programSettings } from "@locallm/autostart";
import { findInstallation, launcherOf } from "@locallm/updates";
import type { Command } from "commander";

/** `dataq service`: lets systemd, launchd or the Task Scheduler run the service. */
export function serviceCommand(): Command {
  return commandFor(program, (reason) => new Error(reason));
}

function program(): Program {
  // An update replaces what the launcher starts, and a service should start that.
  const installation = findInstallation("dataq", new URL("../../../", import.meta.url));
  if (installation.kind === "archive" && process.platform !== "win32")
    return serviceProgram(launcherOf("dataq", installation), null);
  // From source, Node needs the condition that selects it.
  const isSource = import.meta.url.endsWith(".ts");
  const main = fileURLToPath(new URL(isSource ? "../main.ts" : "../main.js", import.meta.url));
  return serviceProgram(process.execPath, [...(isSource ? ["-C", "source"] : []), main]);
}

/** The service, run by this Node with these options and this script; or by a launcher, which knows both. */
export function serviceProgram(node: string, script: readonly string[] | null): Program {
  return {
    name: "dataq",
    description: "dataq, a data query service",
    node,
    parameters: [...(script ?? []), "serve"],
    systemSettings: { DATAQ_DATA: "/var/lib/dataq" },
    usesGpu: false,
    settings: programSettings(newSettings),
  };
}

/** The settings that most operators change first; docs/dataq/operating.md has all. */
export const newSettings = [
  {
    variable: "DATAQ_HOST",
    value: "127.0.0.1:11435",
    meaning: "address to listen on; 0.0.0.0 accepts other machines",
  },
  { variable: "DATAQ_DATA", value: "", meaning: "the folder of database, keys and imports" },
  { variable: "DATABASE_URL", value: "", meaning: "a PostgreSQL to use instead of the embedded one" },
  { variable: "DATAQ_SECRET", value: "", meaning: "the pepper of stored keys, 16 characters or more" },
  { variable: "DATAQ_MODE", value: "local", meaning: "hosted: users verify their email address" },
  { variable: "DATAQ_ALLOWED_HOSTS", value: "", meaning: "host names under which it can be called" },
  { variable: "DATAQ_TRUSTED_PROXIES", value: "", meaning: "proxies whose X-Forwarded-For is trusted" },
  { variable: "DATAQ_URL", value: "", meaning: "the address where people reach it, for links in emails" },
];
