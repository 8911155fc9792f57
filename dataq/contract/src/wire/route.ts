import type { z } from "zod";
import type { ErrorCode } from "../errors.ts";

/** A route: its parameters, its answers and its errors. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path with its parameters in braces: `/v1/keys/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag:
    | "data"
    | "account"
    | "keys"
    | "members"
    | "webhooks"
    | "catalog"
    | "admin"
    | "service"
    | "console";
  /**
   * `public` needs no credentials. `session` needs a user who is signed in at the console, with or without an
   * account.
   */
  readonly access: "public" | "key" | "session";
  readonly query?: z.ZodObject;
  /** Absent for `/v1/data/…`, whose body depends on the operation. */
  readonly body?: z.ZodType;
  /** An empty body means `{}`. */
  readonly isBodyOptional?: true;
  readonly status: 200 | 201 | 202 | 204 | 302;
  /** A schema for a JSON answer, a media type, or nothing. */
  readonly answer?: z.ZodType | MediaType | readonly MediaType[];
  /** Errors besides those that all such routes share (`errorCodesOf`). */
  readonly errors?: readonly ErrorCode[];
}

type MediaType =
  | "application/json"
  | "text/event-stream"
  | "text/csv"
  | "application/x-ndjson"
  | "text/plain"
  | "application/pdf"
  | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
  | "text/html";

/** Returns every error that a route can return: its own, and those that all such routes share. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  const takesBody = route.method === "POST" || route.method === "PATCH";
  const codes: ErrorCode[] = [
    ...(takesBody
      ? (["invalid_json", "body_too_large", "unsupported_media_type", "unsupported_encoding"] as const)
      : []),
    ...(route.path.includes("{") ? (["not_found"] as const) : []),
    ...(route.access === "key"
      ? ([
          "missing_api_key",
          "invalid_api_key",
          "ambiguous_credentials",
          "key_in_url",
          "scope_denied",
          "grant_denied",
          "live_key_required",
          "ip_denied",
          "foreign_page",
          "rate_limited",
        ] as const)
      : []),
    ...(route.access === "session" ? (["missing_api_key", "foreign_page"] as const) : []),
    ...(route.errors ?? []),
    "invalid_params",
    "host_not_allowed",
    "internal_error",
    "unavailable",
  ];
  return [...new Set(codes)];
}
