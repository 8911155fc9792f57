/** For programs that carry a model server inside: `createServer(readConfig(process.env))`. */
export { type Config, readConfig } from "./config.ts";
export { createServer, type Server, type ServerParts } from "./server.ts";
export { LocallmError } from "./wire/errors.ts";
