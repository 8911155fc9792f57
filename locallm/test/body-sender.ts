import { parentPort, workerData } from "node:worker_threads";
import { type BodyAttack, hostileBodies, sendAll } from "./prompt-campaign.ts";

// A thread that sends hostile bodies, so that making them does not delay the requests that are measured beside
// them. Posts the failures when all are answered.
const { url, count, seed, atOnce } = workerData as BodyAttack;
const server = {
  post: (path: string, _body: unknown, init?: RequestInit) => fetch(url + path, { method: "POST", ...init }),
};
parentPort?.postMessage(await sendAll(server, hostileBodies(count, seed), atOnce));
