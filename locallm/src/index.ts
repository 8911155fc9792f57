/** API for programs that embed the server; see docs/locallm/embedding.md. */
export { type Config, type Environment, readConfig } from "./config.ts";
export { createServer, type Server, type ServerParts } from "./server.ts";
export { type ErrorCode, LocallmError } from "./wire/errors.ts";
