import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

/** The PEM certificates in a file, each one parsed. Throws an Error if the file is unreadable or invalid. */
export async function readCertificates(path: string): Promise<string[]> {
  const text = await readFile(path, "latin1");
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new Error("no certificate");
  for (const certificate of found) new X509Certificate(certificate);
  return found;
}
