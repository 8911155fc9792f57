const day = {
  long: "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])",
  short: "(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)",
  february: "02-(?:0[1-9]|1\\d|2[0-8])",
};
const leapYear = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const date = `(?:\\d{4}-(?:${day.long}|${day.short}|${day.february})|${leapYear}-02-29)`;
const time = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?";
const zone = "(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const group = "[0-9a-f]{1,4}";
const ipv4 = `${byte}(?:\\.${byte}){3}`;
const label = "[a-z0-9]{1,12}(?:-[a-z0-9]{1,12})?";
const domain = `(?:${label}\\.){1,3}[a-z]{2,10}`;
const segment = "[A-Za-z0-9_.~-]+";
const uri = `https?://${domain}(?::[1-9]\\d{1,3})?(?:/${segment})*/?(?:\\?[A-Za-z0-9_=&-]+)?(?:#[A-Za-z0-9_-]+)?`;
const pointer = "(?:/(?:[A-Za-z0-9_-]|~[01])*)*";
const email = `[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@${domain}`;
const ipv6 = [
  `(?:${group}:){7}${group}`,
  ...[1, 2, 3, 4, 5, 6].map(
    (before) => `${group}(?::${group}){${before - 1}}:(?::${group}){1,${7 - before}}`,
  ),
  `:(?::${group}){1,7}`,
  "::",
].join("|");
const base64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?";

/** Formats of strings as regular expressions. They never allow more than the format; unusual forms are left out. */
export const stringFormats: Readonly<Record<string, string>> = {
  date,
  time: `${time}${zone}`,
  "date-time": `${date}T${time}${zone}`,
  duration:
    "P(?:\\d{1,4}D(?:T\\d{1,4}H)?|T\\d{1,4}H(?:\\d{1,4}M)?|T\\d{1,4}M(?:\\d{1,4}S)?|T\\d{1,4}S|\\d{1,4}[WMY])",
  uuid: "[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
  ipv4,
  ipv6,
  hostname: domain,
  "idn-hostname": domain,
  email,
  "idn-email": email,
  uri,
  url: uri,
  iri: uri,
  "uri-reference": `(?:${uri}|(?:/${segment})+)`,
  "iri-reference": `(?:${uri}|(?:/${segment})+)`,
  "uri-template": `${uri}(?:/\\{[a-z]{1,20}\\})?`,
  "json-pointer": pointer,
  "relative-json-pointer": `(?:0|[1-9]\\d?)(?:#|${pointer})`,
  byte: base64,
  base64,
  base64url: "[A-Za-z0-9_-]*",
};

/** Formats that describe a string or number without restricting it. */
export const describingFormats: ReadonlySet<string> = new Set(
  "binary password path file-path directory-path int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double decimal".split(
    " ",
  ),
);
