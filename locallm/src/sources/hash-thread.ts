import { parentPort } from "node:worker_threads";
import { type HashOrder, ReadHash } from "./file-hash.ts";

/** The thread of `FileHash`: hashes the file up to the given position and posts the digest once. */
let hash: ReadHash | null = null;
parentPort?.on("message", (order: HashOrder) => {
  if (order === "digest") {
    parentPort?.postMessage(hash?.digest() ?? "");
    hash?.close();
    parentPort?.close();
  } else if ("path" in order) hash = new ReadHash(order.path);
  else hash?.read(order.upToBytes);
});
