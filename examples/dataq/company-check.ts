// Checks a company before a contract: its registration, and whether the courts list it as a dishonest debtor. Uses the
// synchronous client, one call after the other, and asks for the price of the registration first.
//   node company-check.ts 91330106MA0000007Q
import { DataQuerySync, NotFoundError } from "dataq-client";

const tax_id = process.argv[2] ?? "91330106MA0000007Q";
const client = new DataQuerySync();

const price = client.estimate("enterprise_company_detail", { tax_id });
console.log(`registration: ${price.tokens} tokens, ${price.balance_after} left after it`);

try {
  const company = client.enterprise_company_detail({ tax_id });
  console.log(`${company.name}: ${company.status}, since ${company.registration_date}`);

  const dishonest = client.enterprise_shixin_check({ company_name: company.name });
  console.log(`dishonesty list: ${dishonest.summary?.record_count ?? dishonest.data.length} entries`);

  const enforced = client.enterprise_zhixing_check({ company_name: company.name });
  for (const { case_no, court, amount, status_text } of enforced.data) {
    console.log(`enforcement: ${case_no}, ${court}, ${amount} yuan, ${status_text}`);
  }
  const spent = [company, dishonest, enforced].reduce((sum, { usage }) => sum + usage.tokens, 0);
  console.log(`${spent} tokens spent`);
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log(`${tax_id}: no such company; that cost nothing`);
}
