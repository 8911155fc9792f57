/**
 * What the user chose, kept in this browser's localStorage. If the browser refuses it (blocked site data, full
 * storage), a choice lasts until the page closes.
 */
const chosen = new Map<string, string>();

export type Choice = "model" | "theme" | "language" | "api-key";

export function choiceOf(name: Choice): string | null {
  try {
    return chosen.get(name) ?? localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function choose(name: Choice, value: string): void {
  chosen.set(name, value);
  try {
    localStorage.setItem(name, value);
    chosen.delete(name);
  } catch {}
}
