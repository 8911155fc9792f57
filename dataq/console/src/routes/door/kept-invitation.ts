/** Where an invitation's token waits while its person signs in or up; gone with the tab. */
const KEPT = "dataq_join";

export function keepInvitation(token: string): void {
  sessionStorage.setItem(KEPT, token);
}

/** Empty where none waits. */
export function keptInvitation(): string {
  return sessionStorage.getItem(KEPT) ?? "";
}

export function dropInvitation(): void {
  sessionStorage.removeItem(KEPT);
}
