import { Failure, tokensPerCny } from "@dataq/contract";
import type { Answer } from "../sources/source.ts";
import type { Call } from "./call.ts";
import type { PipelineParts } from "./parts.ts";
import type { Question } from "./question.ts";
import type { QueryRequest } from "./request/request.ts";

/** A question, whoever asks it. */
interface Asked extends Omit<Question, "call"> {
  readonly call: Pick<Call, "requestId" | "idempotencyKey" | "signal">;
}

/** Runs a source. If the source ignores the signal, it is abandoned and a late result is discarded. */
export async function runSource(
  { sourceLimitMs }: Pick<PipelineParts, "sourceLimitMs">,
  { request, source, price, call, now }: Asked,
  sandbox: boolean,
): Promise<Answer> {
  const limit = AbortSignal.timeout(sourceLimitMs);
  // With a key the answer is stored for the retry, so the call continues after the client disconnects.
  const signal = call.idempotencyKey === undefined ? AbortSignal.any([call.signal, limit]) : limit;
  const page = {
    page: request.page,
    pageSize: request.pageSize,
    ...(request.offset !== undefined && { offset: request.offset }),
    ...(request.snapshot !== undefined && { snapshot: request.snapshot }),
  };
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () =>
      reject(
        new Failure(limit.aborted ? "upstream_timeout" : "client_closed_request", {
          operation: request.operation.name,
        }),
      );
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  stopped.catch(() => {});
  try {
    const context = {
      signal,
      now,
      sandbox,
      until: Date.now() + sourceLimitMs,
      priceFen: (price.tokens * 100) / tokensPerCny,
      requestId: call.requestId,
    };
    return await Promise.race([source.run(request.params, page, context), stopped]);
  } finally {
    signal.removeEventListener("abort", stop!);
  }
}

/** The error for a single record that does not exist, with what is held if the question reaches beyond it. */
export function notFound(request: QueryRequest, { coverage }: Answer): Failure {
  const what = `The requested record of ${request.operation.name}`;
  return new Failure("not_found", { what, ...(coverage && { coverage }) });
}
