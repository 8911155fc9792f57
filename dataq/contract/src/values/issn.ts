/** Returns an ISSN as NNNN-NNNC; undefined for a text that is not an ISSN or has a wrong check character. */
export function readIssn(text: string): string | undefined {
  const found = /^(?:E?-?ISSN\s*[:.]?\s*)?(\d{4})\s?[-–]?\s?(\d{3}[\dX])$/.exec(
    text.normalize("NFKC").trim().toUpperCase(),
  );
  if (found === null) return undefined;
  const value = `${found[1]}${found[2]}`;
  return issnCheck(value.slice(0, 7)) === value[7] ? `${found[1]}-${found[2]}` : undefined;
}

/** Whether a text looks like an ISSN, valid or not. */
export function looksLikeIssn(text: string): boolean {
  return /^(?:E?-?ISSN\s*[:.]?\s*)?\d{4}\s?[-–]?\s?\d{3}[\dXx]$/i.test(text.normalize("NFKC").trim());
}

/** The eighth character of an ISSN from its first seven digits. */
export function issnCheck(first7: string): string {
  const sum = [...first7].reduce((total, digit, place) => total + Number(digit) * (8 - place), 0);
  const check = (11 - (sum % 11)) % 11;
  return check === 10 ? "X" : String(check);
}
