import { expect, test } from "vitest";
import { caseReach } from "./reach.ts";

test.each([
  [{ query: "买卖合同" }, undefined],
  [{ query: "2019年 买卖合同" }, undefined],
  [{ query: "date:2019 买卖合同" }, { from: "2019-01-01", to: "2019-12-31" }],
  [{ query: "借款 日期：2019..2020" }, { from: "2019-01-01", to: "2020-12-31" }],
  [{ query: 'date:2019-02-03.. "date:1999"' }, { from: "2019-02-03" }],
  [
    { query: "date:2019..2021 date:2020", year: "2020" },
    { from: "2020-01-01", to: "2020-12-31" },
  ],
  [
    { query: "date:2019", date_from: "2019-06-01" },
    { from: "2019-06-01", to: "2019-12-31" },
  ],
  [{ date_to: "2018-01-01" }, { to: "2018-01-01" }],
])("%j asks for %j", (params: Record<string, string>, wanted) => {
  expect(caseReach(params)).toEqual(wanted);
});
