import { compileGo } from "../template/go/template.ts";
import { TemplateError } from "../template/limits.ts";
import type { PromptText } from "../wire/inference/generate.ts";
import { borderedText, type Markers, markersOf, piecesOf, promptOf, withBorders } from "./client-text.ts";
import { type ModelTemplate, readTemplate, type TemplateFacts } from "./model-template.ts";
import { isPictured, isPlace, promptText, type TurnPrompt } from "./prompt-text.ts";
import type { DialogueSource } from "./prompter.ts";
import type { Turn } from "./turn.ts";

/** All work that parses or runs templates. They come with model files and requests, so they may be hostile. */
export interface TemplateWork {
  /** Fails if a Go template cannot be parsed. */
  check: { readonly text: string };
  read: { readonly source: DialogueSource };
  render: { readonly source: DialogueSource; readonly turn: Turn; readonly markers: readonly string[] };
  insert: {
    readonly source: DialogueSource;
    readonly prompt: string;
    readonly suffix: string;
    readonly markers: readonly string[];
  };
}

export interface TemplateResults {
  check: null;
  read: TemplateFacts;
  render: TurnPrompt;
  insert: PromptText;
}

export type TemplateTask = {
  [Kind in keyof TemplateWork]: { readonly kind: Kind } & TemplateWork[Kind];
}[keyof TemplateWork];

/** Runs template work. In production it uses threads with a budget. Rejects with TemplateError. */
export interface Templates {
  run<Kind extends keyof TemplateWork>(
    kind: Kind,
    work: TemplateWork[Kind],
    signal?: AbortSignal,
  ): Promise<TemplateResults[Kind]>;
}

const keptTemplates = 16;
const keptMarkers = 4;

/** Runs the work synchronously and caches compiled templates. */
export class TemplateWorker {
  readonly #now: (() => Date) | undefined;
  readonly #templates = new Map<string, ModelTemplate>();
  readonly #markers = new Map<string, Markers>();

  constructor(now?: () => Date) {
    this.#now = now;
  }

  do(task: TemplateTask): TemplateResults[keyof TemplateResults] {
    switch (task.kind) {
      case "check":
        compileGo(task.text, this.#now);
        return null;
      case "read":
        return this.#template(task.source).facts;
      case "render": {
        const turn = withBorders(task.turn, this.#markersOf(task.markers));
        const prompt = promptOf(this.#template(task.source).render(turn));
        requirePlaces(task.turn, prompt);
        return prompt;
      }
      case "insert": {
        const markers = this.#markersOf(task.markers);
        const [prompt, suffix] = [task.prompt, task.suffix].map((text) => borderedText(text, markers));
        return promptText(piecesOf(this.#template(task.source).insert(prompt!, suffix!)));
      }
    }
  }

  #template(source: DialogueSource): ModelTemplate {
    const { template, bosText, eosText } = source;
    const key = [template.language, bosText, eosText, template.text].join("\0");
    return kept(this.#templates, keptTemplates, key, () => readTemplate(source, this.#now));
  }

  #markersOf(texts: readonly string[]): Markers {
    return kept(this.#markers, keptMarkers, texts.join("\0"), () => markersOf(texts));
  }
}

/** A template that leaves a picture out would have the model answer as if it were not there. */
function requirePlaces({ messages }: Turn, prompt: TurnPrompt): void {
  const placed = new Set(
    isPictured(prompt) ? prompt.parts.filter(isPlace).map(({ picture }) => picture) : [],
  );
  for (const part of messages.flatMap((message) => message.placed ?? []))
    if (typeof part === "number" && !placed.has(part))
      throw new TemplateError("leaves out a picture of the conversation");
}

/** Looks up or makes a value in a least-recently-used cache. */
function kept<Value>(map: Map<string, Value>, most: number, key: string, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
  return value;
}
