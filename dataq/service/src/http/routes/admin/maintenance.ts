import { invalid } from "@dataq/contract";
import { type maintenance, maintenanceChange, type Sent } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import {
  beginMaintenance,
  endMaintenance,
  type MaintenanceWindow,
  openWindow,
} from "../../../maintenance/maintenance.ts";
import { check, readJson } from "../../body.ts";
import { authorOf } from "../../caller.ts";
import type { HttpParts } from "../../parts.ts";

/** The switch of maintenance, for operators. */
export function addAdminMaintenanceRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database } = parts;

  app.get("/admin/v1/maintenance", async (): Promise<Sent<typeof maintenance>> => {
    return { data: windowBody(await openWindow(database.pool)) };
  });

  app.post("/admin/v1/maintenance", async (request): Promise<Sent<typeof maintenance>> => {
    const { on, until = null, message = {} } = check(maintenanceChange, readJson(request));
    const author = authorOf(parts, request);
    if (on && until !== null && until <= author.now)
      throw invalid(
        "until",
        "past",
        "until must be in the future",
        "send a later time, or null",
        "请发送更晚的时间，或 null",
      );
    const open = on ? await beginMaintenance(database, { until, message }, author) : undefined;
    if (!on) await endMaintenance(database, author);
    parts.maintenance.forget();
    return { data: windowBody(open) };
  });
}

export function windowBody(open: MaintenanceWindow | undefined): Sent<typeof maintenance>["data"] {
  if (open === undefined) return null;
  const { since, until, message } = open;
  return { since, until, message };
}
