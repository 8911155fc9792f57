import type { OptionName } from "../../wire/options.ts";
import type { RemoteResponse } from "../engine.ts";
import { asText, type JsonObject } from "../json-body.ts";

/** The options of our API that this protocol has. Not every engine obeys them. */
export type Wish =
  | `options.${OptionName}`
  | "think"
  | "format"
  | "tool_choice"
  | "parallel_tool_calls"
  | "logprobs";

/**
 * An engine that speaks OpenAI's protocol. Engines answer `200` to fields that they do not know, so what they ignore
 * must be known here. All of them get the same request, with each engine's name for a field.
 */
export interface EngineKind {
  readonly name: string;
  /** Recognises the engine by its first answer. */
  readonly answers: (signs: Signs) => boolean;
  /** The value of `owned_by` in its list of models. */
  readonly owner: string | null;
  readonly ignores: readonly Wish[];
  /** Where it reports its load. */
  readonly load: "slots" | "metrics" | null;
}

export interface Signs {
  readonly server: string;
  readonly poweredBy: string;
  readonly fingerprint: string;
  readonly model: string;
}

const onlyLlamaServer: readonly Wish[] = [
  "options.typical_p",
  "options.repeat_last_n",
  "options.mirostat",
  "options.mirostat_tau",
  "options.mirostat_eta",
  "options.lora",
  "options.min_keep",
  "options.xtc_probability",
  "options.xtc_threshold",
  "options.dry_multiplier",
  "options.dry_base",
  "options.dry_allowed_length",
  "options.dry_penalty_last_n",
  "options.dry_sequence_breakers",
  "options.num_keep",
];

const beyondOpenAi: readonly Wish[] = [
  ...onlyLlamaServer,
  "options.top_k",
  "options.min_p",
  "options.repeat_penalty",
];

/** The sources of the rows are in docs/locallm/remote-models.md. */
export const engineKinds: readonly EngineKind[] = [
  {
    name: "llama-server",
    answers: ({ server, fingerprint }) => server === "llama.cpp" || /^b\d+-[0-9a-f]+$/.test(fingerprint),
    owner: "llamacpp",
    ignores: [],
    load: "slots",
  },
  {
    // It names what it ignores in a header.
    name: "locallm",
    answers: ({ fingerprint }) => fingerprint === "fp_locallm",
    ...{ owner: null, ignores: [], load: null },
  },
  {
    name: "Ollama",
    answers: ({ fingerprint }) => fingerprint === "fp_ollama",
    owner: "library",
    ignores: [...beyondOpenAi, "options.logit_bias", "tool_choice", "parallel_tool_calls"],
    load: null,
  },
  {
    name: "TGI",
    answers: ({ fingerprint }) => /^\d+\.\d+\.\d+(-dev\d*)?-(native|sha-[0-9a-f]+)$/.test(fingerprint),
    owner: null,
    ignores: [...beyondOpenAi, "think", "parallel_tool_calls"],
    load: "metrics",
  },
  {
    name: "LM Studio",
    answers: ({ poweredBy, fingerprint, model }) => poweredBy === "Express" && fingerprint === model,
    owner: "organization_owner",
    ignores: [...onlyLlamaServer, "options.min_p", "think", "parallel_tool_calls", "logprobs"],
    load: null,
  },
  // vLLM, Ray Serve (which runs vLLM) and SGLang have the same fields and cannot be told apart.
  {
    name: "vLLM",
    answers: ({ server }) => server === "uvicorn",
    owner: "vllm",
    ignores: onlyLlamaServer,
    load: "metrics",
  },
  { name: "SGLang", answers: () => false, owner: "sglang", ignores: onlyLlamaServer, load: "metrics" },
];

/** An unknown engine: it may ignore anything that is not in OpenAI's protocol. */
const anyKind: EngineKind = {
  ...{ name: "OpenAI-compatible", answers: () => true, owner: null },
  ...{ ignores: onlyLlamaServer, load: null },
};

/** Recognises the engine by the headers and the first event of an answer. */
export function kindOfAnswer({ headers }: Pick<RemoteResponse, "headers">, first: JsonObject): EngineKind {
  const signs = {
    server: asText(headers["server"]),
    poweredBy: asText(headers["x-powered-by"]),
    fingerprint: asText(first["system_fingerprint"]),
    model: asText(first["model"]),
  };
  return engineKinds.find(({ answers }) => answers(signs)) ?? anyKind;
}

/** Recognises the engine by an entry of its list of models. */
export function kindOfModel(entry: JsonObject | undefined): EngineKind {
  return engineKinds.find(({ owner }) => owner !== null && owner === entry?.["owned_by"]) ?? anyKind;
}
