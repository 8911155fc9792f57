/** Shortens a caller's text for use in a message. */
export function shorten(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
