import { Command } from "commander";
import { version } from "../version.ts";
import { LocallmError } from "../wire/errors.ts";
import { ServerError } from "./client.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { cpCommand } from "./commands/cp.ts";
import { createCommand } from "./commands/create.ts";
import { dfCommand } from "./commands/df.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { launchCommand } from "./commands/launch.ts";
import { listCommand } from "./commands/list.ts";
import { pruneCommand } from "./commands/prune.ts";
import { psCommand } from "./commands/ps.ts";
import { pullCommand } from "./commands/pull.ts";
import { pushCommand } from "./commands/push.ts";
import { rmCommand } from "./commands/rm.ts";
import { runCommand } from "./commands/run.ts";
import { serveCommand } from "./commands/serve.ts";
import { showCommand } from "./commands/show.ts";
import { signInCommand, signOutCommand } from "./commands/sign-in.ts";
import { stopCommand } from "./commands/stop.ts";
import { asksVersion, tellVersion } from "./commands/version.ts";
import { plain } from "./text.ts";

const program = new Command("locallm")
  .description("Runs language models on this machine, behind Ollama's API and OpenAI's")
  .version(version, "-v, --version")
  // Behind a verb -v is the verb's own.
  .enablePositionalOptions()
  .addCommand(serveCommand())
  .addCommand(runCommand())
  .addCommand(pullCommand())
  .addCommand(pushCommand())
  .addCommand(createCommand())
  .addCommand(listCommand())
  .addCommand(psCommand())
  .addCommand(showCommand())
  .addCommand(cpCommand())
  .addCommand(rmCommand())
  .addCommand(stopCommand())
  .addCommand(launchCommand())
  .addCommand(dfCommand())
  .addCommand(pruneCommand())
  .addCommand(doctorCommand())
  .addCommand(signInCommand())
  .addCommand(signOutCommand())
  .addCommand(completionCommand())
  .addCommand(completeCommand(), { hidden: true });

try {
  if (asksVersion(process.argv.slice(2))) await tellVersion();
  else await program.parseAsync();
} catch (error) {
  if (!(error instanceof LocallmError || error instanceof ServerError)) throw error;
  console.error(plain(`Error: ${error.message}`));
  if (error instanceof ServerError && error.status === 404) {
    console.error("`locallm list` shows the models that are here; `locallm pull` fetches others.");
  }
  process.exitCode = 1;
}
