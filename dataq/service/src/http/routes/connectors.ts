import { Failure, invalid, type Params } from "@dataq/contract";
import {
  type connected,
  type connector,
  connectorTest,
  type connectorTrial,
  newConnector,
  type routes,
  type Sent,
} from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { problemWith } from "../../connector/configured.ts";
import { removeContract } from "../../connector/connectors-file.ts";
import type { Contract } from "../../connector/contract.ts";
import type { ContractBook } from "../../connector/contract-book.ts";
import { presets } from "../../connector/preset.ts";
import type { ContractGate, ContractState } from "../../limits/contract-gate.ts";
import { askBalances } from "../../limits/stated-balances.ts";

import { connectVendor, isAnswer } from "../../operations/connecting.ts";
import { testContract } from "../../operations/connector-trial.ts";
import { check, readJson } from "../body.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** The operator's contracts with vendors: connecting, testing and removing them. */
export function addConnectorRoutes(
  app: FastifyInstance,
  parts: HttpParts,
  { contracts, gate, path }: { contracts: ContractBook; gate: ContractGate; path: string },
): void {
  const rowsOf = async (all: readonly Contract[]) => {
    await askBalances(all, gate, parts.clock());
    const states = await gate.states(parts.clock());
    return Promise.all(
      all.map(async (contract) =>
        rowFrom(contract, states, await gate.leftOf(contract.name, contract.parts.balance)),
      ),
    );
  };

  app.get("/admin/v1/connectors", async (): Promise<Sent<typeof routes.listConnectors.answer>> => {
    return { data: await rowsOf(await contracts.all()) };
  });

  app.get("/admin/v1/vendors", async (): Promise<Sent<typeof routes.listVendors.answer>> => {
    const rows = new Map((await rowsOf(await contracts.all())).map((row) => [row.name, row]));
    return {
      data: presets().map((preset) => ({
        name: preset.name,
        publisher: preset.publisher,
        kind: preset.kind,
        licence: preset.licence,
        duties: preset.duties,
        about: preset.about ?? null,
        operations: Object.keys(preset.operations),
        credentials: Object.entries(preset.credentials).map(([name, credential]) => ({
          name,
          ...credential,
        })),
        documents: preset.documents,
        checked: preset.checked,
        cost_fen: preset.cost_fen,
        is_connected: rows.has(preset.name),
        balance_fen: rows.get(preset.name)?.balance_fen ?? null,
        stated: rows.get(preset.name)?.stated ?? null,
      })),
    };
  });

  app.post("/admin/v1/connectors", async (request): Promise<Sent<typeof connected>> => {
    const {
      vendor: name,
      credentials,
      cost_fen,
      operations,
      balance_fen,
      join,
      untested,
    } = check(newConnector, readJson(request));
    const preset = presets().find((each) => each.name === name);
    if (preset === undefined) throw new Failure("not_found", { what: "The vendor" });
    const problem = problemWith(preset, { credentials, operations });
    if (problem !== undefined)
      throw invalid(problem.param, problem.code, problem.message, problem.fix, problem.fixZh);
    const entry = {
      preset: name,
      credentials,
      ...(cost_fen !== undefined && { cost_fen }),
      ...(operations !== undefined && { operations }),
      ...(balance_fen !== undefined && {
        balance: { fen: balance_fen, since: parts.clock().toISOString() },
      }),
      ...(join && { join }),
    };
    const { isWritten, trials } = await connectVendor(path, entry, { untested });
    if (isWritten) {
      await writeAudit(parts.database, authorOf(parts, request), "connector.connect", name, null, null);
      await contracts.refresh();
      if (trials.every(isAnswer)) await gate.clear(name);
    }
    const contract = isWritten ? (await contracts.all()).find((each) => each.name === name) : undefined;
    return { connector: contract === undefined ? null : (await rowsOf([contract]))[0]!, trials };
  });

  app.delete<{ Params: { name: string } }>("/admin/v1/connectors/:name", async (request, reply) => {
    const { name } = request.params;
    if (!(await removeContract(path, name))) throw new Failure("not_found", { what: "The connector" });
    await writeAudit(parts.database, authorOf(parts, request), "connector.disconnect", name, null, null);
    await contracts.refresh();
    return reply.code(204).send();
  });

  app.post<{ Params: { operation: string } }>(
    "/admin/v1/connectors/:operation/test",
    async (request): Promise<Sent<typeof connectorTrial>> => {
      const { operation } = request.params;
      const { params, contract: name } = check(connectorTest, readJson(request, { whenEmpty: {} }));
      const able = await contracts.of(operation);
      const contract = name === undefined ? able[0] : able.find((each) => each.name === name);
      if (contract === undefined) throw new Failure("not_found", { what: "The connector" });
      await writeAudit(parts.database, authorOf(parts, request), "connector.test", operation, null, null);
      const trial = await testContract(contract.parts, operation, params as Params | undefined);
      if (isAnswer(trial)) await gate.clear(contract.name);
      return trial;
    },
  );
}

function rowFrom(
  { name, parts, operations }: Contract,
  states: ReadonlyMap<string, ContractState>,
  leftFen: number | null,
): Sent<typeof connector> {
  const state = states.get(name);
  return {
    name,
    vendor: parts.publisher,
    kind: parts.kind,
    licence: parts.licence,
    operations: [...operations],
    joins: parts.joins === true,
    requests: state?.requests ?? 0,
    cost_fen: state?.costFen ?? 0,
    balance_fen: leftFen,
    stated:
      state?.stated && parts.stated
        ? { amount: state.stated.amount, unit: parts.stated.unit, at: state.stated.at.toISOString() }
        : null,
    is_out_of_money: state?.paused?.isOutOfMoney ?? false,
    last_failure: state?.lastFailure ?? null,
    paused_until: state?.paused?.until.toISOString() ?? null,
    paused_why: state?.paused?.why ?? null,
  };
}
