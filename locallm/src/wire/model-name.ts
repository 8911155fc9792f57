import { LocallmError } from "./errors.ts";

/**
 * A model's full name: `[scheme://][host/][namespace/]model[:tag]`, by Ollama's rules, so that its stores and
 * registries can be read. The parts keep the case they were typed in; compare names with `modelNameKey`.
 */
export interface ModelName {
  /** `http` or `https` where the name was typed with one; it says how to reach the host and is no part of identity. */
  readonly scheme: string | null;
  readonly host: string;
  readonly namespace: string;
  readonly model: string;
  readonly tag: string;
}

/** What a short name stands for. The host is also a folder of every store that Ollama wrote. */
export const defaultModelName = {
  host: "registry.ollama.ai",
  namespace: "library",
  tag: "latest",
} as const;

/** Null for anything that is no model name. Linear in the length of the text. */
export function parseModelName(text: string): ModelName | null {
  if (text.length > maxNameLength) return null;
  const schemeEnd = text.indexOf("://");
  const scheme = schemeEnd < 0 ? null : text.slice(0, schemeEnd).toLowerCase();
  if (scheme !== null && scheme !== "http" && scheme !== "https") return null;
  let rest = schemeEnd < 0 ? text : text.slice(schemeEnd + 3);

  let tag: string = defaultModelName.tag;
  const colon = rest.lastIndexOf(":");
  if (colon > rest.lastIndexOf("/")) {
    tag = rest.slice(colon + 1);
    rest = rest.slice(0, colon);
  }
  const parts = rest.split("/", 4);
  if (parts.length > 3) return null;
  const model = parts.pop() ?? "";
  const namespace = parts.pop() ?? defaultModelName.namespace;
  const host = parts.pop() ?? defaultModelName.host;

  const valid =
    isPart(host, "host") && isPart(namespace, "namespace") && isPart(model, "model") && isPart(tag, "tag");
  return valid ? { scheme, host, namespace, model, tag } : null;
}

/** As `parseModelName`, for names that came in a request. */
export function requireModelName(text: string | null | undefined): ModelName {
  if (text === null || text === undefined || text === "") throw new LocallmError("model_required", {});
  const name = parseModelName(text);
  if (name === null) throw new LocallmError("invalid_model_name", {});
  return name;
}

/** The shortest text that parses to the same name; the tag always stands in it. */
export function displayModelName(name: ModelName): string {
  const short = `${name.model}:${name.tag}`;
  if (!sameText(name.host, defaultModelName.host)) return `${name.host}/${name.namespace}/${short}`;
  if (!sameText(name.namespace, defaultModelName.namespace)) return `${name.namespace}/${short}`;
  return short;
}

/** Every part written out, in the case it was typed. */
export function fullModelName(name: ModelName): string {
  return `${name.host}/${name.namespace}/${name.model}:${name.tag}`;
}

/** Equal for names that differ in case or scheme only. */
export function modelNameKey(name: ModelName): string {
  return fullModelName(name).toLowerCase();
}

const partRules = {
  host: { maxLength: 350, pattern: /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/ },
  namespace: { maxLength: 80, pattern: /^[A-Za-z0-9_][A-Za-z0-9_-]*$/ },
  model: { maxLength: 80, pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/ },
  tag: { maxLength: 80, pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/ },
} as const;

const maxNameLength = "https://".length + 350 + 80 + 80 + 80 + 3;

function isPart(text: string, kind: keyof typeof partRules): boolean {
  const rule = partRules[kind];
  return text.length <= rule.maxLength && rule.pattern.test(text);
}

function sameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
