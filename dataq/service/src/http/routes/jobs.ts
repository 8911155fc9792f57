import { Failure } from "@dataq/contract";
import {
  type importReport,
  indexRefresh,
  type jobDetail,
  type jobList,
  newImport,
  newUpload,
  type Sent,
  uploadQuery,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import type { Jobs } from "../../background/import-jobs.ts";
import { pieceBytes, type Uploads } from "../../background/uploads.ts";
import type { ImportReport } from "../../importer/import-file.ts";
import { importNames } from "../../operations/imports.ts";
import { check, readJson } from "../body.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** Imports, uploads and index builds, which operators start and watch. */
export function addJobRoutes(app: FastifyInstance, parts: HttpParts, jobs: Jobs, uploads: Uploads): void {
  app.get("/admin/v1/jobs", async (): Promise<Sent<typeof jobList>> => {
    return { data: await jobs.list(), operations: importNames };
  });

  app.get<{ Params: { id: string } }>(
    "/admin/v1/jobs/:id",
    async (request): Promise<Sent<typeof jobDetail>> => {
      const found = await jobs.find(request.params.id);
      if (found === undefined) throw new Failure("not_found", { what: "The job" });
      return { ...found, report: found.report && reportBody(found.report) };
    },
  );

  app.post("/admin/v1/imports", async (request, reply) => {
    const { operation, from, ...options } = check(newImport, readJson(request));
    const upload = /^upload:(.*)$/.exec(from)?.[1];
    const origin = upload === undefined ? from : await uploads.path(upload);
    const job = await jobs.startImport(operation, origin, options);
    await writeAudit(parts.database, authorOf(parts, request), "import.start", operation, null, {
      from: origin,
      ...options,
    });
    return reply.code(202).send(job);
  });

  app.post("/admin/v1/uploads", async (request, reply) =>
    reply.code(201).send(await uploads.start(check(newUpload, readJson(request)))),
  );

  app.post<{ Params: { id: string } }>(
    "/admin/v1/uploads/:id",
    { bodyLimit: pieceBytes },
    async (request) => {
      const { at } = check(uploadQuery, request.query);
      return uploads.add(request.params.id, at, (request.body as Buffer | undefined) ?? new Uint8Array());
    },
  );

  app.post("/admin/v1/index/refresh", async (request, reply) => {
    const { operation } = check(indexRefresh, readJson(request, { whenEmpty: {} }));
    const job = await jobs.refreshIndex(operation);
    await writeAudit(parts.database, authorOf(parts, request), "index.refresh", job.operation, null, null);
    return reply.code(202).send(job);
  });
}

function reportBody(report: ImportReport): Sent<typeof importReport> {
  const { dataset, outcome, encoding, rows, records, badRows, passedOver, duplicates, duplicateIds } = report;
  return {
    dataset,
    outcome,
    encoding,
    rows,
    records,
    refused: badRows,
    for_other_operations: passedOver,
    duplicates,
    duplicate_ids: [...duplicateIds],
    problems: report.problems.map(({ line, problem, problemZh }) => ({
      line,
      problem,
      problem_zh: problemZh,
    })),
    notes: report.notes.map(({ note, noteZh }) => ({ note, note_zh: noteZh })),
    fields: report.fields,
  };
}
