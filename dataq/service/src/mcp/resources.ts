import { findOperation } from "@dataq/contract";
import type { Resource, ResourceTemplateType } from "@modelcontextprotocol/server";

/** What an agent can read besides calling tools: routes of the API that cost nothing. */
export const resources: readonly Resource[] = [
  {
    uri: "dataq://catalog",
    name: "catalog",
    title: "Catalogue",
    description: "Every operation with its parameters, record, price and example",
    mimeType: "application/json",
  },
  {
    uri: "dataq://prices",
    name: "prices",
    title: "Prices",
    description: "Prices in force and announced, in tokens",
    mimeType: "application/json",
  },
  {
    uri: "dataq://status",
    name: "status",
    title: "Data status",
    description: "What answers each operation, and how old it is",
    mimeType: "application/json",
  },
];

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: "dataq://catalog/{operation}",
    name: "operation",
    title: "Operation",
    description: "One operation with its parameters, record, price and example",
    mimeType: "application/json",
  },
];

/** The route of a resource; undefined if there is no such resource. */
export function pathOf(uri: string): string | undefined {
  if (uri === "dataq://catalog") return "/v1/catalog";
  if (uri === "dataq://prices") return "/v1/pricing";
  if (uri === "dataq://status") return "/v1/status";
  const [, operation] = /^dataq:\/\/catalog\/([a-z_]+)$/.exec(uri) ?? [];
  return operation !== undefined && findOperation(operation) ? `/v1/catalog/${operation}` : undefined;
}
