import type { NewPackageOffer, PackageOffer, Packages, Payment, PaymentProvider } from "@dataq/contract/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";

export const packagesQuery = queryOptions({
  queryKey: ["packages"],
  queryFn: ({ signal }) => call<Packages>("/v1/packages", { signal }),
});

export const buyPackage = (provider: PaymentProvider, offer: string) =>
  call<Payment>("/v1/payments", { method: "POST", body: { provider, package: offer } });

export const offerPackage = (offer: NewPackageOffer) =>
  call<PackageOffer>("/admin/v1/packages", { method: "POST", body: offer });

export const endOffer = (id: string) =>
  call(`/admin/v1/packages/${encodeURIComponent(id)}`, { method: "DELETE" });
