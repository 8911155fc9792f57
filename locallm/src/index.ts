/** For programs that carry a model server inside; docs/locallm/embedding.md has it all. */
export { type Config, type Environment, readConfig } from "./config.ts";
export { createServer, type Server, type ServerParts } from "./server.ts";
export { type ErrorCode, LocallmError } from "./wire/errors.ts";
