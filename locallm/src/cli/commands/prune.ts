import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { removeDerived } from "../../library/derived.ts";
import { cleanOllamaPartials } from "../../library/ollama-partials.ts";
import { Store } from "../../library/store.ts";
import { pruneBlobs } from "../../library/usage.ts";
import { Partials } from "../../sources/partial.ts";
import { counted } from "../../wire/counted.ts";
import { humanBytes } from "../text.ts";

export function pruneCommand(): Command {
  return new Command("prune")
    .description("remove unfinished downloads and files that no model uses")
    .option("--dry-run", "show what would be removed, without removing it")
    .option("--all", "also remove files younger than an hour, which a running create may need")
    .action(async ({ dryRun = false, all = false }: { dryRun?: boolean; all?: boolean }) => {
      const store = new Store(readCommandConfig().modelsFolder);
      const blobs = await pruneBlobs(store, { dryRun, now: new Date(), ...(all ? { patienceMs: 0 } : {}) });
      const own = await new Partials(store.blobs.partialFolder).clean({ dryRun });
      const ollamas = await cleanOllamaPartials(store, { dryRun, now: new Date() });
      const derived = await removeDerived(store, { dryRun, onlyOrphans: false });
      const downloads = own.folders + ollamas.downloads;
      const partialBytes = own.sizeBytes + ollamas.sizeBytes;
      const verb = dryRun ? "would remove" : "removed";
      console.log(
        `${verb} ${counted(blobs.blobs, "file")} that no model uses (${humanBytes(blobs.sizeBytes)})`,
      );
      console.log(
        `${verb} ${counted(derived.files, "faster file")} of models (${humanBytes(derived.sizeBytes)}), which the server makes again`,
      );
      console.log(`${verb} ${counted(downloads, "unfinished download")} (${humanBytes(partialBytes)})`);
    });
}
