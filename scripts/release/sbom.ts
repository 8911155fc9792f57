import { fittingParts, type Lock } from "./parts.ts";
import type { Platform } from "./platforms.ts";
import type { Product } from "./products.ts";

/** What is in an archive, as CycloneDX 1.6: every package with its version, its licence and the digest of its tarball. */
export function sbomOf(
  product: Product,
  platform: Platform,
  lock: Lock,
  version: string,
  time: Date,
): string {
  const { own, others } = fittingParts(lock, product, platform);
  const node = { ...platform.node, license: "MIT" };
  const components = [node, ...others].map(({ name, version: of, license, integrity }) => ({
    type: "library",
    "bom-ref": purl(name, of),
    name,
    version: of,
    purl: purl(name, of),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(integrity !== undefined && { hashes: [digestOf(integrity)] }),
  }));
  const inside = own
    .filter(({ from }) => from !== product.folder)
    .map(({ name, version: of }) => ({ type: "library", "bom-ref": purl(name, of), name, version: of }));
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: time.toISOString(),
      component: {
        type: "application",
        "bom-ref": product.name,
        name: product.name,
        version,
        description: product.description,
        licenses: [{ license: { id: "MIT" } }],
      },
    },
    components: [...inside, ...components],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** https://github.com/package-url/purl-spec: the @ of a scope is escaped. */
function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** npm writes `sha512-` and base64, CycloneDX hexadecimal digits. */
function digestOf(integrity: string): { alg: string; content: string } {
  const [algorithm = "", digest = ""] = integrity.split("-");
  return {
    alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
    content: Buffer.from(digest, "base64").toString("hex"),
  };
}
