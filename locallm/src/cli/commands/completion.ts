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
    .description("print a script that completes command lines")
    .addArgument(new Argument("<shell>").choices(shells))
    .addHelpText("after", `\n${hints}`)
    .action((shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell]);
    });
}

const hints = `For this shell alone, and for all to come:
  bash        source <(locallm completion bash)
              locallm completion bash > ~/.local/share/bash-completion/completions/locallm
  zsh         source <(locallm completion zsh)
              locallm completion zsh > a folder of $fpath, as the file _locallm
  fish        locallm completion fish | source
              locallm completion fish > ~/.config/fish/completions/locallm.fish
  powershell  locallm completion powershell | Out-String | Invoke-Expression
              the same line in $PROFILE`;

/** What the scripts call at each press of the tab key. It never says an error: nobody could read it there. */
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

/** The running server's, else those of the store on this machine. */
async function modelNames(): Promise<string[]> {
  const config = readCommandConfig();
  return await servedNames(config).catch(() => storedNames(config));
}

async function servedNames(config: CommandConfig): Promise<string[]> {
  const signal = AbortSignal.timeout(patienceMs);
  const { models } = await new Client(config).json("/api/tags", tagsAnswer, { signal });
  return models.map(({ name }) => name);
}

/** Somebody waits with a finger on the key. */
const patienceMs = 1_000;

async function storedNames(config: CommandConfig): Promise<string[]> {
  const { models } = await new Store(config.modelsFolder).list();
  return models.map(({ name }) => displayModelName(name));
}
