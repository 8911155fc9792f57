/** The secret of the service whose backup is a fixture. */
export const secret = "the secret of an old service";

/** Who signed up there. */
export const person = { name: "Zhao", email: "zhao@example.com", password: "correct horse battery" };

/** What it had imported. */
export const laws = ["第一条", "第二条"].map((article, at) => ({
  law_id: "1",
  law_name: "档案保管条例",
  article_no: article,
  article_no_arabic: at + 1,
  article_text: ["为了保管档案，制定本条例。", "档案应当保管在干燥、通风的地方。"][at],
}));
