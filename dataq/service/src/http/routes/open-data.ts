import { Failure } from "@dataq/contract";
import type { openData, Sent } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import type { Jobs } from "../../background/import-jobs.ts";
import { bytesOf, isOfAddress, isOfFiles } from "../../importer/open-data/sets.ts";
import { paceMs } from "../../operations/legal/laws/official/national-laws.ts";
import { canGet, realData, setStates } from "../../operations/open-data.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { authorOf } from "../caller.ts";
import { publisherName } from "../docs/publisher-name.ts";
import type { HttpParts } from "../parts.ts";

/** The catalogue of open data, from which operators bring sets. */
export function addOpenDataRoutes(
  app: FastifyInstance,
  parts: HttpParts,
  {
    jobs,
    index,
    mirror,
  }: { readonly jobs: Jobs; readonly index: SearchIndex; readonly mirror: string | undefined },
): void {
  const { database, pipeline } = parts;

  app.get("/admin/v1/open-data", async (): Promise<Sent<typeof openData>> => {
    const states = await setStates(database, index);
    const { needsMirror, ...real } = await realData({ database, index, mirror }, pipeline.sources);
    return {
      data: [...states].map(([set, state]) => {
        const { name, title, makes, coverage, licence, duties, origin } = set;
        const publishers = set.publishers.map((each) => ({ ...each, title: publisherName(each.name) }));
        const told = { name, title, makes, coverage, licence, duties, publishers, origin, state };
        const taken = isOfFiles(set) ? set.taken : null;
        const seconds =
          isOfFiles(set) || isOfAddress(set)
            ? set.seconds
            : Math.ceil(((set.requests.list + set.requests.texts) * paceMs) / 1_000);
        return { ...told, taken, seconds, bytes: bytesOf(set), can_get: canGet(set, mirror) };
      }),
      real: { ...real, needs_mirror: needsMirror },
    };
  });

  app.post<{ Params: { name: string } }>("/admin/v1/open-data/:name", async (request, reply) => {
    const { name } = request.params;
    const known = [...(await setStates(database, index)).keys()];
    if (name !== "all" && !known.some((set) => set.name === name))
      throw new Failure("not_found", { what: "The set" });
    const job = await jobs.getOpenData(name);
    await writeAudit(database, authorOf(parts, request), "import.start", "open_data", null, { from: name });
    return reply.code(202).send(job);
  });
}
