import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Stand-ins for public sources and vendors. Their answers were written for these tests, after the publishers' documents:
 * fields, paging, errors and limits are theirs, the contents are not.
 */
export interface PublicSources {
  readonly base: string;
  /** Requests in the order in which they came. */
  readonly requests: Asked[];
  /** What happens to the requests from now on. */
  behave(how: Behaviour): void;
  close(): void;
}

export interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly atMs: number;
}

/**
 * `limited`: 429. `slow`: no answer. `cut`: the connection ends in the answer. `changed`: a field has another type.
 * `refused`: 401. `broken`: 500. `poor`: 402.
 */
export type Behaviour = "well" | "limited" | "slow" | "cut" | "changed" | "refused" | "broken" | "poor";

export async function startPublicSources(): Promise<PublicSources> {
  const requests: Asked[] = [];
  let behaviour: Behaviour = "well";
  const registered = new Set<string>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://source");
      const asked: Asked = {
        path: decodeURIComponent(url.pathname),
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body,
        atMs: performance.now(),
      };
      requests.push(asked);
      if (behaviour === "slow") return;
      if (behaviour === "limited")
        return void response
          .writeHead(429, { "retry-after": "7", "content-type": "application/json" })
          .end("{}");
      if (behaviour === "refused") return void response.writeHead(401).end('{"error":"Invalid API key"}');
      if (behaviour === "poor") return void response.writeHead(402).end("{}");
      if (behaviour === "broken")
        return void response.writeHead(500).end("<html>Internal Server Error</html>");
      const answer = answerTo(asked, registered);
      const text = behaviour === "changed" ? changed(answer.text) : answer.text;
      response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
      if (behaviour !== "cut") return void response.end(text);
      response.write(text.slice(0, text.length / 2));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    behave(how) {
      behaviour = how;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The first names become numbers, and the lists that are read become texts. */
function changed(text: string): string {
  return text
    .replace(/"(results|result|items|data|accepted|group|expanded-result)":\s*[[{]/, '"$1":7,"was":[')
    .replace("<feed", "<list");
}

function answerTo(asked: Asked, registered: Set<string>): Answer {
  const found = routes.find(([prefix]) => asked.path.startsWith(prefix));
  if (found === undefined) return { status: 404, text: '{"error":"no such route"}' };
  const answer = found[1](asked, registered);
  return "text" in answer && typeof answer["text"] === "string"
    ? (answer as unknown as Answer)
    : { text: JSON.stringify(answer) };
}

type Route = (asked: Asked, registered: Set<string>) => object;

const routes: readonly (readonly [string, Route])[] = [
  ["/openalex/works", works],
  ["/openalex/authors", authors],
  ["/openalex/sources", journals],
  ["/crossref/works", crossref],
  ["/arxiv/query", arxiv],
  ["/doaj/search/journals/", doaj],
  ["/orcid/expanded-search", orcidSearch],
  ["/orcid/", orcidWorks],
  ["/gleif/lei-records", gleif],
  ["/epo/auth/accesstoken", epoToken],
  ["/epo/rest-services/published-data/search/biblio", epoSearch],
  ["/lens/patent/search", lens],
  ["/17track/register", register],
  ["/17track/gettrackinfo", trackInfo],
  ["/tianyancha/services/open/ic/baseinfo/normal", tianyanchaCompany],
  ["/tianyancha/services/open/jr/dishonest/2.0", tianyanchaDebtors],
  ["/qichacha/ECIV4/GetBasicDetailsByName", qichachaCompany],
  ["/qichacha/ShixinCheck/GetList", qichachaDebtors],
  ["/17track/getquota", quota],
  ["/tianyancha/services/open/jr/zhixinginfo/2.0", tianyanchaEnforced],
  ["/tianyancha/services/open/ic/annualreport/2.0", tianyanchaReports],
  ["/qichacha/ZhixingCheck/GetList", qichachaEnforced],
  ["/qichacha/AR/GetAnnualReport", qichachaReports],
  ["/juhe/enterprise/App/ReportListByName/query.php", juheReports],
  ["/aliyun-market/kdwlcx", marketParcel],
  ["/netocr/verapi/v2/verInvoice.do", netocrInvoice],
];

const worksHeld = 57;

function works({ query }: Asked): object {
  const size = Number(query["per-page"]);
  const page = Number(query["page"] ?? 1);
  const filter = query["filter"] ?? "";
  const total = filter.startsWith("doi:") ? 1 : worksHeld;
  const from = (page - 1) * size;
  const count = Math.max(0, Math.min(size, total - from));
  return {
    meta: { count: total, page, per_page: size },
    results: Array.from({ length: count }, (_, n) => workAt(from + n, filter)),
  };
}

function workAt(n: number, filter: string): object {
  const authorIds = /^author\.id:(.*)$/.exec(filter)?.[1]?.split("|") ?? ["A5000000001"];
  return {
    id: `https://openalex.org/W${4_000_000_000 + n}`,
    doi: n % 3 === 0 ? null : `https://doi.org/10.1000/standin.${n}`,
    display_name: `面向小样本的神经网络训练方法（${n}）`,
    publication_date: "2023-05-17",
    publication_year: 2023,
    language: "zh",
    type: "article",
    is_retracted: false,
    cited_by_count: 100 - n,
    referenced_works_count: 31,
    open_access: { is_oa: true, oa_url: "https://journal.example/pdf" },
    primary_location: { source: { display_name: "计算机研究与发展", issn_l: "1000-1239" } },
    biblio: { volume: "60", issue: "5", first_page: "1021", last_page: "1033" },
    authorships: [
      {
        author: {
          id: `https://openalex.org/${authorIds[n % authorIds.length]}`,
          display_name: "陈明",
          orcid: "https://orcid.org/0000-0002-1825-0097",
        },
        institutions: [{ display_name: "浙江大学" }],
        is_corresponding: true,
      },
    ],
    keywords: [{ display_name: "神经网络" }],
    abstract_inverted_index: { 本文: [0], 提出: [1], 一种: [2], 方法: [3], 夸大: [9_999_999] },
    indexed_in: ["crossref"],
  };
}

function authors({ query }: Asked): object {
  const size = Number(query["per-page"]);
  return {
    meta: { count: 2 },
    results: ["A5000000001", "A5000000002"].slice(0, size).map((id) => ({
      id: `https://openalex.org/${id}`,
      display_name: query["search"],
      orcid: id === "A5000000001" ? "https://orcid.org/0000-0002-1825-0097" : null,
      works_count: 42,
      cited_by_count: 900,
      summary_stats: { h_index: 15 },
      affiliations: [
        { institution: { id: "https://openalex.org/I1", display_name: "浙江大学" }, years: [2024] },
        { institution: { id: "https://openalex.org/I2", display_name: "清华大学" }, years: [2012] },
      ],
      last_known_institutions: [{ id: "https://openalex.org/I1", display_name: "浙江大学" }],
      topics: [{ display_name: "Machine learning" }],
    })),
  };
}

function journals({ query }: Asked): object {
  return {
    meta: { count: 1 },
    results: [
      {
        id: "https://openalex.org/S137773608",
        display_name: query["search"] ?? "计算机学报",
        issn_l: "0254-4164",
        issn: ["0254-4164", "2096-0000"],
        host_organization_name: "科学出版社",
        works_count: 4_210,
        cited_by_count: 60_000,
        summary_stats: { "2yr_mean_citedness": 2.41237 },
        is_oa: false,
        is_in_doaj: false,
        homepage_url: "http://cjc.example",
        topics: [],
      },
    ],
  };
}

function crossref({ path, query }: Asked): object {
  const limit = { "x-rate-limit-limit": "50", "x-rate-limit-interval": "1s" };
  const doi = path.slice("/crossref/works/".length);
  if (doi === "10.1000/none") return { status: 404, headers: limit, text: "Resource not found." };
  const item = {
    DOI: doi || /doi:([^,]+)/.exec(query["filter"] ?? "")?.[1] || "10.1000/XYZ.1",
    title: ["On <i>deep</i> learning &amp; law"],
    author: [
      { given: "明", family: "陈", sequence: "first", affiliation: [{ name: "Zhejiang University" }] },
    ],
    "container-title": ["Journal of Stand-ins"],
    ISSN: ["1234-5679"],
    volume: "3",
    page: "1-9",
    published: { "date-parts": [[2022, 7]] },
    abstract: "<jats:p>We show that …</jats:p>",
    "is-referenced-by-count": 4,
    "references-count": 20,
    type: "journal-article",
    language: "en",
    "updated-by": [{ type: "retraction" }],
    URL: "https://doi.org/10.1000/xyz.1",
  };
  const message =
    doi === "" ? { "total-results": 1, items: Number(query["offset"]) === 0 ? [item] : [] } : item;
  return { headers: limit, text: JSON.stringify({ status: "ok", message }) };
}

function arxiv({ query }: Asked): object {
  const start = Number(query["start"]);
  const entry = (n: number) => `<entry>
    <id>http://arxiv.org/abs/2301.0000${n}v2</id>
    <published>2023-01-0${n}T12:00:00Z</published>
    <title>Courts &amp; code
      part ${n}</title>
    <summary>A &lt;formal&gt; model.</summary>
    <author><name>Ming Chen</name></author>
    <category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/>
  </entry>`;
  const entries = start === 0 ? [1, 2].map(entry).join("\n") : "";
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <opensearch:totalResults>2</opensearch:totalResults>
  ${entries}
</feed>
`;
  return { headers: { "content-type": "application/atom+xml" }, text };
}

function doaj({ query }: Asked): object {
  return {
    total: 1,
    page: Number(query["page"]),
    pageSize: Number(query["pageSize"]),
    results: [
      {
        id: "f9f57a6d5f1a4b8f9c1d",
        bibjson: {
          title: "中国科学数据",
          alternative_title: "China Scientific Data",
          eissn: "2096-2223",
          publisher: { name: "中国科学院计算机网络信息中心", country: "CN" },
          language: ["ZH", "EN"],
          subject: [{ term: "Science" }],
          ref: { journal: "http://csdata.example" },
        },
      },
    ],
  };
}

function orcidSearch({ query }: Asked): object {
  const people = [
    {
      "orcid-id": "0000-0002-1825-0097",
      "given-names": "明",
      "family-names": "陈",
      "institution-name": ["浙江大学"],
    },
    {
      "orcid-id": "0000-0001-5109-3700",
      "given-names": "Ming",
      "family-names": "Chen",
      "institution-name": [],
    },
  ];
  const from = Number(query["start"]);
  return { "expanded-result": people.slice(from, from + Number(query["rows"])), "num-found": people.length };
}

function orcidWorks({ path }: Asked): object {
  if (path.includes("3700")) return { status: 409, text: '{"error-code":9018}' };
  const one = (n: number) => ({
    "work-summary": [
      {
        "put-code": n,
        title: { title: { value: `Work ${n}` } },
        "publication-date": { year: { value: "2020" } },
        "journal-title": { value: "Journal" },
      },
    ],
  });
  return { group: [1, 2, 3, 4, 5, 6, 7].map(one) };
}

function lens({ headers, body }: Asked): object {
  if (headers.authorization !== "Bearer lens-token-1")
    return { status: 401, text: '{"message":"Unauthorized"}' };
  const { from, size } = JSON.parse(body) as { from: number; size: number };
  const all = ["A", "B", "U", "S"].map((kind, n) => ({
    lens_id: `186-488-232-022-0${50 + n}`,
    jurisdiction: "CN",
    doc_number: String(108_123_456 + n),
    kind,
    date_published: "2018-06-05",
    biblio: {
      application_reference: {
        jurisdiction: "CN",
        doc_number: "201810012345",
        kind: "A",
        date: "2018-01-05",
      },
      invention_title: [
        { text: "Battery", lang: "EN" },
        { text: "电池", lang: "ZH" },
      ],
      parties: {
        applicants: [{ residence: "CN", sequence: 1, extracted_name: { value: "某电池有限公司" } }],
        inventors: [
          { sequence: 1, extracted_name: { value: "CHEN MING" } },
          { sequence: 2, extracted_name: null },
        ],
      },
      classifications_ipcr: { classifications: [{ symbol: "H01M10/0525" }] },
      priority_claims: {
        claims: [{ jurisdiction: "CN", doc_number: "201710000001", kind: "A", sequence: 1 }],
      },
      cited_by: { patent_count: 3 },
    },
    ...(kind === "A" && { abstract: [{ text: "A battery.", lang: "EN" }] }),
    legal_status: { patent_status: ["PENDING", "ACTIVE", "DISCONTINUED", "EXPIRED"][n], granted: n > 0 },
  }));
  return { total: all.length, max_score: 1, data: all.slice(from, from + size), results: all.length };
}

function gleif({ query }: Asked): object {
  const code = query["filter[entity.registeredAs]"];
  if (code !== "91330106MA0000007Q") return { meta: { pagination: { total: 0 } }, data: [] };
  return {
    meta: { pagination: { total: 1 } },
    data: [
      {
        type: "lei-records",
        id: "3003005G9ZTPRRN1YZ44",
        attributes: {
          lei: "3003005G9ZTPRRN1YZ44",
          entity: {
            legalName: { name: "杭州某某科技有限公司", language: "zh" },
            transliteratedOtherNames: [{ name: "Hangzhou Moumou Technology Co., Ltd." }],
            legalAddress: {
              addressLines: ["文三路 1 号", "3 层"],
              city: "杭州市",
              region: "CN-ZJ",
              country: "CN",
            },
            registeredAs: code,
            legalForm: { id: "ECAK", other: null },
            status: "ACTIVE",
            creationDate: "2016-03-01T00:00:00Z",
          },
        },
      },
    ],
  };
}

const token = "standin-access-token";

function epoToken({ headers, body }: Asked): object {
  const basic = Buffer.from(String(headers.authorization).slice("Basic ".length), "base64").toString();
  if (basic !== "consumer-1:hidden-1" || body !== "grant_type=client_credentials")
    return { status: 401, text: '{"fault":"invalid_client"}' };
  return { access_token: token, token_type: "Bearer", expires_in: "1199" };
}

function epoSearch({ headers, query }: Asked): object {
  if (headers.authorization !== `Bearer ${token}`) return { status: 401, text: "{}" };
  if (query["q"]?.includes("nothing")) return { status: 404, text: "<fault>CLIENT.NotFound</fault>" };
  if (query["q"]?.includes("quota"))
    return { status: 403, headers: { "x-rejection-reason": "RegisteredQuotaPerWeek" }, text: "<error/>" };
  const id = (type: string, fields: object) => ({ "@document-id-type": type, ...fields });
  const one = (kind: string, title: string | object) => ({
    "exchange-document": {
      "@country": "CN",
      "@doc-number": "108123456",
      "@kind": kind,
      "bibliographic-data": {
        "invention-title": title,
        "publication-reference": {
          "document-id": [
            id("docdb", { country: { $: "CN" }, "doc-number": { $: "108123456" }, date: { $: "20180605" } }),
          ],
        },
        "application-reference": {
          "document-id": id("docdb", {
            country: { $: "CN" },
            "doc-number": { $: "201810012345" },
            date: { $: "20180105" },
          }),
        },
        parties: {
          applicants: {
            applicant: [
              { "@data-format": "epodoc", "applicant-name": { name: { $: "BATTERY CO LTD [CN]" } } },
              { "@data-format": "original", "applicant-name": { name: { $: "某电池有限公司, " } } },
            ],
          },
          inventors: {
            inventor: { "@data-format": "epodoc", "inventor-name": { name: { $: "CHEN MING [CN]" } } },
          },
        },
        "classifications-ipcr": { "classification-ipcr": { text: { $: "H01M  10/ 0525      A I" } } },
      },
      ...(kind === "A" && { abstract: { "@lang": "en", p: { $: "A battery." } } }),
    },
  });
  return {
    "ops:world-patent-data": {
      "ops:biblio-search": {
        "@total-result-count": "2",
        "ops:search-result": {
          "exchange-documents": [
            one("A", { "@lang": "en", $: "Battery" }),
            one("U", [
              { "@lang": "en", $: "Battery holder" },
              { "@lang": "zh", $: "电池支架" },
            ]),
          ],
        },
      },
    },
  };
}

function register({ headers, body }: Asked, registered: Set<string>): object {
  if (headers["17token"] !== "track-token-1") return { status: 401, text: '{"code":-18010002,"data":{}}' };
  const [{ number }] = JSON.parse(body) as [{ number: string }];
  if (registered.has(number))
    return rejection(number, -18019901, `The tracking number '${number}' is already registered.`);
  if (number.startsWith("SF")) return rejection(number, -18010020, "Provide phone number.");
  registered.add(number);
  return { code: 0, data: { accepted: [{ origin: 1, number, carrier: 190157 }], rejected: [] } };
}

function rejection(number: string, code: number, message: string): object {
  return { code: 0, data: { accepted: [], rejected: [{ number, error: { code, message } }] } };
}

/** A number is answered from the second time on, as with the real one. */
function trackInfo({ body }: Asked, registered: Set<string>): object {
  const [{ number }] = JSON.parse(body) as [{ number: string }];
  if (!registered.has(number)) return rejection(number, -18019902, "not registered");
  if (!registered.has(`${number} seen`)) {
    registered.add(`${number} seen`);
    return rejection(number, -18019909, "No tracking information at this time.");
  }
  return {
    code: 0,
    data: {
      accepted: [
        {
          number,
          carrier: 190157,
          track_info: {
            shipping_info: { shipper_address: { country: "CN", city: "杭州" }, recipient_address: null },
            latest_status: { status: "Delivered", sub_status: "Delivered_Other" },
            tracking: {
              providers: [
                {
                  provider: { name: "YTO Express" },
                  events: [
                    {
                      time_iso: "2026-02-01T09:00:00+08:00",
                      description: "已揽收",
                      location: "杭州",
                      sub_status: "InTransit_PickedUp",
                    },
                    {
                      time_iso: "2026-02-03T18:30:00+08:00",
                      description: "已签收，电话13812345678",
                      sub_status: "Delivered_Other",
                    },
                  ],
                },
              ],
            },
          },
        },
      ],
      rejected: [],
    },
  };
}

function tianyanchaCompany({ headers, query }: Asked): object {
  if (headers.authorization !== "tyc-token-1") return { error_code: 300002, reason: "账号失效" };
  if (query["keyword"] === "91440300000000000X") return { error_code: 300006, reason: "余额不足" };
  if (query["keyword"] !== "91330106MA0000007Q")
    return { error_code: 300000, reason: "无数据", result: null };
  return {
    error_code: 0,
    reason: "ok",
    result: {
      creditCode: query["keyword"],
      name: "杭州某某科技有限公司",
      regStatus: "存续（在营、开业、在册）",
      legalPersonName: "陈明",
      regCapital: "1,000万人民币",
      actualCapital: "-",
      estiblishTime: 1_456_761_600_000,
      toTime: null,
      historyNameList: ["杭州旧名有限公司"],
      industry: "软件和信息技术服务业",
      regLocation: "浙江省杭州市西湖区文三路 1 号",
      socialStaffNum: 35,
    },
  };
}

function tianyanchaDebtors({ query }: Asked): object {
  if (query["keyword"] === "干净有限公司") return { error_code: 300000, reason: "无数据" };
  return {
    error_code: 0,
    result: {
      total: 1,
      items: [
        {
          iname: query["keyword"],
          casecode: "（2023）浙0106执1号",
          type: 1,
          courtname: "杭州市西湖区人民法院",
          performance: "全部未履行",
          disrupttypename: "违反财产报告制度,其他规避执行",
          regdate: 1_672_588_800_000,
          publishdate: 1_675_180_800_000,
        },
      ],
    },
  };
}

/** Checks the signature as the vendor does. */
function qichachaCompany({ headers, query }: Asked): object {
  const wanted = createHash("md5")
    .update(`${query["key"]}${headers["timespan"]}qcc-secret-1`)
    .digest("hex")
    .toUpperCase();
  if (query["key"] !== "qcc-key-1" || headers["token"] !== wanted)
    return { Status: "107", Message: "签名错误" };
  if (query["keyword"] !== "91330106MA0000007Q") return { Status: "201", Message: "查询无结果" };
  return {
    Status: "200",
    Message: "查询成功",
    Result: {
      CreditCode: query["keyword"],
      Name: "杭州某某科技有限公司",
      Status: "吊销，未注销",
      OriginalName: [{ Name: "杭州旧名有限公司", ChangeDate: "2019-03-11 12:00:00" }],
      RegistCapi: "1000万元人民币",
      StartDate: "2016-03-01 00:00:00",
      TeamEnd: null,
      OperName: "陈明",
    },
  };
}

function qichachaDebtors({ query }: Asked): object {
  if (query["searchKey"] === "干净有限公司") return { Status: "201", Message: "查询无结果" };
  return {
    Status: "200",
    Paging: { TotalRecords: 1 },
    Result: {
      VerifyResult: 1,
      Data: [
        {
          Name: query["searchKey"],
          Anno: "（2023）浙0106执1号",
          Executegov: "杭州市西湖区人民法院",
          Executestatus: "全部未履行",
          Liandate: "2023-01-02",
          Publicdate: "2023-02-01",
        },
      ],
    },
  };
}

function quota({ headers }: Asked): object {
  if (headers["17token"] !== "track-token-1") return { code: 0, data: { errors: [{ code: -18010002 }] } };
  return { code: 0, data: { quota_total: 100, quota_used: 38, quota_remain: 62 } };
}

function tianyanchaEnforced({ query }: Asked): object {
  if (query["keyword"] === "干净有限公司") return { error_code: 300000, reason: "无数据" };
  const item = {
    pname: query["keyword"],
    caseCode: "（2024）浙0106执2号",
    execCourtName: "杭州市西湖区人民法院",
    caseCreateTime: 1_706_716_800_000,
    execMoney: "65000",
    partyCardNum: "91330106****0007Q",
  };
  return { error_code: 0, result: { total: 1, items: [item] } };
}

/** The years come in no order. */
function tianyanchaReports({ query }: Asked): object {
  const report = (year: string, employees: string) => ({
    releaseTime: `${Number(year) + 1}-06-01`,
    baseInfo: {
      reportYear: year,
      creditCode: query["keyword"],
      companyName: "杭州某某科技有限公司",
      employeeNum: employees,
      totalAssets: "1,283.5万元",
      totalLiability: "企业选择不公示",
      manageState: "开业",
    },
    reportSocialSecurityInfo: { endowmentInsurance: "12人" },
    shareholderList: [{ investorName: "陈明", subscribeAmount: "100万元", subscribeTime: "2030-01-01" }],
  });
  const items = [report("2023", "10人"), report("2025", "企业选择不公示"), report("2024", "11人")];
  return { error_code: 0, result: { items } };
}

function qichachaEnforced({ query }: Asked): object {
  const one = {
    Name: query["searchKey"],
    Anno: "（2024）浙0106执2号",
    ExecuteGov: "杭州市西湖区人民法院",
    Biaodi: "65000",
    Liandate: "2024-02-01",
  };
  return { Status: "200", Paging: { TotalRecords: 1 }, Result: { VerifyResult: 1, Data: [one] } };
}

function qichachaReports(): object {
  const report = (year: number) => ({
    Year: `${year}年度报告`,
    PublishDate: `${year + 1}-06-01 00:00:00`,
    BasicInfoData: { CompanyName: "杭州某某科技有限公司", EmployeeCount: "12人", Status: "开业" },
    AssetsData: { TotalAssets: "0.05亿元", NetProfit: "-3.2万元" },
  });
  return { Status: "200", Result: [report(2024), report(2022)] };
}

function juheReports({ query }: Asked): object {
  if (query["key"] !== "juhe-key-1") return { error_code: 10001, reason: "错误的请求KEY" };
  const items = [2022, 2024].map((year) => ({
    report_year: String(year),
    report_date: `${year + 1}-06-01`,
    name: "杭州某某科技有限公司",
    credit_no: query["keyword"],
    collegues_num: "12",
    sale_income: "300万元",
    net_amount: "12.5",
  }));
  return { error_code: 0, reason: "成功", result: { total: 2, items } };
}

function marketParcel({ headers, query }: Asked): object {
  const [number = "", tail] = (query["no"] ?? "").split(":");
  if (headers.authorization !== "APPCODE app-code-1") return { status: "403", msg: "无权" };
  if (number.startsWith("SF") && tail !== "1234") return { status: "205", msg: "没有信息" };
  return {
    status: "0",
    msg: "ok",
    result: {
      number: query["no"],
      type: "ZTO",
      expName: "中通快递",
      deliverystatus: "3",
      issign: "1",
      updateTime: "2026-11-20 13:29:58",
      list: [
        { time: "2026-11-20 13:29:58", status: "已签收" },
        { time: "2026-11-19 08:00:00", status: "已揽收" },
      ],
    },
  };
}

function netocrInvoice({ body }: Asked): object {
  const form = new URLSearchParams(body);
  if (form.get("key") !== "ocr-key-1" || form.get("secret") !== "ocr-secret-1")
    return { code: -1, msg: "key 错误" };
  if (form.get("invoiceNumber") === "10000009") return { code: -30002, msg: "所查发票不存在" };
  if (form.get("totalAmount") === null || form.get("billingDate") === null)
    return { code: -30005, msg: "参数不能为空" };
  if (form.get("totalAmount") !== "100.00") return { code: -30001, msg: "不一致" };
  return {
    code: 0,
    msg: "成功",
    data: {
      invoiceType: "10",
      invoiceCode: form.get("invoiceCode"),
      invoiceNumber: form.get("invoiceNumber"),
      billingDate: "2026-03-02",
      state: "3",
      salesName: "甲公司",
      salesTaxNo: "91330106MA0000007Q",
      totalAmount: "100.00",
      totalTax: "6.00",
      amountTax: "106.00",
      checkNum: "2",
    },
  };
}
