/** Whether Chinese stands before English in Accept-Language. Browsers list languages in the order of preference. */
export function prefersChinese(header: string | undefined): boolean {
  return /\b(zh|en)\b/i.exec(header ?? "")?.[1]?.toLowerCase() === "zh";
}
