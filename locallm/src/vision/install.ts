import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { mtmdFile } from "../engine/libmtmd/file-name.ts";
import { fetchPackage, newFolder, type OnLine } from "../gpu/install.ts";
import { askChild } from "../runner/ask-child.ts";
import type { EncodeAnswer, EncodeJob } from "../runner/encode-child.ts";
import { receiveError } from "../runner/protocol.ts";
import { LocallmError } from "../wire/errors.ts";
import { buildVision } from "./build.ts";
import { visionFolder, visionPart, visionPartFolder } from "./part.ts";

/** How the part came onto this machine. */
export type VisionOrigin = "present" | "package" | "build";

interface InstallWish {
  readonly onLine: OnLine;
  readonly availableBytes: number;
}

/**
 * Installs the part that reads pictures: from its package if the npm registry has it, otherwise built from source. It is
 * installed completely or not at all. Throws `file_unusable`, `source_tool_missing`, `vision_not_built` and
 * `vision_unusable`.
 */
export async function installVision(
  enginesFolder: string,
  { onLine, availableBytes }: InstallWish,
): Promise<VisionOrigin> {
  if (visionFolder(enginesFolder) !== null) return "present";
  const temporary = await newFolder(enginesFolder);
  try {
    const folder = join(temporary, "part");
    await mkdir(folder);
    const origin = await obtain(temporary, folder, { onLine, availableBytes });
    await requireUsable(folder);
    const place = visionPartFolder(enginesFolder);
    await rm(place, { recursive: true, force: true });
    await rename(folder, place);
    return origin;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Returns false if it was not installed. */
export async function removeVision(enginesFolder: string): Promise<boolean> {
  const isThere = visionFolder(enginesFolder) !== null;
  await rm(visionPartFolder(enginesFolder), { recursive: true, force: true });
  return isThere;
}

/** A library that cannot be opened is not installed. It is opened in another process, which it may end. */
async function requireUsable(folder: string): Promise<void> {
  const question: EncodeJob = { open: folder };
  const answer = await askChild<EncodeAnswer>("encode-child", question, { patienceMs: 60_000 }).catch(
    (cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new LocallmError("vision_unusable", { reason }, { cause });
    },
  );
  if ("error" in answer) throw receiveError(answer.error);
}

async function obtain(
  temporary: string,
  folder: string,
  { onLine, availableBytes }: InstallWish,
): Promise<"package" | "build"> {
  const { name, version } = visionPart;
  onLine(`looking for ${name}@${version}`);
  try {
    await fetchPackage(temporary, visionPart, () => {});
    const inside = join(temporary, "node_modules", name);
    for (const file of [mtmdFile(), "LICENSE"]) await copyFile(join(inside, file), join(folder, file));
    return "package";
  } catch (error) {
    if (!(error instanceof LocallmError) || error.code !== "engine_not_fetched") throw error;
    onLine(`the registry has no such package (${error.details["reason"]}); building it instead`);
    await buildVision({ folder, availableBytes, onLine });
    return "build";
  }
}
