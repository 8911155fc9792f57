import { LocallmError } from "../wire/errors.ts";
import { readCertificates } from "./certificates.ts";
import type { NetworkSettings } from "./network.ts";

/** The user's settings for downloads and uploads. */
export interface SourceSettings {
  readonly proxy: NonNullable<NetworkSettings["proxy"]>;
  readonly registries: readonly string[] | null;
  readonly caFile: string | null;
}

/** Settings for requests to registries and other sources. Throws `invalid_setting` if the certificates are unreadable. */
export async function networkSettings(config: SourceSettings): Promise<NetworkSettings> {
  const settings = { proxy: config.proxy, namedHosts: config.registries ?? [] };
  if (config.caFile === null) return settings;
  try {
    return { ...settings, certificates: await readCertificates(config.caFile) };
  } catch (cause) {
    const problem = `${(cause as NodeJS.ErrnoException).code ?? "the file contains no PEM certificate"}`;
    throw new LocallmError(
      "invalid_setting",
      { variable: "LOCALLM_CA_FILE", value: JSON.stringify(config.caFile), problem },
      { cause },
    );
  }
}
