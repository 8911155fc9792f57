/** A question about papers in everyday English, and the papers that answer it. */
export interface PaperQuestion {
  readonly query: string;
  /** arXiv numbers. */
  readonly right: readonly string[];
}

/** Written from titles and abstracts, before anything was measured. The last five use the words of the papers. */
export const questions: readonly PaperQuestion[] = [
  ["how can an attacker inject fake users so that a shop suggests his product", "1809.04127"],
  ["suggesting clothes that go together", "1908.09103"],
  ["which bus or train should I take given my budget and the length of my trip", "1910.12601"],
  ["guess the right dress size so that fewer parcels are sent back", "1908.09980"],
  ["videos whose title promises something else than they show", "1907.07604"],
  ["find the moment in a film that a sentence describes", "1912.03590"],
  ["matching unemployed people with vacancies", "1907.12378"],
  ["reading a record from a database without its owner learning which one", "1606.08828"],
  ["train a model on phones without sending the data to a server", "1802.07876"],
  ["summaries that invent things that the text does not say", "1711.04434"],
  ["measure how much a paper broke with what was known before", "1905.03461"],
  ["does hard-to-read English get fewer citations", "1907.11843"],
  ["paid posters who answer questions in forums to advertise", "1208.1448"],
  ["finding tables in research articles", "1707.03423"],
  ["place names in texts of several languages", "1511.01974"],
  ["poetry of medieval China and the colours in it", "1511.01559"],
  ["how school children work through maths exercises on the web", "1909.04749"],
  ["fair scores for shops when some buyers cheat", "1411.4972", "1509.00594"],
  ["who is a specialist on a subject", "1803.03370"],
  ["songs that the listener may not like yet but that teach the system his taste", "1311.6355"],
  ["faster topic discovery on graphics cards", "1610.02496"],
  ["training topic models with less RAM", "1206.1147"],
  ["pulling facts out of hospital notes without labelling by hand", "1804.07813"],
  ["unexpected combinations lead to discoveries", "1910.09370"],
  ["what managers wrote about over a century in a magazine", "1210.5581"],
  ["will a visitor press on the ad", "1905.06336", "1904.12578"],
  ["people who give up one search site for another", "1303.2156"],
  ["guessing whether people like or dislike each other on social networks", "1712.00732"],
  ["choose varied items instead of ten alike", "1709.05135"],
  ["drugs, genes and diseases linked as open data", "1012.4759"],
  ["buy the right thing at the right time", "1903.00066"],
  ["using pictures of products and their beauty to suggest goods", "1905.02008"],
  ["tagging photos the way their owner would", "1601.06440"],
  ["what news is a hashtag about", "1505.00861"],
  ["articles about a subject drawn as a map to review the literature", "1906.04800"],
  ["writing short advice for a customer in his own manner", "1903.02156"],
  ["latent dirichlet allocation survey", "1711.04305"],
  ["bipartite graph partitioning", "cs/0108018"],
  ["determinantal point process", "1709.05135"],
  ["query routing broker", "cs/9902018"],
  ["symmetric private information retrieval capacity", "1606.08828"],
].map(([query, ...right]) => ({ query: query as string, right }));
