import type { NewProject, Project } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => call<{ data: readonly Project[] }>("/v1/projects", { signal }),
});

export function createProject(wishes: NewProject): Promise<Project> {
  return call("/v1/projects", { method: "POST", body: wishes });
}

export function changeProject(id: string, wishes: NewProject): Promise<Project> {
  return call(`/v1/projects/${encodeURIComponent(id)}`, { method: "PATCH", body: wishes });
}

export function deleteProject(id: string): Promise<unknown> {
  return call(`/v1/projects/${encodeURIComponent(id)}`, { method: "DELETE" });
}
