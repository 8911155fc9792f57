import { z } from "zod";

/** A point in time: a `Date` in the service, RFC 3339 on the wire. */
export const moment = z.codec(z.iso.datetime({ offset: true }), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
