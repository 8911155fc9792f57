import { createHash } from "node:crypto";
import { zipSync } from "fflate";
import type { FileHost } from "./file-host.ts";

/** Publishes a package of Python on the index of a host. The file itself may be at another one. */
export function publishWheel(
  index: FileHost,
  name: string,
  files: Readonly<Record<string, Buffer>>,
  { at = index, version = "1.0" }: { readonly at?: FileHost; readonly version?: string } = {},
): void {
  const project = name.replaceAll("_", "-");
  const info = `${name}-${version}.dist-info`;
  const wheel = `${name}-${version}-py3-none-any.whl`;
  const text = (...lines: string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const bytes = Buffer.from(
    zipSync({
      [`${info}/METADATA`]: text("Metadata-Version: 2.1", `Name: ${project}`, `Version: ${version}`),
      [`${info}/WHEEL`]: text("Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any"),
      [`${info}/RECORD`]: text(),
      ...files,
    }),
  );
  at.files.set(`/files/${wheel}`, bytes);
  const digest = createHash("sha256").update(bytes).digest("hex");
  const link = `<a href="${at.url}/files/${wheel}#sha256=${digest}">${wheel}</a>`;
  index.files.set(`/simple/${project}/`, Buffer.from(`<html><body>${link}</body></html>`));
  index.answer = (_request, response, path) => {
    if (!path.startsWith("/simple/")) return false;
    response.writeHead(index.files.has(path) ? 200 : 404, { "content-type": "text/html" });
    return !response.end(index.files.get(path)).destroyed;
  };
}
