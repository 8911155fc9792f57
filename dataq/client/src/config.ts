/** The only reader of the environment. */
export function readEnvironment(): { apiKey: string | undefined; baseUrl: string | undefined } {
  // Reached through globalThis: browsers and some edge runtimes have no `process`.
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  return { apiKey: env?.["DATAQ_API_KEY"] || undefined, baseUrl: env?.["DATAQ_BASE_URL"] || undefined };
}
