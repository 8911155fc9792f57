/** Apart from `auth.ts`, which brings better-auth with it. */
export const AUTH_PATH = "/console/auth";
/** better-auth is told of one address only; the real origin is checked before it hears of a request. */
export const INNER_ORIGIN = "http://console.invalid";
/** Carries the caller's address; a value from outside never reaches it. */
export const ADDRESS_HEADER = "x-dataq-address";
