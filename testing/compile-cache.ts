import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The folder in which Node keeps compiled modules (`NODE_COMPILE_CACHE`). All processes of the tests share it: without it,
 * each of hundreds would strip and compile every module again.
 */
export const compileCache =
  process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), "locallm-and-dataq-compile-cache");
