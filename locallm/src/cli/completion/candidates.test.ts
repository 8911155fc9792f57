import { Argument, Command } from "commander";
import { expect, test, vi } from "vitest";
import { candidatesFor } from "./candidates.ts";

const program = new Command("locallm")
  .version("1", "-v, --version")
  .addCommand(
    new Command("run")
      .description("talk")
      .argument("<model>")
      .argument("[prompt...]")
      .option("--verbose", "figures")
      .option("--keepalive <duration>", "how long")
      .option("--think [level]", "aloud"),
  )
  .addCommand(
    new Command("keys")
      .addCommand(new Command("create").option("--name <name>"))
      .addCommand(new Command("list")),
  )
  .addCommand(new Command("rm").argument("<model...>"))
  .addCommand(new Command("list").alias("ls").argument("[prefix]"))
  .addCommand(new Command("create").argument("<model>").option("-f, --file <path>", "the Modelfile"))
  .addCommand(new Command("launch").argument("[program]").option("--model <model>", "the model"))
  .addCommand(new Command("completion").addArgument(new Argument("<shell>").choices(["bash", "zsh"])))
  .addCommand(new Command("__complete").argument("<line>"), { hidden: true });

const models = async () => ["smollm2:135m", "qwen3:8b"];
const values = async (line: string) => {
  const found = await candidatesFor(program, line, models);
  return found === "files" ? found : found.map(({ value }) => value);
};

test.each<[string, string[] | "files"]>([
  ["locallm ", ["run", "keys", "rm", "list", "create", "launch", "completion", "help"]],
  ["locallm r", ["run", "rm"]],
  ["locallm -", ["--version", "--help"]],
  ["locallm help c", ["create", "completion"]],
  ["locallm run ", ["smollm2:135m", "qwen3:8b"]],
  ["locallm run smollm2:1", ["smollm2:135m"]],
  ["locallm run --verbose q", ["qwen3:8b"]],
  ["locallm run --keepalive ", []],
  ["locallm run --keepalive 5m s", ["smollm2:135m"]],
  ["locallm run --think high s", ["smollm2:135m"]],
  ["locallm run --", ["--verbose", "--keepalive", "--think", "--help"]],
  ["locallm run qwen3:8b s", []],
  ["locallm rm qwen3:8b s", ["smollm2:135m"]],
  ["locallm ls q", ["qwen3:8b"]],
  ["locallm list qwen3:8b q", []],
  ["locallm create q", []],
  ["locallm create new -f ./", "files"],
  ["locallm create --file ", "files"],
  ["locallm launch codex --model q", ["qwen3:8b"]],
  ["locallm completion z", ["zsh"]],
  ["locallm keys ", ["create", "list", "help"]],
  ["locallm keys create --", ["--name", "--help"]],
  ["locallm nonsense ", []],
  ["A=1 B=2  locallm  run  q", ["qwen3:8b"]],
])("%j", async (line, expected) => {
  expect(await values(line)).toEqual(expected);
});

test("fetches model names only where the command line takes a model", async () => {
  const asked = vi.fn(models);
  for (const line of ["locallm r", "locallm run --k", "locallm create x"])
    await candidatesFor(program, line, asked);
  expect(asked).not.toHaveBeenCalled();
});
