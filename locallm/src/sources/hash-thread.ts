import { parentPort } from "node:worker_threads";
import { type HashOrder, ReadHash } from "./file-hash.ts";

/** The other side of `FileHash`: reads and hashes as far as it is told, answers once with the digest. */
let hash: ReadHash | null = null;
parentPort?.on("message", (order: HashOrder) => {
  if (order === "digest") {
    parentPort?.postMessage(hash?.digest() ?? "");
    hash?.close();
    parentPort?.close();
  } else if ("path" in order) hash = new ReadHash(order.path);
  else hash?.read(order.upToBytes);
});
