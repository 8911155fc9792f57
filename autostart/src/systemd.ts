import { join } from "node:path/posix";
import type { Program } from "./program.ts";
import type { Command, Machine, Registration, RegistrationFile, Scope } from "./registration.ts";

/** Registers a program with systemd: a system unit with a separate user, or a unit of the current user. */
export function systemdRegistration(program: Program, scope: Scope, machine: Machine): Registration {
  return scope === "system" ? systemUnit(program, machine) : userUnit(program, machine);
}

function systemUnit(program: Program, { gpuGroups }: Machine): Registration {
  const { name, usesGpu } = program;
  const users = `/etc/sysusers.d/${name}.conf`;
  const groups = usesGpu && gpuGroups.length > 0 ? [`SupplementaryGroups=${gpuGroups.join(" ")}`] : [];
  return {
    ...common(program, ["systemctl"]),
    unit: file(
      `/etc/systemd/system/${name}.service`,
      systemText(program, `Made by: ${name} service install`, groups),
    ),
    beside: [file(users, userLine(program))],
    settings: file(settingsOf(name), program.settings, 0o600),
    folders: [stateOf(name)],
    install: [["systemd-sysusers", users], ...start(["systemctl"], name)],
    logs: `journalctl -u ${name} -f`,
    advice: [],
  };
}

/**
 * What a package of the system (.deb, .rpm) contains for the service. Its user joins the groups of the GPU by
 * `systemd-sysusers`, which creates groups that a system lacks: a unit that names one does not start there.
 */
export function packagedService(program: Program): readonly RegistrationFile[] {
  const { name, usesGpu } = program;
  const groups = usesGpu ? ["render", "video"].map((group) => `m ${name} ${group}\n`) : [];
  return [
    file(packagedUnit(name), systemText(program, `Part of the package ${name}`, [])),
    file(`/usr/lib/sysusers.d/${name}.conf`, userLine(program) + groups.join("")),
    file(settingsOf(name), program.settings, 0o600),
  ];
}

/** The unit that a package of the system brings. */
export function packagedUnit(name: string): string {
  return `/usr/lib/systemd/system/${name}.service`;
}

function stateOf(name: string): string {
  return `/var/lib/${name}`;
}

function settingsOf(name: string): string {
  return `/etc/${name}/${name}.env`;
}

function userLine({ name, description }: Program): string {
  return `u ${name} - "${description}" ${stateOf(name)} /usr/sbin/nologin\n`;
}

function systemText(program: Program, origin: string, groups: readonly string[]): string {
  const { name, usesGpu } = program;
  const state = stateOf(name);
  return unitText(program, origin, settingsOf(name), "multi-user.target", [
    `User=${name}`,
    `Group=${name}`,
    ...groups,
    `StateDirectory=${name}`,
    "StateDirectoryMode=0711",
    `WorkingDirectory=${state}`,
    ...Object.entries({ HOME: state, ...program.systemSettings }).map(
      ([variable, value]) => `Environment=${quoted(`${variable}=${value}`)}`,
    ),
    ...userHardening,
    "PrivateTmp=yes",
    ...(usesGpu ? [] : ["PrivateDevices=yes"]),
    "ProtectSystem=strict",
    `ProtectHome=${isBelowHomes(program) ? "read-only" : "yes"}`,
    "ProtectProc=invisible",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "CapabilityBoundingSet=",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "RestrictNamespaces=yes",
    "SystemCallFilter=@system-service",
    "SystemCallErrorNumber=EPERM",
  ]);
}

function userUnit(program: Program, { home, userName }: Machine): Registration {
  const { name } = program;
  const settings = join(home, `.config/${name}/${name}.env`);
  const text = unitText(
    program,
    `Made by: ${name} service install`,
    settings,
    "default.target",
    userHardening,
  );
  return {
    ...common(program, ["systemctl", "--user"]),
    unit: file(join(home, `.config/systemd/user/${name}.service`), text),
    beside: [],
    settings: file(settings, program.settings, 0o600),
    folders: [],
    install: start(["systemctl", "--user"], name),
    logs: `journalctl --user -u ${name} -f`,
    advice: [
      `The service runs while you are logged in. To run it from boot: sudo loginctl enable-linger ${userName}`,
    ],
  };
}

/** Hardening that needs no privileges, so that a user's own manager can apply it. */
const userHardening = [
  "UMask=0077",
  "NoNewPrivileges=yes",
  "LockPersonality=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "SystemCallArchitectures=native",
];

function unitText(
  { name, description, node, parameters }: Program,
  origin: string,
  settings: string,
  wantedBy: string,
  more: readonly string[],
): string {
  const lines = [
    `# ${origin}. To change it: ${wantedBy === "default.target" ? "systemctl --user" : "systemctl"} edit ${name}`,
    "[Unit]",
    `Description=${description}`,
    "Wants=network-online.target",
    "After=network-online.target",
    "StartLimitIntervalSec=60",
    "StartLimitBurst=5",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${[...runnable(node), ...parameters].map(quoted).join(" ")}`,
    "# Node keeps compiled modules, so that the next start is quicker.",
    `CacheDirectory=${name}`,
    `Environment=NODE_COMPILE_CACHE=%C/${name}/compiled`,
    `EnvironmentFile=-${specified(settings)}`,
    "Restart=on-failure",
    "RestartSec=2",
    "# SIGTERM goes to the server alone, which stops its own processes.",
    "KillMode=mixed",
    "# The server asks for more time while requests are open.",
    "TimeoutStopSec=30",
    "# The server has systemd keep the socket on which it listens: callers wait while it starts anew.",
    "NotifyAccess=main",
    "FileDescriptorStoreMax=1",
    "# The server continues if the system kills one of its processes for lack of memory.",
    "OOMPolicy=continue",
    "# MemoryDenyWriteExecute must stay off, because Node compiles JavaScript at run time.",
    ...more,
    "",
    "[Install]",
    `WantedBy=${wantedBy}`,
  ];
  return `${lines.join("\n")}\n`;
}

function common({ name }: Program, systemctl: Command) {
  return {
    manager: "systemd",
    status: [...systemctl, "status", "--no-pager", "--lines=5", name],
    remove: [[...systemctl, "disable", "--now", name]],
    forget: [[...systemctl, "daemon-reload"]],
  } as const satisfies Partial<Registration>;
}

/** `restart` also starts a service that does not run, and gives a running one its new unit. */
function start(systemctl: Command, name: string): Command[] {
  return [
    [...systemctl, "daemon-reload"],
    [...systemctl, "enable", name],
    [...systemctl, "restart", name],
  ];
}

function isBelowHomes({ node, parameters }: Program): boolean {
  return [node, ...parameters].some((path) => /^\/(?:home|root|run\/user)\//.test(path));
}

function file(path: string, text: string, mode = 0o644) {
  return { path, text, mode, encoding: "utf8" } as const;
}

/** systemd runs no program with quotation marks in its path, and does not replace `$$` in it. */
function runnable(node: string): string[] {
  return /["'\\$]/.test(node) ? ["/usr/bin/env", node] : [node];
}

/** In a unit, % begins a specifier and $ a variable, also between quotation marks. */
function quoted(text: string): string {
  const escaped = specified(text).replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(escaped)
    ? escaped
    : `"${escaped.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function specified(text: string): string {
  return text.replaceAll("%", "%%");
}
