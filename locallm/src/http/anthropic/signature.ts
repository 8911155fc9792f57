/**
 * Anthropic signs thinking, and clients send the signature back unchanged. Our signature proves nothing. If
 * the client asked for thinking without its text, the signature contains the text, so that the next turn's
 * prompt begins like this one's.
 */
export function signatureOf(thinking: string, isOmitted: boolean): string {
  return isOmitted ? `${mark}.${Buffer.from(thinking).toString("base64url")}` : mark;
}

/** The text of a thinking block that a client sends back. */
export function thinkingOf(block: {
  readonly thinking: string;
  readonly signature?: string | undefined;
}): string {
  const { thinking, signature = "" } = block;
  if (thinking !== "" || !signature.startsWith(`${mark}.`)) return thinking;
  return Buffer.from(signature.slice(mark.length + 1), "base64url").toString();
}

const mark = "locallm";
