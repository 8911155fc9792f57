import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A pack of laws of our own making and its catalogue, which the official list knows better. */
export async function writePack(
  folder: string,
): Promise<{ readonly laws: string; readonly catalogue: string }> {
  const path = join(folder, "own-pack.jsonl");
  const law = (title: string, day: string, event: string, extra = {}) => ({
    category: "经济法",
    title,
    name: title,
    version_date: day,
    revision_history: [event],
    text: "第一条 为了试验，制定本法。\n\n第二条 本法所称货物，是指试验用的货物。\n\n第三条 货物应当保存完好。",
    ...extra,
  });
  const rows = [
    law(
      "中华人民共和国样品法",
      "2010-05-01",
      "2010年5月1日 第十一届全国人民代表大会常务委员会第十四次会议通过",
    ),
    law(
      "中华人民共和国样品法",
      "2020-08-01",
      "2020年8月1日 第十三届全国人民代表大会常务委员会第二十一次会议修订",
    ),
    law(
      "中华人民共和国旧货法",
      "2001-03-01",
      "2001年3月1日 第九届全国人民代表大会常务委员会第二十次会议通过",
    ),
    law(
      "中华人民共和国新货法",
      "2026-03-01",
      "2026年3月1日 第十四届全国人民代表大会常务委员会第三十次会议通过",
    ),
    law(
      "中华人民共和国未列法",
      "2005-03-01",
      "2005年3月1日 第十届全国人民代表大会常务委员会第二十次会议通过",
    ),
  ];
  await writeFile(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  const catalogue = join(folder, "own-catalogue.jsonl");
  const told = (id: string, name: string, day: string, status: string) => ({
    law_id: id,
    law_name: name,
    version_date: day,
    status,
  });
  const states = [
    told("c1", "中华人民共和国旧货法", "2001-03-01", "现行有效"),
    told("c2", "中华人民共和国样品法", "2020-08-01", "现行有效"),
  ];
  await writeFile(catalogue, states.map((row) => JSON.stringify(row)).join("\n"));
  return { laws: path, catalogue };
}
