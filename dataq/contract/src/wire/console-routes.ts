import { listOf } from "./page.ts";
import type { Route } from "./route.ts";
import {
  acceptedTerms,
  approved,
  chosenAccount,
  invitationToken,
  openSession,
  person,
  resetLink,
  session,
  ssoStart,
  startedSso,
} from "./session.ts";

const own = { tag: "console", access: "session" } as const;
const admin = { tag: "console", access: "key" } as const;

/**
 * Routes that the console needs besides the public API. They are not in OpenAPI, because only the console's
 * own pages may call most of them. better-auth handles sign-in, and `/console/api/models/…` answers like the
 * model server.
 */
export const consoleRoutes = {
  getSession: {
    tag: "console",
    access: "public",
    method: "GET",
    path: "/console/api/session",
    summary: "Get the person who is signed in",
    status: 200,
    answer: session,
  },
  startSso: {
    tag: "console",
    access: "public",
    method: "POST",
    path: "/console/api/sso",
    summary: "Begin single sign-on",
    body: ssoStart,
    status: 200,
    answer: startedSso,
    errors: ["not_found", "unavailable"],
  },
  listSessions: {
    ...own,
    method: "GET",
    path: "/console/api/sessions",
    summary: "List the browsers where this person is signed in",
    status: 200,
    answer: listOf(openSession),
  },
  endSession: {
    ...own,
    method: "DELETE",
    path: "/console/api/sessions/{id}",
    summary: "Sign out another browser",
    status: 204,
  },
  joinAccount: {
    ...own,
    method: "POST",
    path: "/console/api/join",
    summary: "Accept an invitation",
    body: invitationToken,
    status: 200,
    answer: chosenAccount,
    errors: ["invalid_invitation"],
  },
  chooseAccount: {
    ...own,
    method: "POST",
    path: "/console/api/account",
    summary: "Switch to another account",
    body: chosenAccount,
    status: 200,
    answer: chosenAccount,
    errors: ["not_found"],
  },
  acceptTerms: {
    ...own,
    method: "POST",
    path: "/console/api/terms",
    summary: "Accept the operator's terms",
    body: acceptedTerms,
    status: 204,
    errors: ["invalid_params"],
  },
  listPeople: {
    ...admin,
    method: "GET",
    path: "/console/api/people",
    summary: "List people who signed up, newest first",
    status: 200,
    answer: listOf(person),
  },
  approvePerson: {
    ...admin,
    method: "POST",
    path: "/console/api/people/{id}/approve",
    summary: "Approve a person",
    status: 200,
    answer: approved,
  },
  createResetLink: {
    ...admin,
    method: "POST",
    path: "/console/api/people/{id}/reset-link",
    summary: "Create a link that sets a new password",
    status: 200,
    answer: resetLink,
  },
} as const satisfies Record<string, Route>;
