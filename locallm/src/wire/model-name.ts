import { LocallmError } from "./errors.ts";

/**
 * A model's full name `[scheme://][host/][namespace/]model[:tag]` by Ollama's rules, for compatibility with its stores
 * and registries. The parts keep their case; compare names with `modelNameKey`.
 */
export interface ModelName {
  /** `http` or `https` if the name was typed with a scheme. It tells how to reach the host and does not identify the model. */
  readonly scheme: string | null;
  readonly host: string;
  readonly namespace: string;
  readonly model: string;
  readonly tag: string;
}

/** The parts that a short name omits. Ollama's stores also use the host as a folder name. */
export const defaultModelName = {
  host: "registry.ollama.ai",
  namespace: "library",
  tag: "latest",
} as const;

/** Returns null if the text is not a model name. Runs in time linear to its length. */
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

/** Like `parseModelName`, but throws an error for the client. */
export function requireModelName(text: string | null | undefined): ModelName {
  if (text === null || text === undefined || text === "") throw new LocallmError("model_required", {});
  const name = parseModelName(text);
  if (name === null) throw new LocallmError("invalid_model_name", {});
  return name;
}

/** The shortest text that parses to the same name, always with its tag. */
export function displayModelName(name: ModelName): string {
  const short = `${name.model}:${name.tag}`;
  if (!sameText(name.host, defaultModelName.host)) return `${name.host}/${name.namespace}/${short}`;
  if (!sameText(name.namespace, defaultModelName.namespace)) return `${name.namespace}/${short}`;
  return short;
}

/** All parts, in the case they were typed. */
export function fullModelName(name: ModelName): string {
  return `${name.host}/${name.namespace}/${name.model}:${name.tag}`;
}

/** Returns a key that is equal for names that differ only in case or scheme. */
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
