import type { AnswerPiece } from "../dialogue/answer-piece.ts";
import type { Constraint } from "../dialogue/constraint.ts";
import type { SchemaThreads } from "../dialogue/grammar/schema-threads.ts";

/** Checks a finished answer against the schemas that its grammar could not fully enforce. */
export class AnswerCheck {
  readonly #schemas: SchemaThreads;
  readonly #unchecked: Constraint["unchecked"] | null;
  #content = "";
  readonly #calls: { readonly name: string; readonly text: string }[] = [];

  constructor(schemas: SchemaThreads, constraint: Pick<Constraint, "unchecked"> | null) {
    this.#schemas = schemas;
    this.#unchecked = constraint?.unchecked ?? null;
  }

  see(piece: AnswerPiece): void {
    if (this.#unchecked === null) return;
    if (piece.kind === "content" && this.#unchecked.format !== null) this.#content += piece.text;
    if (piece.kind === "called" && this.#unchecked.tools.has(piece.call.name))
      this.#calls.push({ name: piece.call.name, text: piece.call.text });
  }

  /** One line per violation, or one line if the check took too long. */
  async violations(): Promise<readonly string[]> {
    const { format = null, tools } = this.#unchecked ?? {};
    const found: string[] = [];
    if (format !== null && this.#content !== "") found.push(...(await this.#check(format, this.#content)));
    for (const { name, text } of this.#calls)
      for (const fault of await this.#check(tools?.get(name), text)) found.push(`${name}: ${fault}`);
    return found;
  }

  async #check(schema: unknown, text: string): Promise<readonly string[]> {
    return (await this.#schemas.check(schema, text)) ?? ["the check took too long"];
  }
}
