import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../database/database.ts";
import { tryLock } from "../../database/locks.ts";
import { openIndex } from "../../search/open-index.ts";
import { refreshDue } from "./refresh.ts";
import type { RefreshTask } from "./schedule.ts";

/** The thread of the schedule. Of several services on one database, only the one that gets the lock refreshes. */
const task = workerData as RefreshTask;

try {
  // On Linux this lowers the priority of this thread only, so that calls come first.
  setPriority(5);
} catch {
  // Not permitted here. Calls are then a little slower.
}

const database = await openDatabase({
  url: task.databaseUrl,
  directUrl: task.databaseDirectUrl,
  folder: task.dataFolder,
  poolSize: 1,
  applicationName: "dataq refresh",
  progress: () => {},
});
try {
  const holder = await database.connect();
  try {
    if (await tryLock(holder, "refresh")) {
      const index = await openIndex(database, task.search);
      const progress = (line: string) => parentPort?.postMessage(line);
      const { dataFolder, mirror } = task;
      await refreshDue({ database, index, dataFolder, mirror, progress }, task.due);
    }
  } finally {
    await holder.end();
  }
} finally {
  await database.close();
}
