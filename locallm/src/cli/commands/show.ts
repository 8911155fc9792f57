import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { type ShowAnswer, showAnswer } from "../../wire/api/answers.ts";
import { counted } from "../../wire/counted.ts";
import { Client } from "../client.ts";
import { plain } from "../text.ts";

const parts = ["license", "modelfile", "parameters", "template", "system"] as const;

export function showCommand(): Command {
  const command = new Command("show").description("show information about a model").argument("<model>");
  for (const part of parts) command.option(`--${part}`, `show only the ${part}`);
  command.option("-v, --verbose", "also show metadata and tensors");
  return command.action(async (model: string, options: Record<string, boolean | undefined>) => {
    const chosen = parts.filter((part) => options[part]);
    if (chosen.length > 1)
      command.error("Error: use only one of --license, --modelfile, --parameters, --template, --system");
    const verbose = options["verbose"] === true;
    const shown = await new Client(readCommandConfig()).json("/api/show", showAnswer, {
      body: { model, verbose },
    });
    const only = chosen[0];
    console.log(plain(only === undefined ? overview(shown, verbose) : (shown[only] ?? "")));
  });
}

/** The most important facts about a model, in sections. */
export function overview(shown: ShowAnswer, verbose: boolean): string {
  const { details, model_info: info = {} } = shown;
  const sections: [string, string[][]][] = [
    [
      "Model",
      [
        ["architecture", String(info["general.architecture"] ?? "")],
        ["parameters", details.parameter_size],
        ["context length", String(details.context_length ?? "")],
        ["embedding length", String(details.embedding_length ?? "")],
        ["quantization", details.quantization_level],
        // A remote model has few of them.
      ].filter(([, value]) => value !== ""),
    ],
    ["Remote", (shown.remotes ?? []).map(remoteRow)],
    ["Capabilities", shown.capabilities.map((capability) => [capability])],
    ["Parameters", (shown.parameters ?? "").split("\n").map((line) => line.split(/\s+(.*)/s).slice(0, 2))],
    [
      "Loaded",
      shown.loaded === undefined
        ? []
        : [
            ["runs on", shown.loaded.device],
            ["because", shown.loaded.why],
          ],
    ],
    ["System", textRows(shown.system)],
    ["License", textRows(shown.license)],
  ];
  if (verbose) {
    sections.push(["Metadata", Object.entries(info).map(([key, value]) => [key, brief(value)])]);
    sections.push([
      "Tensors",
      (shown.tensors ?? []).map(({ name, type, shape }) => [name, type, `[${shape.join(" ")}]`]),
    ]);
  }
  return sections
    .map(([title, rows]): [string, string[][]] => [
      title,
      rows.filter((row) => row.some((cell) => cell !== "")),
    ])
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => `  ${title}\n${aligned(rows)}\n`)
    .join("\n");
}

function remoteRow({
  url,
  model,
  protocol,
  key,
  weight,
  requests,
}: NonNullable<ShowAnswer["remotes"]>[number]): string[] {
  const settings = [
    protocol,
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
    ...(requests === undefined ? [] : [`at most ${counted(requests, "request")}`]),
  ];
  return [`${url}#${model}`, settings.join(", ")];
}

function textRows(text: string | undefined): string[][] {
  const lines = (text ?? "").trim().split("\n");
  return lines.slice(0, 3).map((line) => [line.slice(0, 100)]);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

function aligned(rows: string[][]): string {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows
    .map(([first = "", ...rest]) => `    ${[first.padEnd(width), ...rest].join("    ")}`.trimEnd())
    .join("\n");
}
