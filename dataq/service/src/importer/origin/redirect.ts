import { isIP } from "node:net";
import { guardedLookup, isPrivateAddress } from "../../network/private-address.ts";
import { ImportError } from "../import-error.ts";

/**
 * Throws if a server on the internet redirects a download to plain HTTP, or into a network that only this machine can
 * reach. An operator who names a private address themselves may be redirected within that network.
 */
export function assertSafeRedirect(from: URL, to: URL, fromAddress: string): void {
  const file = from.pathname.split("/").pop() || "the file";
  if (from.protocol === "https:" && to.protocol !== "https:")
    throw new ImportError("unsafe_redirect", { file, address: to.origin });
  const host = to.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && isPrivateAddress(host) && !isPrivateAddress(fromAddress))
    throw new ImportError("unsafe_redirect", { file, address: to.origin });
}

/** Resolves the name in a redirect from the internet, because a name may point to a private address. */
export const publicLookup = guardedLookup(
  (address) => !isPrivateAddress(address),
  (hostname) => new ImportError("unsafe_redirect", { file: "The file", address: hostname }),
);
