import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { removeDerived } from "../../library/derived.ts";
import { freeBytes } from "../../library/disk-space.ts";
import { cleanOllamaPartials } from "../../library/ollama-partials.ts";
import { Store } from "../../library/store.ts";
import { storeUsage } from "../../library/usage.ts";
import { Partials } from "../../sources/partial.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { humanBytes, table } from "../text.ts";

export function dfCommand(): Command {
  return new Command("df").description("show the disk usage of the models").action(async () => {
    const store = new Store(readCommandConfig().modelsFolder);
    const { models, blobBytes, unused } = await storeUsage(store, new Date());
    const rows = models
      .toSorted((a, b) => b.ownBytes - a.ownBytes)
      .map(({ model, ownBytes, sharedBytes }) => [
        displayModelName(model.name),
        humanBytes(ownBytes),
        humanBytes(sharedBytes),
      ]);
    console.log(table(["NAME", "OWN", "SHARED"], rows));
    const own = await new Partials(store.blobs.partialFolder).clean({ dryRun: true });
    const ollamas = await cleanOllamaPartials(store, { dryRun: true, now: new Date() });
    const partialBytes = own.sizeBytes + ollamas.sizeBytes;
    const unusedBytes = unused.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    console.log(`\nAll blobs: ${humanBytes(blobBytes)}; unused by any model: ${humanBytes(unusedBytes)}.`);
    console.log(`Abandoned downloads: ${humanBytes(partialBytes)}.`);
    const derived = await removeDerived(store, { dryRun: true, onlyOrphans: false });
    console.log(`Faster files made of models: ${humanBytes(derived.sizeBytes)}.`);
    if (unusedBytes + partialBytes + derived.sizeBytes > 0)
      console.log("`locallm prune` removes what is unused, abandoned, or made again when it is needed.");
    const free = await freeBytes(store.root).catch(() => null);
    if (free !== null) console.log(`Free on this disk: ${humanBytes(free)}.`);
  });
}
