/** Replaces what only the operator and the vendor may know. */
export function masked(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= shortestSecret)
    .toSorted((a, b) => b.length - a.length)
    .reduce((out, secret) => {
      const plain = out.replaceAll(secret, mask);
      return plain.replaceAll(encodeURIComponent(secret), mask);
    }, text);
}

/** Shorter texts are not masked, because that would hide ordinary text and protect nothing. */
const shortestSecret = 3;
const mask = "…";

/** Whether a header, a part of an address or a field of a body is a credential by its name. */
export function isSecretName(name: string): boolean {
  return /key|token|secret|sign|passw|auth|app_?(?:id|code)|customer|cookie|session/i.test(name);
}
