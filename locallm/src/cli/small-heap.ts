/**
 * Node's options for the server (docs/decisions/0008): V8 collects before its heap has grown much. Node reads them only
 * at its start, so package.json and the first line of `locallm.ts` repeat them.
 */
export const smallHeap = ["--max-semi-space-size=2", "--heap-growing-percent=30"];
