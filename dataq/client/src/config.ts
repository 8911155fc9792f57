/** The only reader of the environment. An empty value is an unset one. */
export function readEnvironment(name: "DATAQ_API_KEY" | "DATAQ_BASE_URL"): string | undefined {
  // Reached through globalThis: browsers and some edge runtimes have no `process`.
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  return env?.[name] || undefined;
}
