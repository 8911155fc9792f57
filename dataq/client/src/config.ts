/** The only reader of the environment. An empty value counts as unset. */
export function readEnvironment(name: "DATAQ_API_KEY" | "DATAQ_BASE_URL"): string | undefined {
  // Reads `process` through globalThis, because browsers and some edge runtimes do not have it.
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  return env?.[name] || undefined;
}
