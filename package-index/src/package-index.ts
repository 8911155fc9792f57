import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { filesIn, type ListedFile } from "./listing.ts";
import { type PipSettings, readPipSettings, thisSystem } from "./pip-settings.ts";
import { compareVersions, parseRequirement, type Requirement } from "./version.ts";
import { fitsMachine, parseWheelName, thisMachine, type WheelName } from "./wheel-name.ts";

/** A wheel that an index lists or a folder holds. */
export interface Wheel {
  /** `https:`, `http:` or `file:`. */
  readonly url: URL;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  readonly version: string;
  /** A file of additional PEM certificates to trust. */
  readonly certificateFile: string | null;
}

/** Asks an index over the product's own network, with its rules for addresses, redirects, proxies and certificates. */
export type Ask = (
  address: URL,
  request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly certificateFile: string | null;
    readonly mostBytes: number;
  },
) => Promise<{
  readonly body: string;
  readonly contentType: string;
  /** After redirects. */
  readonly address: URL;
}>;

/** Why no wheel was found. The message holds no address that may have a password, only hosts. */
export class NoWheel extends Error {}

/**
 * Finds the newest wheel of a package, as pip would choose it, in the indexes and folders of pip's settings. It needs
 * no Python. `wanted` is `name`, `name==1.2` or `name>=13,<14`. Throws `NoWheel`.
 */
export async function findWheel(wanted: string, ask: Ask, signal?: AbortSignal): Promise<Wheel> {
  const requirement = parseRequirement(wanted);
  if (requirement === null) throw new NoWheel(`${wanted} is not a package with versions`);
  const settings = await readPipSettings(thisSystem());
  const listed: ListedFile[] = [];
  const reasons: string[] = [];
  for (const place of placesOf(settings, requirement.name))
    try {
      listed.push(...(await filesAt(place, settings, ask)));
    } catch (error) {
      signal?.throwIfAborted();
      reasons.push(`${place.host || place.protocol}: ${reasonOf(error as NodeJS.ErrnoException)}`);
    }
  const best = bestOf(listed, requirement);
  if (best === undefined) throw new NoWheel(reasons.join("; ") || `no index lists a wheel of ${wanted}`);
  const sha256 = best.sha256 ?? (await digestOfFile(best.url));
  if (sha256 === null) throw new NoWheel(`${best.url.host} lists ${best.file} without a sha256`);
  const { url, version } = best;
  return { url, sha256, version: version.text, certificateFile: settings.certificateFile };
}

function bestOf(listed: readonly ListedFile[], { name, accepts }: Requirement) {
  const machine = thisMachine();
  const candidates = listed.flatMap((file) => {
    const wheel = parseWheelName(file.file);
    if (wheel === null || file.isYanked || wheel.name !== name) return [];
    return accepts(wheel.version) && fitsMachine(wheel, machine) ? [{ ...file, ...wheel }] : [];
  });
  const final = candidates.filter(({ version }) => !version.isPreRelease);
  const newest = (a: WheelName, b: WheelName) => compareVersions(b.version, a.version);
  return (final.length > 0 ? final : candidates).sort(newest)[0];
}

function placesOf({ indexes, links }: PipSettings, name: string): URL[] {
  const pages = indexes.map((index) => `${index.replace(/\/+$/, "")}/${name}/`);
  return [...pages, ...links].map((place) =>
    /^(?:https?|file):/i.test(place) && URL.canParse(place) ? new URL(place) : pathToFileURL(place),
  );
}

async function filesAt(place: URL, { certificateFile }: PipSettings, ask: Ask): Promise<ListedFile[]> {
  if (place.protocol === "file:") {
    const folder = fileURLToPath(place);
    return (await readdir(folder)).map((file) => ({
      file,
      url: pathToFileURL(join(folder, file)),
      sha256: null,
      isYanked: false,
    }));
  }
  const { username, password } = place;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const plain = new URL(place);
  plain.username = "";
  plain.password = "";
  const headers = { accept, ...(username !== "" && { authorization: `Basic ${login.toString("base64")}` }) };
  const { body, contentType, address } = await ask(plain, { headers, certificateFile, mostBytes });
  return filesIn(body, contentType, address).map((file) => withLogin(file, place));
}

/** The index's name and password hold for the files on its own host. */
function withLogin(file: ListedFile, index: URL): ListedFile {
  if (file.url.origin !== index.origin || file.url.username !== "") return file;
  const url = new URL(file.url);
  url.username = index.username;
  url.password = index.password;
  return { ...file, url };
}

const mostBytes = 64 * 2 ** 20;
const accept =
  "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

async function digestOfFile(url: URL): Promise<string | null> {
  if (url.protocol !== "file:") return null;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(fileURLToPath(url))) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Node's error about a name with several addresses has no text. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.message || (error.code ?? "unknown error");
}
