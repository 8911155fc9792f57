import { yuanOf } from "../payments/provider.ts";
import type { Seller } from "../payments/settings.ts";
import type { Invoice } from "./invoice.ts";

/**
 * The columns that the batch import of the electronic tax bureau asks for (数电票批量开票: 发票基本信息 and 发票明细信息),
 * joined, because each of our invoices has one line. Amounts include the tax (是否含税 是).
 */
export const taxColumns = [
  "发票流水号",
  "发票类型",
  "是否含税",
  "受票方自然人标识",
  "购买方名称",
  "购买方纳税人识别号",
  "购买方地址",
  "购买方电话",
  "购买方开户银行",
  "购买方银行账号",
  "购买方邮箱",
  "项目名称",
  "商品和服务税收编码",
  "单位",
  "数量",
  "金额",
  "税率",
  "备注",
] as const;

export function taxRow({ id, buyer, amountFen, payments }: Invoice, seller: Seller): string[] {
  const isPerson = buyer.tax_number === "";
  return [
    // The bureau's numbers have at most 20 characters: the random part of ours.
    id.slice(-20),
    "普通发票",
    "是",
    isPerson ? "是" : "否",
    buyer.title,
    buyer.tax_number,
    buyer.address,
    buyer.phone,
    buyer.bank,
    buyer.bank_account,
    buyer.email,
    seller.item,
    seller.tax_code,
    "次",
    "1",
    yuanOf(amountFen),
    String(seller.tax_rate),
    payments.join(" "),
  ];
}
