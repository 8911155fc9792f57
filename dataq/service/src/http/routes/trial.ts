import { Failure } from "@dataq/contract";
import { trial } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { callerOf } from "../../accounts/address.ts";
import { trialLimit, trialsOf } from "../../limits/tier.ts";
import { answerTrial, noTrial } from "../../query/trial.ts";
import { leaveSignal } from "../app.ts";
import { check, readJson } from "../body.ts";
import { languageOf } from "../language.ts";
import type { HttpParts } from "../parts.ts";

interface TrialSettings {
  /** DATAQ_TRIALS */
  readonly trialsPerDay: number;
}

/** Questions of people without an account: a few from each address, and so many a day from all together. */
export function addTrialRoute(
  app: FastifyInstance,
  parts: Pick<HttpParts, "pipeline" | "limiter" | "clock">,
  { trialsPerDay }: TrialSettings,
): void {
  app.post("/v1/try", async (request, reply) => {
    const asked = check(trial, readJson(request));
    request.notes.operation = asked.operation;
    if (trialsPerDay === 0) throw noTrial(asked.operation);
    const now = parts.clock();
    const take = (bucket: string, rate: typeof trialLimit) => parts.limiter.take(bucket, 1, rate, now);
    const waitS =
      (await take(`try:${callerOf(request.ip)}`, trialLimit)) ??
      (await take("try:all", trialsOf(trialsPerDay)));
    if (waitS !== undefined) throw new Failure("rate_limited", { retry_after: waitS });
    reply.header("cache-control", "no-store").header("vary", "Accept-Language");
    return answerTrial(parts.pipeline, asked, {
      requestId: request.id,
      signal: leaveSignal(reply),
      language: languageOf(request.headers["accept-language"]),
    });
  });
}
