import { accountMigrations } from "./accounts/migrations.ts";
import { alertMigrations } from "./alerts/migrations.ts";
import { jobMigrations } from "./background/migrations.ts";
import { backupMigrations } from "./backup/migrations.ts";
import { businessMigrations } from "./business/migrations.ts";
import type { Migration } from "./database/migrations.ts";
import { importMigrations } from "./importer/runs.ts";
import { invoiceMigrations } from "./invoices/migrations.ts";
import { ledgerMigrations } from "./ledger/migrations.ts";
import { limitMigrations } from "./limits/migrations.ts";
import { maintenanceMigrations } from "./maintenance/migrations.ts";
import { paymentMigrations } from "./payments/migrations.ts";
import { peopleMigrations } from "./people/migrations.ts";
import { queryMigrations } from "./query/migrations.ts";
import { vectorMigrations } from "./search/meaning/vector-blocks.ts";
import { searchMigrations } from "./search/snapshots/tables.ts";
import { watchMigrations } from "./watches/migrations.ts";
import { webhookMigrations } from "./webhooks/migrations.ts";

/** Every folder's tables. Within a folder the order is fixed. Webhooks and watches come last, because their
 * triggers are on the tables of other folders. */
export const migrations: readonly Migration[] = [
  ...accountMigrations,
  ...ledgerMigrations,
  ...paymentMigrations,
  ...invoiceMigrations,
  ...peopleMigrations,
  ...limitMigrations,
  ...queryMigrations,
  ...businessMigrations,
  ...searchMigrations,
  ...vectorMigrations,
  ...importMigrations,
  ...jobMigrations,
  ...webhookMigrations,
  ...watchMigrations,
  ...alertMigrations,
  ...maintenanceMigrations,
  ...backupMigrations,
];
