/** The formats of sound that clients may send, as OpenAI's protocol names them. */
export const soundFormats = ["wav", "mp3"] as const;

export type SoundFormat = (typeof soundFormats)[number];
