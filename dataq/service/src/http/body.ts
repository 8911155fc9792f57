import { Failure, summarise } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { named, shownType } from "./error-reply.ts";
import { problemOf } from "./schema-problem.ts";
import { parseStrictJson } from "./strict-json.ts";

/** The JSON body of a request. An absent body is an empty object if `whenEmpty` allows it. */
export function readJson(
  request: FastifyRequest,
  { whenEmpty, maxDepth }: { readonly whenEmpty?: object; readonly maxDepth?: number } = {},
): unknown {
  const type = request.headers["content-type"];
  if (
    type !== undefined &&
    !/^application\/(?:[\w.-]+\+)?json\s*(?:;\s*charset=["']?utf-?8["']?\s*)?$/i.test(type)
  ) {
    throw new Failure("unsupported_media_type", named("type", shownType(type)));
  }
  const bytes = request.body as Buffer | undefined;
  if (whenEmpty && (bytes === undefined || bytes.length === 0)) return whenEmpty;
  return parseStrictJson(bytes ?? new Uint8Array(), maxDepth);
}

/** Checks external input against a schema. The failure names each field and what to send. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const details = read.error.issues.map(problemOf);
  throw new Failure("invalid_params", {
    param: details[0]!.param,
    summary: summarise(details),
    details,
  });
}
