export type { Bilingual, Language } from "./bilingual.ts";
export { findOperation, type OperationName, operations } from "./catalog.ts";
export {
  chinaDate,
  chinaInstant,
  chinaMonth,
  chinaOffset,
  instantInChina,
  untilChinaMidnightMs,
} from "./china-time.ts";
export { counted } from "./counted.ts";
export {
  type Envelope,
  type ErrorBody,
  envelopeSchema,
  errorBody,
  type IndexState,
  type PartHeld,
  type Usage,
} from "./envelope.ts";
export { type ErrorCode, type ErrorRow, errors } from "./errors.ts";
export { errorsZh, problemZh } from "./errors-zh.ts";
export { expectedOf } from "./expected.ts";
export {
  Failure,
  type FailureDetails,
  fill,
  invalid,
  type ParameterProblem,
  placeholdersOf,
  summarise,
} from "./failure.ts";
export {
  answerSchema,
  errorSchema,
  type JsonSchema,
  type MoreChoices,
  meanings,
  paramsSchema,
  recordSchema,
} from "./json-schema.ts";
export { type Domain, domains, type Operation, type Params } from "./operation.ts";
export { editDistance, type ReadParams, readParams } from "./parameters.ts";
export {
  type Price,
  type PriceGroup,
  priceGroups,
  type SpecialReason,
  specialReasons,
  tokensPerCny,
} from "./price.ts";
export { type Difference, type Provenance, type SourceKind, sourceKinds } from "./provenance.ts";
export { withoutRadicals } from "./radicals.ts";
export { type SsoCause, ssoCauses } from "./sso-cause.ts";
export { carriersOf, findCarrier, postalCheck } from "./values/express-number.ts";
export { splitInvoice } from "./values/invoice.ts";
export { issnCheck, looksLikeIssn, readIssn } from "./values/issn.ts";
export { isNetworkBlock } from "./values/network-block.ts";
export { patentCheck, readPatentNumber } from "./values/patent-number.ts";
export { platforms, readPlatform } from "./values/platform.ts";
export { checkCharacter, organisationCheck, readTaxId } from "./values/tax-id.ts";
export { type Warning, type WarningCode, warning, warnings, warningText } from "./warnings.ts";
