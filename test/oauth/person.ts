// A person with a browser: signs in through the form, keeps cookies and decides on the consent page.
import { randomUUID } from 'node:crypto';
import { createUser, grantCompany } from '../../platform/identity/users.ts';
import type { Company, Server } from '../helpers/world.ts';

/** The part of a server that is needed here, in this process or in another. */
export type Running = { url: string; service: Pick<Server['service'], 'database'> };

const PASSWORD = 'una contraseña larga';

export interface Person {
  userId: number;
  email: string;
  browser: Browser;
}

/** A new person of these companies, signed in. */
export async function newPerson(server: Running, ...companies: Pick<Company, 'id'>[]): Promise<Person> {
  const email = `${randomUUID()}@example.com`;
  const { id: userId } = await createUser(server.service.database, { email, name: 'Ana Pons', password: PASSWORD });
  const author = { actor: 'command', door: 'command', requestId: 'test' } as const;
  for (const { id: accountId } of companies) {
    await grantCompany(server.service.database, { userId, accountId, role: 'member' }, author);
  }
  const browser = new Browser(server.url);
  await signIn(browser, email, PASSWORD);
  return { userId, email, browser };
}

/** Fetches with cookies; redirects are followed by hand. */
export class Browser {
  readonly #url: string;
  readonly #cookies = new Map<string, string>();

  constructor(url: string) {
    this.#url = url;
  }

  /** The `Cookie` header. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#keep(
      await fetch(new URL(path, this.#url), { redirect: 'manual', headers: { cookie: this.cookie, ...headers } }),
    );
  }

  async post(path: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
    return this.#keep(
      await fetch(new URL(path, this.#url), {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: this.cookie, ...headers },
        body: new URLSearchParams(form),
      }),
    );
  }

  #keep(response: Response): Response {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}

/** Signs in through the form and returns the address that follows. */
export async function signIn(browser: Browser, email: string, password: string, next = '/'): Promise<string> {
  const csrf = fieldOf(await (await browser.get(`/signin?${new URLSearchParams({ next })}`)).text(), 'csrf');
  const answer = await browser.post('/signin', { csrf, email, password, next });
  return answer.headers.get('location') ?? '';
}

/** The value of a field of a form. */
export function fieldOf(page: string, name: string): string {
  const value = new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(page)?.[1];
  if (value === undefined) throw new Error(`No field ${name} in:\n${page}`);
  return unescaped(value);
}

/** The text of a page as readers see it. */
export const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Agrees (or not) on the consent page at this address and returns the address that the browser is sent to. */
export async function decide(
  { browser }: Person,
  address: string,
  {
    company,
    write = true,
    decision = 'allow',
  }: { company?: string; write?: boolean; decision?: 'allow' | 'deny' } = {},
): Promise<URL> {
  const page = await browser.get(address);
  const text = await page.text();
  if (page.status !== 200) throw new Error(`${page.status} ${page.headers.get('location') ?? text}`);
  const action = unescaped(/<form method="post" action="(\/oauth[^"]*)"/.exec(text)?.[1] ?? '');
  const answer = await browser.post(action, {
    csrf: fieldOf(text, 'csrf'),
    company: company ?? fieldOf(text, 'company'),
    ...(write && text.includes('name="write"') && { write: 'svc.write' }),
    decision,
  });
  if (answer.status !== 303) throw new Error(`${answer.status} ${await answer.text()}`);
  return new URL(answer.headers.get('location') ?? '');
}
