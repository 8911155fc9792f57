import type { PicturePiece } from "../engine/projector.ts";
import { isPicture } from "../wire/inference/picture.ts";

/** Encoded pictures, within a limit of bytes. Those that were not used for longest go first. */
export class EncodedPictures {
  readonly #limitBytes: number;
  readonly #pictures = new Map<
    string,
    { readonly pieces: readonly PicturePiece[]; readonly bytes: number }
  >();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  find(identity: string): readonly PicturePiece[] | null {
    const found = this.#pictures.get(identity);
    if (found === undefined) return null;
    this.#pictures.delete(identity);
    this.#pictures.set(identity, found);
    return found.pieces;
  }

  /** Does nothing if the picture is larger than the limit. */
  keep(identity: string, pieces: readonly PicturePiece[]): void {
    const bytes = pieces.reduce((sum, piece) => sum + (isPicture(piece) ? piece.rows.byteLength : 0), 0);
    if (bytes > this.#limitBytes || this.#pictures.has(identity)) return;
    this.#pictures.set(identity, { pieces, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#pictures) {
      if (this.#bytes <= this.#limitBytes) break;
      this.#pictures.delete(oldest);
      this.#bytes -= freed;
    }
  }
}
