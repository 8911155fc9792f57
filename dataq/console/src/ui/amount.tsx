import { TOKENS_PER_FEN, useFormat } from "./format.tsx";

/** An amount in yuan and, below it, what is to be known of a part of it. */
export function Amount({
  fen,
  part,
  about,
}: {
  readonly fen: number;
  readonly part: number;
  /** What the line says of the part. It is left out while there is none. */
  readonly about: (yuan: string) => string;
}) {
  const format = useFormat();
  return (
    <>
      <span className="whitespace-nowrap">{format.yuan(fen * TOKENS_PER_FEN)}</span>
      {part > 0 && (
        <span className="mt-1 block text-xs text-warn">{about(format.yuan(part * TOKENS_PER_FEN))}</span>
      )}
    </>
  );
}
