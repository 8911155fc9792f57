import { Argument, Command } from "commander";
import { type CommandConfig, readCommandConfig } from "../../config.ts";
import { Store } from "../../library/store.ts";
import { tagsAnswer } from "../../wire/api/answers.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { Client } from "../client.ts";
import { candidatesFor } from "../completion/candidates.ts";
import { scripts } from "../completion/scripts.ts";
import { plain } from "../text.ts";

export function completionCommand(): Command {
  const shells = Object.keys(scripts);
  return new Command("completion")
    .description("print a shell completion script")
    .addArgument(new Argument("<shell>").choices(shells))
    .addHelpText("after", `\n${hints}`)
    .action((shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell]);
    });
}

const hints = `For the current shell, and for all new shells:
  bash        source <(locallm completion bash)
              locallm completion bash > ~/.local/share/bash-completion/completions/locallm
  zsh         source <(locallm completion zsh)
              locallm completion zsh > FOLDER/_locallm (a folder in $fpath)
  fish        locallm completion fish | source
              locallm completion fish > ~/.config/fish/completions/locallm.fish
  powershell  locallm completion powershell | Out-String | Invoke-Expression
              add the same line to $PROFILE`;

/** Called by the scripts on each press of Tab. Prints no errors, because they would garble the prompt. */
export function completeCommand(): Command {
  return new Command("__complete")
    .argument("<line>")
    .action(async (line: string, _options, self: Command) => {
      const found = await candidatesFor(self.parent!, line, modelNames).catch(() => []);
      if (found === "files") console.log(":files");
      else
        for (const { value, meaning } of found)
          console.log(plain(meaning === "" ? value : `${value}\t${meaning}`));
    });
}

/** The names come from the running server, or from the local store if no server answers. */
async function modelNames(): Promise<string[]> {
  const config = readCommandConfig();
  return await servedNames(config).catch(() => storedNames(config));
}

async function servedNames(config: CommandConfig): Promise<string[]> {
  const signal = AbortSignal.timeout(patienceMs);
  const { models } = await new Client(config).json("/api/tags", tagsAnswer, { signal });
  return models.map(({ name }) => name);
}

/** The time limit is short, because the user is waiting for the completion. */
const patienceMs = 1_000;

async function storedNames(config: CommandConfig): Promise<string[]> {
  const { models } = await new Store(config.modelsFolder).list();
  return models.map(({ name }) => displayModelName(name));
}
