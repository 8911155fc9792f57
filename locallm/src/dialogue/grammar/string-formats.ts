const year = "[0-9]{4}";
/** Days that every month has, so that no date is invented that does not exist. */
const date = `${year} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | "1" [0-9] | "2" [0-8])`;
const time = `([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})?`;
const zone = `("Z" | [-+] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])`;
const hex = "[0-9a-f]";
const byte = `("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9] [0-9] | [0-9])`;
const label = "[a-z0-9]{1,12}";

/** `format` of strings as grammar bodies: never more than the format allows, and not all that it allows. */
export const stringFormats: Readonly<Record<string, string>> = {
  date,
  time: `${time} ${zone}`,
  "date-time": `${date} "T" ${time} ${zone}`,
  uuid: `${hex}{8} "-" ${hex}{4} "-" [1-5] ${hex}{3} "-" [89ab] ${hex}{3} "-" ${hex}{12}`,
  ipv4: `${byte} "." ${byte} "." ${byte} "." ${byte}`,
  hostname: `${label} ("." ${label}){0,3} "." [a-z]{2,6}`,
  email: `[a-z0-9]{1,20} ("." [a-z0-9]{1,12})? "@" ${label} ("." ${label}){0,2} "." [a-z]{2,6}`,
  uri: `"http" "s"? "://" ${label} ("." ${label}){0,2} "." [a-z]{2,6} ("/" [a-z0-9_-]{1,16}){0,4}`,
};
