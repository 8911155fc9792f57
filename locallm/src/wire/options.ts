import { counted } from "./counted.ts";
import { LocallmError } from "./errors.ts";
import type { AdapterScale } from "./inference/generate.ts";

/** An option's type and range. `min` and `max` apply to the number, or to each value of `biases`. */
export type OptionRule =
  | { readonly type: "integer" | "number" | "biases"; readonly min: number; readonly max: number }
  | { readonly type: "boolean" | "adapters" }
  | { readonly type: "strings"; readonly most: number; readonly longest: number }
  /** Numbers from 0 on, of which one is larger. */
  | { readonly type: "shares"; readonly most: number };

const int32Max = 2 ** 31 - 1;

/**
 * Rules for the `options` of a request and the PARAMETER lines of a model, by Ollama's names. The ranges of
 * temperature, top_p, num_ctx and num_predict come from the API specification; the others exclude values the engine
 * cannot handle.
 */
export const optionRules = {
  num_ctx: { type: "integer", min: 1, max: int32Max },
  num_batch: { type: "integer", min: 1, max: 65_536 },
  num_gpu: { type: "integer", min: -1, max: int32Max },
  main_gpu: { type: "integer", min: 0, max: 255 },
  /** An extension of locallm, as the next one: the names are llama-server's. */
  tensor_split: { type: "shares", most: 16 },
  n_cpu_moe: { type: "integer", min: 0, max: int32Max },
  use_mmap: { type: "boolean" },
  num_thread: { type: "integer", min: 0, max: 1024 },
  num_keep: { type: "integer", min: -1, max: int32Max },
  num_predict: { type: "integer", min: -2, max: int32Max },
  /**
   * Allows any int64, because clients written in Go send random ones. JSON parsing rounds large numbers, but
   * always in the same way.
   */
  seed: { type: "integer", min: -(2 ** 63), max: 2 ** 63 },
  temperature: { type: "number", min: 0, max: 2 },
  top_k: { type: "integer", min: -1, max: int32Max },
  top_p: { type: "number", min: 0, max: 1 },
  min_p: { type: "number", min: 0, max: 1 },
  typical_p: { type: "number", min: 0, max: 1 },
  /** An extension of locallm, as the next seven: the names are llama-server's. */
  min_keep: { type: "integer", min: 0, max: int32Max },
  /** How often the most likely tokens are dropped, and how likely they are at least. */
  xtc_probability: { type: "number", min: 0, max: 1 },
  xtc_threshold: { type: "number", min: 0, max: 1 },
  /** 0 turns it off. */
  dry_multiplier: { type: "number", min: 0, max: 100 },
  dry_base: { type: "number", min: 1, max: 100 },
  dry_allowed_length: { type: "integer", min: 0, max: int32Max },
  dry_penalty_last_n: { type: "integer", min: -1, max: int32Max },
  /** Single characters: the engine would search a large vocabulary for a longer text for seconds. */
  dry_sequence_breakers: { type: "strings", most: 8, longest: 1 },
  repeat_last_n: { type: "integer", min: -1, max: int32Max },
  /** 0 and 1 mean no penalty. */
  repeat_penalty: { type: "number", min: 0, max: 10 },
  presence_penalty: { type: "number", min: -2, max: 2 },
  frequency_penalty: { type: "number", min: -2, max: 2 },
  mirostat: { type: "integer", min: 0, max: 2 },
  mirostat_tau: { type: "number", min: 0, max: 100 },
  mirostat_eta: { type: "number", min: 0, max: 1 },
  /** An extension of locallm that maps token ids to values added to their logits. */
  logit_bias: { type: "biases", min: -100, max: 100 },
  /** An extension of locallm, with llama-server's name: how strongly each of the model's adapters applies. */
  lora: { type: "adapters" },
  /** An extension of locallm that makes output bit-identical regardless of other requests, but slower. */
  deterministic: { type: "boolean" },
  stop: { type: "strings", most: 64, longest: 1024 },
} as const satisfies Record<string, OptionRule>;

export type OptionName = keyof typeof optionRules;

type OptionValue<Rule> = Rule extends { type: "boolean" }
  ? boolean
  : Rule extends { type: "strings" }
    ? readonly string[]
    : Rule extends { type: "shares" }
      ? readonly number[]
      : Rule extends { type: "biases" }
        ? Readonly<Record<string, number>>
        : Rule extends { type: "adapters" }
          ? readonly AdapterScale[]
          : number;

/** Checked options; those not given are absent. */
export type Options = { readonly [Name in OptionName]?: OptionValue<(typeof optionRules)[Name]> };

/** The default window, and the one that an automatic window starts with. */
export const firstWindow = 2048;

/** Used if neither the request nor the model sets the option. The engine decides options without a default. */
export const optionDefaults = {
  num_ctx: firstWindow,
  num_keep: 4,
  num_predict: -1,
  seed: -1,
  temperature: 0.8,
  top_k: 40,
  top_p: 0.9,
  min_p: 0,
  typical_p: 1,
  min_keep: 0,
  xtc_probability: 0,
  xtc_threshold: 0.1,
  dry_multiplier: 0,
  dry_base: 1.75,
  dry_allowed_length: 2,
  dry_penalty_last_n: -1,
  dry_sequence_breakers: ["\n", ":", '"', "*"],
  repeat_last_n: 64,
  repeat_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  mirostat: 0,
  mirostat_tau: 5,
  mirostat_eta: 0.1,
  deterministic: false,
  stop: [],
} as const satisfies Options;

export type CompleteOptions = Options & {
  readonly [Name in keyof typeof optionDefaults]: OptionValue<(typeof optionRules)[Name]>;
};

