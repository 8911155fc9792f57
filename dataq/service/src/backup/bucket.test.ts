import { expect, test } from "vitest";
import { type BucketAddress, sign } from "./bucket.ts";

/** The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. */
const address: BucketAddress = {
  endpoint: "https://s3.amazonaws.com",
  bucket: "examplebucket",
  prefix: "",
  region: "us-east-1",
  accessKey: "AKIAIOSFODNN7EXAMPLE",
  secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  style: "host",
};
const now = new Date("2013-05-24T00:00:00.000Z");
const signatureOf = (ask: Parameters<typeof sign>[1]) =>
  /Signature=(.*)$/.exec(sign(address, ask, now).headers["authorization"]!)![1];

test("requests are signed as Amazon's examples are", () => {
  expect(signatureOf({ method: "GET", name: "test.txt", headers: { range: "bytes=0-9" } })).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  expect(
    signatureOf({
      method: "PUT",
      name: "test$file.text",
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      body: new TextEncoder().encode("Welcome to Amazon S3."),
    }),
  ).toBe("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  expect(signatureOf({ method: "GET", query: { lifecycle: "" } })).toBe(
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  );
  expect(signatureOf({ method: "GET", query: { prefix: "J", "max-keys": "2" } })).toBe(
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

test("the bucket is a part of the host or of the path", () => {
  const ask = { method: "GET", name: "a b+c.tar", query: { "x'": "ü" } } as const;
  expect(sign({ ...address, prefix: "daily/" }, ask, now).url).toBe(
    "https://examplebucket.s3.amazonaws.com/daily/a%20b%2Bc.tar?x%27=%C3%BC",
  );
  expect(sign({ ...address, endpoint: "http://127.0.0.1:9000", style: "path" }, ask, now).url).toBe(
    "http://127.0.0.1:9000/examplebucket/a%20b%2Bc.tar?x%27=%C3%BC",
  );
});
