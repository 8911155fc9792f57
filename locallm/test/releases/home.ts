import { join } from "node:path";

/** Settings that put everything that locallm stores into one folder, also what it stores only when asked to. */
export function settingsOf(home: string): Record<string, string> {
  return {
    LOCALLM_MODELS: join(home, "models"),
    LOCALLM_KEYS: join(home, "keys"),
    LOCALLM_CREDENTIALS: join(home, "credentials.json"),
    LOCALLM_RESPONSES_FOLDER: join(home, "responses"),
    LOCALLM_RESPONSES_LIFETIME: "0",
    LOCALLM_CACHE_FOLDER: join(home, "conversations"),
    LOCALLM_CACHE_RAM: "8MiB",
    LOCALLM_CACHE_DISK: "20MiB",
  };
}
