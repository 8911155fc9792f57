// The thread that writes lines to the clients whose connections are lent to this runner.
import { workerData } from "node:worker_threads";
import { Writing } from "./writing.ts";

new Writing(workerData as SharedArrayBuffer).serve();
