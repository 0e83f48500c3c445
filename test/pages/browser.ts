// A browser without a screen: keeps cookies, follows no redirects, and sends forms with the token of the last page.
import { randomUUID } from 'node:crypto';
import { createUser, grantCompany, type Role } from '../../platform/identity/users.ts';
import type { Server } from '../helpers/world.ts';

export const PASSWORD = 'cinco lápices azules';
export const HOME = '/settings/integrations';

export interface Sent {
  status: number;
  headers: Headers;
  text: string;
  /** The address of a redirect. */
  location: string | null;
}

export function openBrowser(url: string, fixed: Record<string, string> = {}) {
  const cookies = new Map<string, string>();
  let csrf = '';
  async function send(path: string, init: RequestInit = {}): Promise<Sent> {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { cookie, ...fixed, ...init.headers };
    const response = await fetch(new URL(path, url), { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0\b/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    csrf = /name="csrf" value="([\w-]+)"/.exec(text)?.[1] ?? csrf;
    return { status: response.status, headers: response.headers, text, location: response.headers.get('location') };
  }
  return {
    cookies,
    get: (path: string, headers: Record<string, string> = {}) => send(path, { headers }),
    /** Sends a form, with the token of the last page unless it has one. */
    submit: (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      send(path, { method: 'POST', body: new URLSearchParams({ csrf, ...fields }), headers }),
    /** The same of a form with files. */
    upload(path: string, fields: Record<string, string>, files: Record<string, Blob> = {}) {
      const body = new FormData();
      for (const [name, value] of Object.entries({ csrf, ...fields })) body.set(name, value);
      for (const [name, file] of Object.entries(files)) body.set(name, file);
      return send(path, { method: 'POST', body });
    },
    async signIn(email: string, password = PASSWORD, next = HOME) {
      await send('/signin');
      return this.submit('/signin', { email, password, next });
    },
  };
}

export type Browser = ReturnType<typeof openBrowser>;

/** A new person of these companies. */
export async function makePerson({ service }: Server, places: { accountId: number; role?: Role }[] = []) {
  const { database } = service;
  const person = await createUser(database, {
    email: `Ana.${randomUUID()}@Example.com`,
    name: 'Ana',
    password: PASSWORD,
  });
  const author = { actor: 'command', door: 'command', requestId: randomUUID() } as const;
  for (const { accountId, role = 'admin' } of places) {
    await grantCompany(database, { userId: person.id, accountId, role }, author);
  }
  return person;
}

/** A browser in which a new person of these companies is signed in. */
export async function signedIn(server: Server, places: { accountId: number; role?: Role }[]) {
  const person = await makePerson(server, places);
  const browser = openBrowser(server.url);
  await browser.signIn(person.email);
  return { person, browser };
}

/** The audit records of a company about people. */
export const auditOf = ({ service }: Server, accountId: number) =>
  service.database.transaction(accountId, {}, (db) =>
    db
      .selectFrom('audit_records')
      .select(['actor', 'door', 'operation', 'record_kind', 'record_id'])
      .where('account_id', '=', accountId)
      .orderBy('id')
      .execute(),
  );
