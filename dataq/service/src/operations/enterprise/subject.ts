/** Guesses from the form of a name whether it belongs to a company or a person. */
export function subjectTypeOf(name: string): "company" | "person" {
  return /(?:公司|集团|厂|店|行|社|中心|院|所|会|部|局|学校|企业|合伙\)?)$/.test(name) || [...name].length > 4
    ? "company"
    : "person";
}
