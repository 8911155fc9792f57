import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { launchdRegistration } from "./launchd.ts";
import type { Program } from "./program.ts";
import type { Command, Machine, Registration, RegistrationFile, Scope } from "./registration.ts";
import { shownCommand } from "./shown.ts";
import { packagedUnit, systemdRegistration } from "./systemd.ts";
import { taskRegistration } from "./task-scheduler.ts";

/** The operating system refused, or cannot do what was asked. The message says what to do. */
export class AutostartError extends Error {
  override readonly name = "AutostartError";
}

/** Lines for the user, and whether the command did what its name says. */
export interface Outcome {
  readonly lines: readonly string[];
  readonly ok: boolean;
}

/** The files that `install` writes, without writing them. Works on every machine. */
export function print(program: Program, isSystem: boolean): Outcome {
  return { lines: shownRegistration(registrationOf(program, isSystem)), ok: true };
}

/** Exported for the tests, which describe other machines. */
export function shownRegistration({
  manager,
  unit,
  beside,
  settings,
  install: commands,
}: Registration): string[] {
  const files = [unit, ...beside, settings].flatMap(({ path, text }) => [`# ${path}`, text]);
  return [...files, "# then:", ...commands.map((command) => `#   ${shownCommand(command, manager)}`)];
}

/** Registers the program and starts it. An earlier registration is replaced; its settings are kept. */
export function install(program: Program, isSystem: boolean): Outcome {
  const scope = requireScope(program, isSystem);
  const registration = registrationOf(program, isSystem);
  requireManager(program, registration);
  if (scope === "system") {
    if (existsSync(packagedUnit(program.name))) throw new AutostartError(packaged(program));
    requireReadable(program);
  }
  const { unit, beside, settings } = registration;
  if (!existsSync(settings.path)) write(settings);
  const earlier = [unit, ...beside].map(({ path }) => ({
    path,
    bytes: existsSync(path) ? readFileSync(path) : null,
  }));
  try {
    for (const file of [unit, ...beside]) write(file);
    if (registration.manager === "launchd" && earlier[0]?.bytes != null)
      for (const command of registration.remove) spawnSync(command[0], command.slice(1));
    for (const command of registration.install) run(command, registration.manager);
  } catch (error) {
    for (const { path, bytes } of earlier)
      if (bytes === null) rmSync(path, { force: true });
      else writeFileSync(path, bytes);
    throw error;
  }
  return {
    lines: [
      `${program.name} is now a service of ${registration.manager}: ${unit.path}`,
      `settings  ${settings.path}`,
      `status    ${program.name} service status`,
      `log       ${registration.logs}`,
      ...registration.advice,
    ],
    ok: true,
  };
}

/** What the service manager says about the service. */
export function status(program: Program, isSystem: boolean): Outcome {
  const registration = registrationOf(program, isSystem);
  if (!existsSync(registration.unit.path) && !isPackaged(program, registration))
    return missing(program, registration);
  requireManager(program, registration);
  const [command, ...parameters] = registration.status;
  const { status: code, stdout, stderr, error } = spawnSync(command, parameters, { encoding: "utf8" });
  if (error !== undefined) throw new AutostartError(`${command} cannot run: ${error.message}`);
  return { lines: [(stdout || stderr).trimEnd(), `log: ${registration.logs}`], ok: code === 0 };
}

/** Stops the service and removes its registration. Settings, models and data stay. */
export function remove(program: Program, isSystem: boolean): Outcome {
  requireScope(program, isSystem);
  const registration = registrationOf(program, isSystem);
  const { unit, beside, settings, folders } = registration;
  if (!existsSync(unit.path) && isPackaged(program, registration))
    throw new AutostartError(packaged(program));
  if (!existsSync(unit.path)) return missing(program, registration);
  requireManager(program, registration);
  // A service that does not run cannot be stopped, but it can still be removed.
  for (const [command, ...parameters] of registration.remove) spawnSync(command, parameters);
  for (const { path } of [unit, ...beside]) rmSync(path, { force: true });
  for (const command of registration.forget) run(command, registration.manager);
  const kept = [settings.path, ...folders].join(", ");
  return { lines: [`Removed ${unit.path}. Kept: ${kept}, and all models and data.`], ok: true };
}

