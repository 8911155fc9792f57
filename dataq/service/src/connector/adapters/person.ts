/** Chinese names are written without a space, family name first. */
export function nameOf(given: string | null | undefined, family: string | null | undefined): string {
  const whole = `${family ?? ""}${given ?? ""}`;
  return /^\p{Script=Han}+$/u.test(whole) ? whole : [given, family].filter(Boolean).join(" ");
}

/** Hides the middle of mobile numbers in a text. */
export function withoutPhones(text: string): string {
  return text.replace(/(?<!\d)(1[3-9]\d)\d{4}(\d{4})(?!\d)/g, "$1****$2");
}
