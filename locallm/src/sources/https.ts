import { requireSpace } from "../library/disk-space.ts";
import { type WeightsBlob, writeWeightsModel } from "../library/weights.ts";
import { displayModelName } from "../wire/model-name.ts";
import type { PullContext } from "./pull-context.ts";
import { fileNameOf, type Reference, splitFileNames } from "./reference.ts";
import { fetchBlob, findFile, forgetFile, type RemoteFile } from "./remote-file.ts";
import { weightsKeys } from "./weights-keys.ts";

/** Pulls a GGUF file from a URL. For a split model, pulls all parts, whose URLs follow from the numbers in the name. */
export async function pullFromUrl(
  reference: Reference & { source: "https" },
  context: PullContext,
): Promise<void> {
  const { store, onProgress } = context;
  const { url, name } = reference;
  onProgress({ status: `pulling from ${url.host}` });
  const files: RemoteFile[] = [];
  for (const fileName of splitFileNames(fileNameOf(url)) ?? []) {
    files.push(await findFile({ url: siblingOf(url, fileName), digest: reference.digest }, context));
  }
  const present = await weightsKeys(store, name);
  if (present.join() !== files.map(({ key }) => key).join()) {
    await requireSpace(
      await store.blobs.preparedFolder(),
      files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    );
    await fetchModel(reference, files, context);
  }
  onProgress({ status: "success" });
}

async function fetchModel(
  { name }: Reference,
  files: readonly RemoteFile[],
  context: PullContext,
): Promise<void> {
  const { store, onProgress } = context;
  const weights: WeightsBlob[] = [];
  for (const file of files) weights.push({ ...(await fetchBlob(file, context)), name: file.key });
  onProgress({ status: "verifying sha256 digest" });
  try {
    await writeWeightsModel(store, name, weights);
  } finally {
    for (const file of files) await forgetFile(file, context);
  }
  onProgress({ status: `stored as ${displayModelName(name)}` });
}

function siblingOf(url: URL, fileName: string): URL {
  const sibling = new URL(url);
  if (fileName !== fileNameOf(url)) {
    sibling.pathname = `${url.pathname.slice(0, url.pathname.lastIndexOf("/") + 1)}${encodeURIComponent(fileName)}`;
  }
  return sibling;
}
