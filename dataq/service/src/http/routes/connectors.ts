import { Failure, type Params } from "@dataq/contract";
import { connectorTest, type connectorTrial, type routes, type Sent } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import type { Connector } from "../../connector/connector.ts";
import type { VendorGate } from "../../limits/vendor-gate.ts";
import { testConnector } from "../../operations/connector-trial.ts";
import { check, readJson } from "../body.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** The operator's contracts with vendors, and tests of their answers. */
export function addConnectorRoutes(
  app: FastifyInstance,
  parts: HttpParts,
  connectors: readonly Connector[],
  gate: VendorGate,
): void {
  app.get("/admin/v1/connectors", async (): Promise<Sent<typeof routes.listConnectors.answer>> => {
    const states = await gate.states();
    return {
      data: connectors.map(({ vendor }) => {
        const { calls = 0, lastFailure = null } = states.get(vendor.operation) ?? {};
        return {
          operation: vendor.operation,
          vendor: vendor.name,
          kind: vendor.kind,
          licence: vendor.licence,
          calls,
          cost_fen: calls * vendor.costFen,
          last_failure: lastFailure,
        };
      }),
    };
  });

  app.post<{ Params: { operation: string } }>(
    "/admin/v1/connectors/:operation/test",
    async (request): Promise<Sent<typeof connectorTrial>> => {
      const { operation } = request.params;
      const { params } = check(connectorTest, readJson(request, { whenEmpty: {} }));
      const connector = connectors.find(({ vendor }) => vendor.operation === operation);
      if (connector === undefined) throw new Failure("not_found", { what: "The connector" });
      await writeAudit(parts.database, authorOf(parts, request), "connector.test", operation, null, null);
      return testConnector(connector.vendor, params as Params | undefined);
    },
  );
}
