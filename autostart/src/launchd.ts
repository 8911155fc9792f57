import { join } from "node:path/posix";
import type { Program } from "./program.ts";
import type { Machine, Registration } from "./registration.ts";
import { shownWord } from "./shown.ts";
import { escaped } from "./xml.ts";

/** Registers a program as a launchd agent of the current user on macOS. */
export function launchdRegistration(program: Program, { home, uid }: Machine): Registration {
  const { name } = program;
  const settings = join(home, `.config/${name}/${name}.env`);
  const log = join(home, `Library/Logs/${name}.log`);
  const unit = join(home, `Library/LaunchAgents/${name}.plist`);
  return {
    manager: "launchd",
    unit: { path: unit, text: plist(program, settings, log), mode: 0o644, encoding: "utf8" },
    beside: [],
    settings: { path: settings, text: program.settings, mode: 0o600, encoding: "utf8" },
    folders: [],
    install: [["launchctl", "bootstrap", `gui/${uid}`, unit]],
    status: ["launchctl", "print", `gui/${uid}/${name}`],
    remove: [["launchctl", "bootout", `gui/${uid}/${name}`]],
    forget: [],
    logs: `tail -f ${shownWord(log, "launchd")}`,
    advice: ["The service runs while you are logged in."],
  };
}

/** launchd reads no settings file, so Node does. */
function plist({ name, node, parameters }: Program, settings: string, log: string): string {
  const line = [node, `--env-file-if-exists=${settings}`, ...parameters];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escaped(name)}</string>
  <key>ProgramArguments</key>
  <array>
${line.map((word) => `    <string>${escaped(word)}</string>`).join("\n")}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>Umask</key>
  <integer>${0o077}</integer>
  <key>StandardOutPath</key>
  <string>${escaped(log)}</string>
  <key>StandardErrorPath</key>
  <string>${escaped(log)}</string>
</dict>
</plist>
`;
}
