import type { FastifyInstance } from "fastify";
import type { HttpParts } from "../../parts.ts";
import { addAdminAccountRoutes } from "./accounts.ts";
import { addAdminBoardRoutes } from "./board.ts";
import { addAdminBookRoutes } from "./books.ts";
import { addAdminMaintenanceRoutes } from "./maintenance.ts";
import { addAdminPlanRoutes } from "./plans.ts";
import { addAdminPriceRoutes } from "./prices.ts";
import { addAdminVoucherRoutes } from "./vouchers.ts";

/** What operators do over the API. */
export function addAdminRoutes(app: FastifyInstance, parts: HttpParts): void {
  addAdminAccountRoutes(app, parts);
  addAdminVoucherRoutes(app, parts);
  addAdminPriceRoutes(app, parts);
  addAdminMaintenanceRoutes(app, parts);
  addAdminPlanRoutes(app, parts);
  addAdminBookRoutes(app, parts);
  addAdminBoardRoutes(app, parts);
}
