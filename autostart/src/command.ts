import { Command } from "commander";
import { AutostartError, install, type Outcome, print, remove, status } from "./autostart.ts";
import type { Program } from "./program.ts";

interface Options {
  system?: boolean;
  print?: boolean;
}

/**
 * The command `service` of a program, with `install`, `status` and `remove`. `failed` turns a reason into the
 * program's own error.
 */
export function serviceCommand(program: () => Program, failed: (reason: string) => Error): Command {
  const run = (act: () => Outcome) => {
    const { lines, ok } = orFail(act, failed);
    for (const line of lines) console.log(line);
    if (!ok) process.exitCode = 1;
  };
  const system = [
    "--system",
    "for the whole machine, run by a separate user (systemd; the default for root)",
  ] as const;
  const service = new Command("service").description("run the server in the background, from login or boot");
  service
    .command("install")
    .description("start the server now and at each login or boot")
    .option(...system)
    .option("--print", "show the files and commands, and change nothing")
    .action((options: Options) =>
      run(() => (options.print ? print : install)(program(), options.system === true)),
    );
  service
    .command("status")
    .description("show whether it runs")
    .option(...system)
    .action((options: Options) => run(() => status(program(), options.system === true)));
  service
    .command("remove")
    .description("stop it and do not start it again; settings and data stay")
    .option(...system)
    .action((options: Options) => run(() => remove(program(), options.system === true)));
  return service;
}

function orFail(act: () => Outcome, failed: (reason: string) => Error): Outcome {
  try {
    return act();
  } catch (error) {
    if (error instanceof AutostartError) throw failed(error.message);
    throw error;
  }
}
