/**
 * Plain English of about `tokens` tokens. Each `salt` gives a different beginning, so the text is not cached.
 */
export function prompt(salt: number, tokens: number): string {
  const words = [
    "river",
    "stone",
    "market",
    "letter",
    "harbour",
    "winter",
    "garden",
    "bridge",
    "copper",
    "window",
  ];
  let state = salt * 2_654_435_761 + 12_345;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return words[(state >>> 16) % words.length]!;
  };
  return Array.from({ length: tokens }, next).join(" ");
}
