import type { OpenSession, StartedSso } from "@dataq/contract/wire";
import { call } from "./call.ts";

/** Sign-up, sign-in, passwords and two-factor authentication. */
const AUTH = "/console/auth";
const post = <Answer>(path: string, body: unknown = {}) =>
  call<Answer>(`${AUTH}${path}`, { method: "POST", body });

export interface SignInAnswer {
  /** True when the user must still enter a two-factor code. */
  readonly twoFactorRedirect?: boolean;
}

export const signIn = (email: string, password: string) =>
  post<SignInAnswer>("/sign-in/email", { email, password, rememberMe: true });
/** The address at the provider of single sign-on. */
export const startSso = (next: string) =>
  call<StartedSso>("/console/api/sso", { method: "POST", body: { next } });
export const signUp = (name: string, email: string, password: string) =>
  post("/sign-up/email", { name, email, password, callbackURL: "/console/verify" });
export const signOut = () => post("/sign-out");
export const enterByLink = (token: string) => post("/local-link/enter", { token });

export const askReset = (email: string) =>
  post("/request-password-reset", { email, redirectTo: "/console/reset" });
export const resetPassword = (token: string, newPassword: string) =>
  post("/reset-password", { token, newPassword });
export const askVerification = (email: string) =>
  post("/send-verification-email", { email, callbackURL: "/console/verify" });
export const verifyEmail = (token: string) => call(`${AUTH}/verify-email?${new URLSearchParams({ token })}`);

export const acceptTerms = (version: string) =>
  call("/console/api/terms", { method: "POST", body: { version } });

export const changeName = (name: string) => post("/update-user", { name });
export const changePassword = (currentPassword: string, newPassword: string) =>
  post("/change-password", { currentPassword, newPassword, revokeOtherSessions: true });

export interface TwoFactorStart {
  readonly totpURI: string;
  readonly backupCodes: readonly string[];
}
export const startTwoFactor = (password: string) => post<TwoFactorStart>("/two-factor/enable", { password });
export const stopTwoFactor = (password: string) => post("/two-factor/disable", { password });
export const proveCode = (code: string) => post("/two-factor/verify-totp", { code });
export const proveBackupCode = (code: string) => post("/two-factor/verify-backup-code", { code });

export const listSessions = () => call<{ data: readonly OpenSession[] }>("/console/api/sessions");
export const endSession = (id: string) =>
  call(`/console/api/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
export const endOtherSessions = () => post("/revoke-other-sessions");
