/** `npm test` runs some tests with fewer cases. `npm run proof -- full-tests full-service-tests` runs all of their cases. */
export const isFullSize = process.env["TEST_SIZE"] === "full";
