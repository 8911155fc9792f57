/** The HTTP API that the tools call: that of this service, or of a service elsewhere. */
export interface Api {
  /** Rejects only if the signal is aborted. Any other failure is an answer with an error body. */
  send(request: ApiRequest): Promise<ApiAnswer>;
}

export interface ApiRequest {
  readonly path: string;
  /** A request with a body is a POST, one without is a GET. */
  readonly body?: object;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  /** Parsed JSON: an `ErrorBody` if the status is 400 or higher. */
  readonly body: unknown;
}
