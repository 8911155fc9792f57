/** What a caller sent, short enough to be shown back. */
export function shorten(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
