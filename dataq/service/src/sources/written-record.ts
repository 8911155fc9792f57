/** A record that is JSON already, in parts that belong together; whoever needs its fields parses it. */
export class WrittenRecord {
  readonly parts: readonly Buffer[];

  constructor(parts: readonly Buffer[]) {
    this.parts = parts;
  }

  parse(): object {
    return JSON.parse(Buffer.concat(this.parts).toString()) as object;
  }
}
