/** A patent number in normal form: application 200310102344.5, publication CN1234567A. */
export type PatentNumber =
  | { readonly application: string }
  | { readonly publication: string }
  | { readonly wrongCheck: string };

/** Reads a whole text as a patent number; undefined for anything else. */
export function readPatentNumber(text: string): PatentNumber | undefined {
  const form = text.normalize("NFKC").replace(/\s/g, "").toUpperCase();
  const application = /^(?:ZL|CN)?(\d{12})\.?([\dX])$/.exec(form);
  if (application !== null) {
    const [, digits, check] = application as unknown as [string, string, string];
    const expected = patentCheck(digits);
    return check === expected ? { application: `${digits}.${check}` } : { wrongCheck: expected };
  }
  const publication = /^(CN\d{7,9}[A-Z]\d?)$/.exec(form);
  return publication === null ? undefined : { publication: publication[1] as string };
}

/** Check character of a Chinese application number from its 12 digits. */
export function patentCheck(digits: string): string {
  const weights = [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5];
  const check = weights.reduce((sum, weight, place) => sum + weight * Number(digits[place]), 0) % 11;
  return check === 10 ? "X" : String(check);
}
