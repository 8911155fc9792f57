/** These parameters find the sample laws, because this service does not download real ones. */
export const withoutLaws: Readonly<Record<string, object>> = {
  legal_laws: { query: "样例数据条例" },
  legal_citation_check: { text: "《样例合同条例》第九条、样例数据条例第二条" },
};
