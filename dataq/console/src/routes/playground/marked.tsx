import { hitsIn } from "./hits.ts";

/** A text with the words of the question marked. */
export function Marked({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  return hitsIn(text, words).map(({ part, isHit }, at) =>
    isHit ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order
      <mark key={at} className="rounded-sm bg-warn-wash text-ink">
        {part}
      </mark>
    ) : (
      part
    ),
  );
}
