/**
 * Radicals that look like characters. Fonts draw both with one shape, and a PDF file may then name the radical: copied
 * from it, ⺠法典 is not 民法典 to a computer. NFKC replaces those of the Kangxi block, but not these of the Radicals
 * Supplement.
 */
const pairs =
  "⺁厂 ⺌小 ⺎兀 ⺏尣 ⺐尢 ⺒巳 ⺓幺 ⺛旡 ⺜日 ⺝月 ⺞歺 ⺟母 ⺠民 ⺢氺 ⺤爫 ⺥爫 ⺦丬 ⺧牛 ⺩王 ⺫目 ⺬示 ⺮竹 ⺰纟 ⺲罒 ⺶羊 ⺸羊 ⺹耂 ⺻聿 ⺼月 ⻁虎 ⻂衤 ⻄西 ⻅见 ⻆角 ⻈讠 ⻉贝 ⻊足 ⻋车 ⻌辶 ⻍辶 ⻎辶 ⻐钅 ⻑長 ⻓长 ⻔门 ⻗雨 ⻘青 ⻙韦 ⻚页 ⻛风 ⻜飞 ⻝食 ⻢马 ⻣骨 ⻤鬼 ⻥鱼 ⻦鸟 ⻧卤 ⻨麦 ⻩黄 ⻪黾 ⻫斉 ⻬齐 ⻮齿 ⻯竜 ⻰龙 ⻳龟";
const characters = new Map(pairs.split(" ").map((pair) => [pair[0] as string, pair[1] as string] as const));

/** The text with the characters that its radicals look like. Every place in it stays where it was. */
export function withoutRadicals(text: string): string {
  return text.replaceAll(/[\u2e80-\u2fdf]/g, (sign) => characters.get(sign) ?? sign.normalize("NFKC"));
}