/** Whether the service of the whole machine came with a package of the system. */
function isPackaged({ name }: Program, { unit }: Registration): boolean {
  return unit.path.startsWith("/etc/") && existsSync(packagedUnit(name));
}

function packaged({ name }: Program): string {
  return `${name} was installed as a package of this system, which brought its service. Use systemctl: "systemctl enable --now ${name}", "systemctl disable --now ${name}"; the settings are in /etc/${name}/${name}.env.`;
}

function missing({ name }: Program, { unit }: Registration): Outcome {
  return { lines: [`${name} is not installed as a service: ${unit.path} not found`], ok: false };
}

function registrationOf(program: Program, isSystem: boolean): Registration {
  return registrationFor(program, isSystem ? "system" : scopeHere(), thisMachine());
}

/** Exported for the tests, which describe other machines. */
export function registrationFor(program: Program, scope: Scope, machine: Machine): Registration {
  if (machine.platform === "linux") return systemdRegistration(program, scope, machine);
  if (scope === "system")
    throw new AutostartError(
      "--system needs systemd on Linux; on macOS and Windows the service belongs to the current user. Run the command without --system.",
    );
  if (machine.platform === "darwin") return launchdRegistration(program, machine);
  if (machine.platform === "win32") return taskRegistration(program, machine);
  throw new AutostartError(
    `${program.name} supports no service manager on ${machine.platform}. Let your service manager run: ${shownCommand([program.node, ...program.parameters], "systemd")}`,
  );
}

function thisMachine(): Machine {
  const { username, uid } = userInfo();
  const groups = existsSync("/etc/group") ? readFileSync("/etc/group", "utf8") : "";
  return {
    platform: process.platform,
    home: homedir(),
    userName: username,
    uid,
    gpuGroups: ["render", "video"].filter((name) => groups.includes(`\n${name}:`)),
  };
}

/** Root gets a system service, because a user service runs only while its user is logged in. */
function scopeHere(): Scope {
  return process.platform === "linux" && process.getuid?.() === 0 ? "system" : "user";
}

function requireScope({ name }: Program, isSystem: boolean): Scope {
  if (isSystem && process.platform === "linux" && process.getuid?.() !== 0)
    throw new AutostartError(
      `A system service needs root. Run the same command with sudo, or without --system to run ${name} as your own user.`,
    );
  return isSystem ? "system" : scopeHere();
}

function requireManager({ name }: Program, { manager, unit }: Registration): void {
  if (manager !== "systemd" || existsSync("/run/systemd/system")) return;
  throw new AutostartError(
    `systemd does not run on this machine, so it cannot run ${name}. Start "${name} serve" with the service manager that you have, or in a container (docs/services.md). "${name} service install --print" shows ${unit.path}, which names the command and its settings.`,
  );
}

/** The service's own user must be able to run Node and the program. */
function requireReadable({ name, node, parameters }: Program): void {
  const script = parameters.find((word) => word.startsWith("/"));
  for (const path of [node, script].filter((each) => each !== undefined))
    for (let at = realpathSync(path); ; at = dirname(at)) {
      const { mode } = statSync(at);
      const needed = at === realpathSync(path) ? 0o004 : 0o001;
      if ((mode & needed) === 0)
        throw new AutostartError(
          `The user ${name}, as which the service runs, cannot read ${path}, because ${at} is closed to other users. Install Node and ${name} where all users can read them, such as /usr/local.`,
        );
      if (dirname(at) === at) break;
    }
}

/** Writes a file completely or not at all. */
function write({ path, text, mode, encoding }: RegistrationFile): void {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = join(dirname(path), `.${process.pid}.new`);
  try {
    writeFileSync(fresh, text, { mode, encoding });
    chmodSync(fresh, mode);
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}

function run(line: Command, manager: Registration["manager"]): void {
  const [command, ...parameters] = line;
  const { status: code, stderr, error } = spawnSync(command, parameters, { encoding: "utf8" });
  if (code === 0) return;
  const said = error?.message ?? (stderr.trim().split("\n").at(-1) || `it ended with ${code}`);
  const advice = /connect to .*bus|XDG_RUNTIME_DIR/i.test(said)
    ? ' Log in as this user directly (not with su or sudo), or let it run without a login: "loginctl enable-linger", then set XDG_RUNTIME_DIR=/run/user/$(id -u).'
    : "";
  throw new AutostartError(`${shownCommand(line, manager)} failed: ${said}.${advice}`);
}
