import { yuanOf } from "../payments/provider.ts";
import type { Seller } from "../payments/settings.ts";
import type { Invoice } from "./invoice.ts";
import { type Sheet, writeXlsx } from "./xlsx.ts";

/**
 * The two sheets of the electronic tax bureau's template for batches (数电票 批量开票 导入开票模板) that a sale of data
 * needs: names in the third row, data from the fourth on, everything as text. The columns are those of spring 2026.
 */
const basicColumns = [
  "发票流水号",
  "发票类型",
  "特定业务类型",
  "是否含税",
  "受票方自然人标识",
  "购买方名称",
  "购买方纳税人识别号",
  "购买方证件类型",
  "购买方证件号码",
  "购买方国籍（或地区）",
  "购买方地址",
  // One cell over four columns.
  "购买方所在地区（报废产品收购必填）",
  "",
  "",
  "",
  "购买方详细地址（报废产品收购必填）",
  "购买方电话",
  "购买方开户银行",
  "购买方银行账号",
  "是否展示购买方地址电话银行账号",
  "是否开具涉税专业服务发票品目",
  "涉税专业服务协议编号",
  "备注",
  "报废产品销售类型",
  "每千克煤炭发热量",
  "干基全硫",
  "干燥无灰基挥发分",
  "销售方开户行",
  "销售方银行账号",
  "是否展示销售方地址电话银行账号",
  "购买方邮箱",
  "购买方经办人姓名",
  "购买方经办人证件类型",
  "购买方经办人证件号码",
  "经办人国籍(地区)",
  "经办人自然人纳税人识别号",
  "放弃享受减按1%征收率原因",
  "收款人",
  "复核人",
];
const lineColumns = [
  "发票流水号",
  "项目名称",
  "商品和服务税收编码",
  "规格型号",
  "单位",
  "数量",
  "单价",
  "金额",
  "税率",
  "折扣金额",
  "是否使用优惠政策",
  "优惠政策类型",
  "即征即退类型",
  "煤炭种类",
];

/** The invoices as a workbook for the tax bureau. */
export function taxWorkbook(invoices: readonly Invoice[], seller: Seller): Buffer {
  return writeXlsx([
    sheetOf("1-发票基本信息", basicColumns, invoices.map(basicOf)),
    sheetOf(
      "2-发票明细信息",
      lineColumns,
      invoices.map((invoice) => lineOf(invoice, seller)),
    ),
  ]);
}

/** Amounts include the tax. */
function basicOf(invoice: Invoice): Record<string, string> {
  const { buyer, id } = invoice;
  return {
    发票流水号: serialOf(invoice),
    发票类型: "普通发票",
    是否含税: "是",
    受票方自然人标识: buyer.tax_number === "" ? "是" : "否",
    购买方名称: buyer.title,
    购买方纳税人识别号: buyer.tax_number,
    购买方地址: buyer.address,
    购买方电话: buyer.phone,
    购买方开户银行: buyer.bank,
    购买方银行账号: buyer.bank_account,
    购买方邮箱: buyer.email,
    备注: id,
  };
}

function lineOf(invoice: Invoice, seller: Seller): Record<string, string> {
  return {
    发票流水号: serialOf(invoice),
    项目名称: seller.item,
    商品和服务税收编码: seller.tax_code,
    金额: yuanOf(invoice.amountFen),
    税率: String(seller.tax_rate),
    是否使用优惠政策: "否",
  };
}

/** The bureau's numbers have at most 20 characters: the random part of ours. */
function serialOf({ id }: Invoice): string {
  return id.slice(-20);
}

function sheetOf(
  name: string,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string>>[],
): Sheet {
  const written = rows.map((row) => columns.map((column) => row[column] ?? ""));
  return { name, rows: [[`${name}，数据从第 4 行开始`], [], columns, ...written] };
}
