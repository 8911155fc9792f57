/** What the codes of failed connections mean. People who know the code find it behind the words. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ETIMEDOUT: "there was no answer in time",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "the name could not be looked up",
  EHOSTUNREACH: "there is no way to this host",
  ENETUNREACH: "there is no way to its network",
  EHOSTDOWN: "the host is down",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** Why a connection failed, in words where its code has some. */
export function networkReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  return code in words ? `${words[code]} (${code})` : code;
}
