// Written by scripts/generate.ts; change the contract, or the script, and run it again.

import type { OperationName } from "./operations.ts";
import type { AsyncQueryOptions, QueryOptions } from "./request.ts";
import type { ParamsOf, Result } from "./result.ts";

export abstract class AsyncOperations {
  abstract query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options?: AsyncQueryOptions,
  ): Promise<Result<Name>>;

  /** Text of law articles by law name and article number (Chinese or Arabic numerals) or by words, with revision history. */
  legal_laws(params: ParamsOf<"legal_laws">, options?: AsyncQueryOptions): Promise<Result<"legal_laws">> {
    return this.query("legal_laws", params, options);
  }

  /** Catalogue of laws and regulations by legal domain. */
  legal_law_catalog(
    params: ParamsOf<"legal_law_catalog"> = {},
    options?: AsyncQueryOptions,
  ): Promise<Result<"legal_law_catalog">> {
    return this.query("legal_law_catalog", params, options);
  }

  readonly legal = {
    /** Text of law articles by law name and article number (Chinese or Arabic numerals) or by words, with revision history. */
    laws: (params: ParamsOf<"legal_laws">, options?: AsyncQueryOptions): Promise<Result<"legal_laws">> =>
      this.query("legal_laws", params, options),
    /** Catalogue of laws and regulations by legal domain. */
    lawCatalog: (
      params: ParamsOf<"legal_law_catalog"> = {},
      options?: AsyncQueryOptions,
    ): Promise<Result<"legal_law_catalog">> => this.query("legal_law_catalog", params, options),
  };
}

export abstract class SyncOperations {
  abstract query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options?: QueryOptions,
  ): Result<Name>;

  /** Text of law articles by law name and article number (Chinese or Arabic numerals) or by words, with revision history. */
  legal_laws(params: ParamsOf<"legal_laws">, options?: QueryOptions): Result<"legal_laws"> {
    return this.query("legal_laws", params, options);
  }

  /** Catalogue of laws and regulations by legal domain. */
  legal_law_catalog(
    params: ParamsOf<"legal_law_catalog"> = {},
    options?: QueryOptions,
  ): Result<"legal_law_catalog"> {
    return this.query("legal_law_catalog", params, options);
  }

  readonly legal = {
    /** Text of law articles by law name and article number (Chinese or Arabic numerals) or by words, with revision history. */
    laws: (params: ParamsOf<"legal_laws">, options?: QueryOptions): Result<"legal_laws"> =>
      this.query("legal_laws", params, options),
    /** Catalogue of laws and regulations by legal domain. */
    lawCatalog: (
      params: ParamsOf<"legal_law_catalog"> = {},
      options?: QueryOptions,
    ): Result<"legal_law_catalog"> => this.query("legal_law_catalog", params, options),
  };
}
