/** The path of better-auth. It is not in `auth.ts`, because that file loads better-auth. */
export const AUTH_PATH = "/console/auth";
/** better-auth sees only this origin. The real one was checked before. */
export const INNER_ORIGIN = "http://console.invalid";
/** Carries the address of the caller. A value from outside is overwritten. */
export const ADDRESS_HEADER = "x-dataq-address";
/** Where people come back to from the provider of single sign-on. */
export const SSO_PATH = "/console/sso";
