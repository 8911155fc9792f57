/** The kind of authentication that a registry's 401 response requests. */
export type Challenge =
  | { scheme: "basic" }
  | { scheme: "bearer"; realm: string; service: string | null; scope: string | null };

/** Parses a WWW-Authenticate header. Returns null if it requests an unsupported scheme. */
export function parseChallenge(header: string | undefined): Challenge | null {
  if (header === undefined || header.length > 4096) return null;
  const [, scheme = "", rest = ""] = /^\s*([A-Za-z]+)\s*(.*)$/s.exec(header) ?? [];
  if (scheme.toLowerCase() === "basic") return { scheme: "basic" };
  if (scheme.toLowerCase() !== "bearer") return null;
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain] of rest.matchAll(/([A-Za-z_]+)=(?:"([^"]*)"|([^\s,]+))/g)) {
    parameters.set(name.toLowerCase(), quoted ?? plain ?? "");
  }
  const realm = parameters.get("realm");
  if (realm === undefined) return null;
  return {
    scheme: "bearer",
    realm,
    service: parameters.get("service") ?? null,
    scope: parameters.get("scope") ?? null,
  };
}
