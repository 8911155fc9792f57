import { Command } from "commander";
import { findInstallation, type Installation } from "./installation.ts";
import { findOffer, type Get, newsSince, type Source } from "./release.ts";
import { goBack, install } from "./update.ts";
import { UpdateError } from "./update-error.ts";
import { compareVersions } from "./version-order.ts";

/** A product that updates itself, with its settings. */
export interface Updatable {
  readonly product: string;
  readonly version: string;
  /** The folder of its package: `lib/<product>/` in an archive. */
  readonly modules: URL;
  /** Where releases are. Null: none is set, and none is built in until a release is published. */
  readonly from: string | null;
  /** A public key of minisign, by which releases must be signed. */
  readonly key: string | null;
  /** The names of these two settings. */
  readonly variables: { readonly from: string; readonly key: string };
  readonly get: Get;
}

interface Options {
  check?: boolean;
  previous?: boolean;
  unsigned?: boolean;
}

/** The command `update` of a product. `failed` turns a reason into the product's own error. */
export function updateCommand(updatable: () => Updatable, failed: (reason: string) => Error): Command {
  return new Command("update")
    .description("install a newer release, checked, in place of this one; never runs by itself")
    .option("--check", "say what is new, and change nothing")
    .option("--previous", "go back to the version before, and again to the newer one")
    .option("--unsigned", "accept a release without a signature: only its digests are checked")
    .action(async (options: Options) => {
      const tell = (line: string) => console.log(line);
      try {
        await update(updatable(), options, tell);
      } catch (error) {
        if (error instanceof UpdateError) throw failed(error.message);
        throw error;
      }
    });
}

/** Exported for tests. */
export async function update(of: Updatable, options: Options, tell: (line: string) => void): Promise<void> {
  const installation = findInstallation(of.product, of.modules);
  if (options.previous === true) {
    const version = goBack(requireArchive(of.product, installation));
    tell(`${of.product} is now ${version}. A server that runs keeps its version until you start it again.`);
    return;
  }
  const source = sourceOf(of, options.unsigned === true);
  const platform = "note" in installation ? installation.note.platform : thisPlatform();
  const offer = await findOffer(source, of.product, platform);
  const isNewer = compareVersions(offer.version, of.version) > 0;
  if (!isNewer) {
    tell(`${of.product} ${of.version} is the newest: the release offers ${offer.version}.`);
    return;
  }
  tell(`${of.product} ${offer.version} is there; this is ${of.version}.`);
  if (offer.signed !== null) tell(`Its signature is right: ${offer.signed}`);
  const news = await newsSince(source, of.version);
  if (news !== "") tell(`\n${news}\n`);
  if (options.check === true) {
    tell(`To install it: ${howTo(of.product, installation)}`);
    return;
  }
  await install(requireArchive(of.product, installation), offer, source, tell);
  tell(
    `${of.product} is now ${offer.version}. A server that runs keeps ${of.version} until you start it again. Back: ${of.product} update --previous`,
  );
}

/** The version of a newer release, or null. Throws `UpdateError`. */
async function newerVersion(of: Updatable): Promise<string | null> {
  const installation = findInstallation(of.product, of.modules);
  const platform = "note" in installation ? installation.note.platform : thisPlatform();
  const { version } = await findOffer(sourceOf(of, false), of.product, platform);
  return compareVersions(version, of.version) > 0 ? version : null;
}

const dayMs = 86_400_000;

/**
 * Looks for a newer release now and once a day, and says so. It installs none. Only for owners who switched it on.
 * Returns what stops it.
 */
export function watchForUpdates(of: Updatable, tell: (line: string) => void): () => void {
  let told: string | null = null;
  const look = async () => {
    try {
      const newer = await newerVersion(of);
      if (newer === null || newer === told) return;
      told = newer;
      tell(`${of.product} ${newer} is there. To install it: ${of.product} update`);
    } catch (error) {
      tell(`Looking for a newer ${of.product} failed: ${(error as Error).message}`);
    }
  };
  void look();
  const timer = setInterval(look, dayMs).unref();
  return () => clearInterval(timer);
}

/** Version, age and where from, in a line. `now` in milliseconds. */
export function describeInstallation(
  of: Pick<Updatable, "product" | "version" | "modules">,
  now: number,
): string {
  const installation = findInstallation(of.product, of.modules);
  const { kind, folder } = installation;
  if (!("note" in installation)) {
    const from = kind === "npm" ? "an npm package" : "the repository, not a release";
    return `${of.version}, from ${from}, in ${folder}`;
  }
  const { time, platform } = installation.note;
  const days = Math.max(0, Math.floor((now - Date.parse(time)) / dayMs));
  const age = days === 0 ? "of today" : days === 1 ? "a day old" : `${days} days old`;
  const from = kind === "package" ? "a package of this system" : `an archive for ${platform}`;
  return `${of.version}, made ${time.slice(0, 10)} (${age}), from ${from}, in ${installation.running}`;
}

function sourceOf(of: Updatable, isUnsigned: boolean): Source {
  if (of.from === null)
    throw new UpdateError(
      `no release is published yet, so no address is built in. Set ${of.variables.from} to the address or the folder of a release`,
    );
  if (of.key === null && !isUnsigned)
    throw new UpdateError(
      `set ${of.variables.key} to the public key of minisign that signs the releases, or accept one without a signature: --unsigned`,
    );
  return { from: of.from, key: of.key, get: of.get };
}

function requireArchive(product: string, installation: Installation) {
  if (installation.kind !== "archive")
    throw new UpdateError(`use another way: ${howTo(product, installation)}`);
  return installation;
}

function howTo(product: string, { kind, folder }: Installation): string {
  switch (kind) {
    case "archive":
      return `${product} update`;
    case "package":
      return `${product} came as a package of this system; install the newer package with apt or dnf`;
    case "npm":
      return `${product} came with npm; run npm install --global ${product}`;
    case "repository":
      return `${product} runs from the repository in ${folder}; run git pull there`;
  }
}

function thisPlatform(): string {
  return `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}
