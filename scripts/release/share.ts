import { gzipSync } from "node:zlib";
import type { Program } from "@locallm/autostart";
import type { Command } from "commander";
import { wholeProgram as dataqProgram } from "../../dataq/service/src/cli/command-line.ts";
import { serviceProgram as dataqService, newSettings } from "../../dataq/service/src/cli/commands/service.ts";
import { wholeProgram as locallmProgram } from "../../locallm/src/cli/command-line.ts";
import { serviceProgram as locallmService } from "../../locallm/src/cli/commands/service.ts";
import { scripts } from "../../locallm/src/cli/completion/scripts.ts";
import { settings } from "../../locallm/src/config.ts";
import { completions } from "./completions.ts";
import { type ManualSetting, manualPage } from "./manual.ts";
import type { Product } from "./products.ts";
import { type Tree, text } from "./tree.ts";

interface CommandLine {
  readonly program: () => Promise<Command>;
  readonly settings: readonly ManualSetting[];
  readonly service: (node: string, script: readonly string[]) => Program;
  /** locallm has scripts that ask it for the names of models. */
  readonly scripts?: ReturnType<typeof completions>;
}

const commandLines: Readonly<Record<Product["name"], CommandLine>> = {
  locallm: {
    program: locallmProgram,
    settings: settings.map(({ variable, byDefault, meaning }) => ({ variable, value: byDefault, meaning })),
    service: locallmService,
    scripts,
  },
  dataq: { program: dataqProgram, settings: newSettings, service: dataqService },
};

/** `share/`: the manual page and the completions of each shell, as `--help` describes the commands. */
export async function shareOf({ name }: Product, time: Date): Promise<Tree> {
  const line = commandLines[name];
  const program = await line.program();
  const { bash, zsh, fish, powershell } = line.scripts ?? completions(program);
  return new Map([
    [
      `share/man/man1/${name}.1.gz`,
      { bytes: gzipSync(manualPage(program, line.settings, time), { level: 9 }), isProgram: false },
    ],
    [`share/bash-completion/completions/${name}`, text(bash)],
    [`share/zsh/site-functions/_${name}`, text(zsh)],
    [`share/fish/vendor_completions.d/${name}.fish`, text(fish)],
    [`share/powershell/${name}.ps1`, text(powershell)],
  ]);
}

/** The service of a product that is installed in this folder. */
export function serviceAt({ name }: Product, folder: string): Program {
  const { node, script } = {
    node: `${folder}/lib/node/bin/node`,
    script: `${folder}/lib/${name}/dist/cli/main.js`,
  };
  return commandLines[name].service(node, [script]);
}
