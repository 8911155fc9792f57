import { join } from "node:path/win32";
import type { Program } from "./program.ts";
import type { Machine, Registration } from "./registration.ts";
import { escaped } from "./xml.ts";

/** Registers a program with the Task Scheduler of Windows: it starts when the current user logs on. */
export function taskRegistration(program: Program, { home, userName }: Machine): Registration {
  const { name } = program;
  const folder = join(home, "AppData", "Local", name);
  const settings = join(folder, `${name}.env`);
  const log = join(folder, `${name}.log`);
  const unit = join(folder, `${name}.task.xml`);
  return {
    manager: "the Task Scheduler",
    // schtasks reads UTF-16 with a byte order mark.
    unit: {
      path: unit,
      text: `\uFEFF${task(program, settings, log, userName)}`,
      mode: 0o600,
      encoding: "utf16le",
    },
    beside: [],
    settings: { path: settings, text: program.settings, mode: 0o600, encoding: "utf8" },
    folders: [],
    install: [
      ["schtasks", "/Create", "/TN", name, "/XML", unit, "/F"],
      ["schtasks", "/Run", "/TN", name],
    ],
    status: ["schtasks", "/Query", "/TN", name, "/V", "/FO", "LIST"],
    remove: [
      ["schtasks", "/End", "/TN", name],
      ["schtasks", "/Delete", "/TN", name, "/F"],
    ],
    forget: [],
    logs: `Get-Content -Wait '${log.replaceAll("'", "''")}'`,
    advice: [
      "The service runs while you are logged in, in a window of its own. Closing the window ends the service.",
    ],
  };
}

/** A task has no log and no settings file, so cmd.exe redirects the output and Node reads the settings. */
function task(
  { description, node, parameters }: Program,
  settings: string,
  log: string,
  user: string,
): string {
  const words = [node, `--env-file-if-exists=${settings}`, ...parameters].map((word) => `"${word}"`);
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${escaped(description)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>${escaped(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escaped(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>cmd.exe</Command>
      <Arguments>${escaped(`/d /s /c "${words.join(" ")} >> "${log}" 2>&1"`)}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}
