export { type ErrorCode, type ErrorRow, errors } from "./errors.ts";
