import type { DatasetRow, Job, JobDetail, NewImport, Upload } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const datasetsQuery = queryOptions({
  queryKey: ["admin", "datasets"],
  queryFn: ({ signal }) => call<{ data: readonly DatasetRow[] }>("/admin/v1/datasets", { signal }),
});

const at = (operation: string, name: string) =>
  `/admin/v1/datasets/${encodeURIComponent(operation)}/${encodeURIComponent(name)}`;

export const datasetQuery = (operation: string, name: string) =>
  queryOptions({
    queryKey: ["admin", "datasets", operation, name],
    queryFn: ({ signal }) => call<DatasetRow>(at(operation, name), { signal }),
  });

export const removeDataset = (operation: string, name: string) =>
  call<Job>(`${at(operation, name)}/remove`, { method: "POST" });
export const restoreDataset = (operation: string, name: string) =>
  call<Job>(`${at(operation, name)}/restore`, { method: "POST" });

/** Polls a job until it ends. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["admin", "job", id],
    queryFn: ({ signal }) => call<JobDetail>(`/admin/v1/jobs/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: (query) => (query.state.data?.state === "running" ? 700 : false),
  });

/** Waits for the end of a job. */
export async function endOf(job: Job): Promise<JobDetail> {
  for (;;) {
    const now = await call<JobDetail>(`/admin/v1/jobs/${encodeURIComponent(job.id)}`);
    if (now.state !== "running") return now;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * Uploads a file in pieces, so that a lost connection costs only one piece. Returns the name that an import
 * uses.
 */
export async function uploadFile(file: File, onProgress: (received: number) => void): Promise<string> {
  const started = await call<Upload>("/admin/v1/uploads", {
    method: "POST",
    body: { name: file.name, bytes: file.size },
  });
  for (let received = 0; received < file.size; ) {
    const answer = await call<Upload>(`/admin/v1/uploads/${started.id}?at=${received}`, {
      method: "POST",
      bytes: file.slice(received, received + started.piece_bytes),
      headers: { "content-type": "application/octet-stream" },
    });
    received = answer.received;
    onProgress(received);
  }
  return `upload:${started.id}`;
}

export const startImport = (wishes: NewImport) =>
  call<Job>("/admin/v1/imports", { method: "POST", body: wishes });
