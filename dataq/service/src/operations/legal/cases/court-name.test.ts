import { expect, test } from "vitest";
import { courtIn, courtName } from "./court-name.ts";

test.each([
  "上海市奉贤区人民法院",
  "浙江省杭州市西湖区人民法院",
  "杭州市西湖区人民法院",
  "沂南县人民法院",
  "武汉市东西湖区人民法院",
  "东西湖区人民法院",
  "内蒙古科尔沁左翼后旗人民法院",
  "达尔罕茂明安联合旗人民法院",
  "新疆生产建设兵团芳草湖垦区人民法院",
  "扬州经济技术开发区人民法院",
  "新疆维吾尔自治区高级人民法院",
  "北京市第三中级人民法院",
  "最高人民法院",
  "上海海事法院",
  "广州知识产权法院",
  "上海铁路运输法院",
  "北京互联网法院",
  "湘西土家族苗族自治州中级人民法院",
])("%s is a court's name", (name) => {
  expect(courtName(name)).toBe(name);
});

test.each([
  ["日被杭州市西湖区人民法院", "杭州市西湖区人民法院"],
  ["刑事判决书湖南省岳阳县人民法院", "湖南省岳阳县人民法院"],
  ["的刑事判决书海南省第二中级人民法院", "海南省第二中级人民法院"],
  ["董某某开设赌场一案二审刑事裁定书陕西省延安市中级人民法院", "陕西省延安市中级人民法院"],
  ["月二十日经最高人民法院", "最高人民法院"],
  ["曾因盗窃被上海市浦东新区人民法院", "上海市浦东新区人民法院"],
  [" 浙江省 杭州市西湖区人民法院 ", "浙江省杭州市西湖区人民法院"],
])("of %s the court's name is %s", (text, name) => {
  expect(courtName(text)).toBe(name);
});

test.each([
  "",
  "法院",
  "人民法院",
  "本院",
  "日被人民法院",
  "向人民法院",
  "原审人民法院",
  "提交中级人民法院",
  "张三",
  "某县人民法院的判决",
  "被告人李某被沂南县人民法院",
  "x".repeat(10_000),
])("%s names no court of a place that exists", (text) => {
  expect(courtName(text)).toBeNull();
});

test("the first court's name that holds is read from a text", () => {
  expect(courtIn("2019年3月5日被人民法院传唤，经杭州市西湖区人民法院审理，上诉至杭州市中级人民法院。")).toBe(
    "杭州市西湖区人民法院",
  );
  expect(courtIn("没有法院。")).toBeNull();
});
