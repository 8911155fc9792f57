import type { z } from "zod";

/** A body as the service passes it: points in time are `Date` objects, which JSON writes as RFC 3339. */
export type Sent<Schema extends z.ZodType> = Frozen<z.output<Schema>>;

/** A body as it is on the wire. */
export type Received<Schema extends z.ZodType> = Frozen<z.input<Schema>>;

type Frozen<Value> = Value extends Date
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
      : Value;