export interface ParsedOptions {
  readonly options: Options;
  /** Unknown option names: ignored, but reported. */
  readonly unknown: readonly string[];
}

/** Checks the `options` object of a request. Null values count as absent. */
export function parseOptions(given: Readonly<Record<string, unknown>>): ParsedOptions {
  const options: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (!isOptionName(name)) unknown.push(name);
    else if (value !== null && value !== undefined) options[name] = checkOption(name, value);
  }
  return { options: options as Options, unknown };
}

/**
 * Checks the PARAMETERs of a model, which another program may have written. Values of the wrong type or range are
 * skipped and listed in `bad`, so that the model stays usable. Unknown names are skipped silently.
 */
export function modelOptions(params: Readonly<Record<string, unknown>>): { options: Options; bad: string[] } {
  const options: Record<string, unknown> = {};
  const bad: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    if (!isOptionName(name) || value === null || value === undefined) continue;
    try {
      options[name] = checkOption(name, value);
    } catch {
      bad.push(name);
    }
  }
  return { options: options as Options, bad };
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(optionRules, name);
}

/** Returns the checked value; a single string becomes a list. Throws if its type or range is wrong. */
export function checkOption<Name extends OptionName>(
  name: Name,
  value: unknown,
): OptionValue<(typeof optionRules)[Name]> {
  const rule: OptionRule = optionRules[name];
  switch (rule.type) {
    case "boolean":
      if (typeof value !== "boolean") throw wrongType(name, "boolean");
      break;
    case "strings":
      return checkStrings(name, typeof value === "string" ? [value] : value, rule) as never;
    case "shares":
      checkShares(name, value, rule);
      break;
    case "biases":
      checkBiases(name, value, rule);
      break;
    case "adapters":
      checkAdapters(name, value);
      break;
    default:
      checkNumber(name, value, rule);
  }
  return value as OptionValue<(typeof optionRules)[Name]>;
}

/** Parses the value of a PARAMETER line. A `strings` option has one line per string: join the lists of all lines. */
export function parseOptionText(name: OptionName, text: string): NonNullable<Options[OptionName]> {
  const rule: OptionRule = optionRules[name];
  switch (rule.type) {
    case "strings":
      return checkOption(name, [text]);
    case "boolean":
      if (text !== "true" && text !== "false") throw wrongType(name, "boolean");
      return text === "true";
    case "shares":
      return checkOption(name, text.split(",").map(Number));
    case "biases":
      throw wrongType(name, typeNames.biases);
    case "adapters":
      throw wrongType(name, typeNames.adapters);
    default:
      if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) throw wrongType(name, rule.type);
      return checkOption(name, Number(text));
  }
}

/** Later layers override earlier ones; all override the defaults. */
export function mergeOptions(...layers: readonly Options[]): CompleteOptions {
  return Object.assign({}, optionDefaults, ...layers) as CompleteOptions;
}

const maxBiases = 1024;
const typeNames = {
  boolean: "boolean",
  strings: "array of strings",
  biases: "object of numbers by token id",
  adapters: 'array of at most 64 objects {"id": whole number, "scale": number from -100 to 100}',
};

function checkNumber(
  name: OptionName,
  value: unknown,
  rule: { type: string; min: number; max: number },
): void {
  if (typeof value !== "number" || Number.isNaN(value)) throw wrongType(name, rule.type);
  const inRange = value >= rule.min && value <= rule.max;
  if (inRange && rule.type === "integer" && !Number.isInteger(value)) throw wrongType(name, rule.type);
  if (!inRange) throw wrongRange(name, rule);
}

function checkStrings(
  name: OptionName,
  value: unknown,
  { most, longest }: { most: number; longest: number },
): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw wrongType(name, typeNames.strings);
  if (
    value.length > most ||
    value.some((item: string) => item.length > 2 * longest || [...item].length > longest)
  )
    throw wrongType(name, `array of at most ${most} strings of at most ${counted(longest, "character")}`);
  return value;
}

function checkBiases(name: OptionName, value: unknown, rule: { min: number; max: number }): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrongType(name, typeNames.biases);
  const entries = Object.entries(value);
  if (entries.length > maxBiases) throw wrongType(name, `object of at most ${maxBiases} token ids`);
  for (const [token, bias] of entries) {
    if (!/^\d{1,9}$/.test(token) || typeof bias !== "number") throw wrongType(name, typeNames.biases);
    if (!(bias >= rule.min && bias <= rule.max)) throw wrongRange(name, rule);
  }
}

function checkShares(name: OptionName, value: unknown, { most }: { most: number }): void {
  const isShare = (share: unknown) => typeof share === "number" && share >= 0 && share <= 1e9;
  const isRight = Array.isArray(value) && value.length <= most && value.every(isShare) && value.some(Boolean);
  if (!isRight) throw wrongType(name, `list of at most ${most} numbers from 0 on, of which one is larger`);
}

function checkAdapters(name: OptionName, value: unknown): void {
  const isScale = (each: unknown) => {
    const { id, scale } = (each ?? {}) as { id?: unknown; scale?: unknown };
    return Number.isInteger(id) && (id as number) >= 0 && typeof scale === "number" && Math.abs(scale) <= 100;
  };
  if (!Array.isArray(value) || value.length > 64 || !value.every(isScale))
    throw wrongType(name, typeNames.adapters);
}

function wrongType(option: OptionName, type: string): LocallmError {
  return new LocallmError("invalid_option_type", { option, type });
}

function wrongRange(option: OptionName, { min, max }: { min: number; max: number }): LocallmError {
  return new LocallmError("invalid_option_range", { option, min, max });
}
