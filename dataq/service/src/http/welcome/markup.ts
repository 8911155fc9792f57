/** HTML that is safe to send: only `html` makes it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Markup | string | number | undefined | readonly (Markup | string)[];

/** Joins HTML with values. Every value that is not HTML itself is escaped, in a text and in a quoted attribute. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(parts.reduce((text, part, at) => text + written(pieces[at - 1]) + part));
}

function written(piece: Piece): string {
  if (piece === undefined) return "";
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === "object") return piece.map(written).join("");
  return String(piece).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A block of data for the page's script. It is not run, so the content security policy needs no exception. */
export function dataBlock(id: string, data: unknown): Markup {
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return new Markup(`<script type="application/json" id="${id}">${json}</script>`);
}
