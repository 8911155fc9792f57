/** Keeps an invitation's token in this tab while the user signs in or up. */
const KEPT = "dataq_join";

export function keepInvitation(token: string): void {
  sessionStorage.setItem(KEPT, token);
}

/** The stored token; empty if there is none. */
export function keptInvitation(): string {
  return sessionStorage.getItem(KEPT) ?? "";
}

export function dropInvitation(): void {
  sessionStorage.removeItem(KEPT);
}
