/** Nothing was changed. The message says why, and what to do. */
export class UpdateError extends Error {
  override readonly name = "UpdateError";
}
