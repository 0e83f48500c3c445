// The tenant role, which runs all work of companies, and its rights: only what that work needs. The rights are defined here rather
// than in migrations, so that a role created later and a restored database get the same.
import type pg from 'pg';

export const TENANT_ROLE = 'albaran_app';

/** Tables whose rows are never updated. */
const APPEND_ONLY = [
  ...['assistant_calls', 'audit_records', 'company_images', 'invoice_registers', 'journal_entries', 'register_answers'],
];

/** Tables from which companies' work deletes rows. Deleting a whole company is done by the login. */
const DELETED_FROM = new Set([
  // Expired rows: purge.ts. People who leave a company: users.ts.
  ...['assistant_calls', 'audit_records', 'call_counts', 'document_links', 'webhook_deliveries', 'webhooks'],
  ...['api_keys', 'grants', 'idempotency_records', 'journal_entries', 'memberships', 'oauth_tokens', 'quota_days'],
  // Inner records that an imported account file no longer has, and their consequences.
  ...['delivery_note_lines', 'estimate_lines', 'funnel_stages', 'invoice_due_dates', 'invoice_lines'],
  ...['product_formats', 'product_variations', 'purchase_delivery_note_lines', 'purchase_invoice_due_dates'],
  ...['purchase_invoice_lines', 'recurring_lines', 'stock_movements'],
  // Rollups: figures.ts.
  ...['product_stocks', 'project_totals', 'record_counts', 'time_entry_days'],
]);

type Queryable = Pick<pg.ClientBase | pg.Pool, 'query'>;

const DUPLICATE_ROLE = ['42710', '23505'];
const INSUFFICIENT_PRIVILEGE = '42501';

interface Login {
  name: string;
  there: boolean;
  member: boolean;
  unbound: boolean;
}

async function loginOf(client: Queryable): Promise<Login> {
  // Since PostgreSQL 16 a member of a role may not always become it.
  const { rows } = await client.query<Login>(
    `select quote_ident(current_user) as name, r.oid is not null as there, coalesce(r.rolsuper or r.rolbypassrls, false) as unbound,
       coalesce(pg_has_role(current_user, r.oid,
         case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end), false) as member
     from (values (1)) one left join pg_roles r on r.rolname = $1`,
    [TENANT_ROLE],
  );
  const [login] = rows;
  if (!login) throw new Error('PostgreSQL says nothing of the login');
  return login;
}

function problemOf({ name, there, member, unbound }: Login): string | undefined {
  const steps = [
    ...(there ? [] : [`create role ${TENANT_ROLE} nologin;`]),
    ...(unbound ? [`alter role ${TENANT_ROLE} nosuperuser nobypassrls;`] : []),
    ...(member ? [] : [`grant ${TENANT_ROLE} to ${name};`]),
  ];
  if (steps.length === 0) return undefined;
  const what = unbound ? 'bypasses row-level security' : there ? `is not granted to the login ${name}` : 'is missing';
  return `the role ${TENANT_ROLE}, in which companies are kept apart, ${what}. As an administrator of the server: ${steps.join(' ')}`;
}

/** Throws if the login may not switch to the role, with one line that says what an administrator has to run. TEN-02 */
export async function checkTenantRole(client: Queryable): Promise<void> {
  const problem = problemOf(await loginOf(client));
  if (problem) throw new Error(problem);
}

/** Creates the role if it is missing. If the login may not, throws like `checkTenantRole`. */
export async function makeTenantRole(client: pg.ClientBase): Promise<void> {
  const { name, there, member } = await loginOf(client);
  if (!there) await attempt(client, `create role ${TENANT_ROLE} nologin`);
  if (!member) await attempt(client, `grant ${TENANT_ROLE} to ${name}`);
  await checkTenantRole(client);
}

/** Ignores missing rights and an existing role, since another process may do the same now. `checkTenantRole` verifies the result. */
async function attempt(client: pg.ClientBase, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code !== INSUFFICIENT_PRIVILEGE && !DUPLICATE_ROLE.includes(code)) throw error;
  }
}

interface Relation {
  name: string;
  kind: 'table' | 'sequence';
  /** A table with companies' rows, or the sequence of such a table. */
  company: boolean;
  may: string[];
}

/** The rights that the role should have on a relation. */
function wanted({ name, kind, company }: Relation): string[] {
  if (!company) return [];
  if (kind === 'sequence') return ['USAGE'];
  return [
    'SELECT',
    'INSERT',
    ...(APPEND_ONLY.includes(name) ? [] : ['UPDATE']),
    ...(DELETED_FROM.has(name) ? ['DELETE'] : []),
  ];
}

/** The statements that give the role exactly the rights it should have; empty if it has them. */
export async function missingRights(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<Relation>(
    `with company as (
       select c.oid, c.relname from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and (c.relname = 'accounts'
         or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped)))
     select quote_ident(c.relname) as name, case c.relkind when 'S' then 'sequence' else 'table' end as kind,
       case c.relkind when 'S' then exists (select from company o where c.relname = o.relname || '_id_seq' and o.relname <> 'accounts')
         else exists (select from company o where o.oid = c.oid) end as company,
       array(select privilege_type from aclexplode(c.relacl) where grantee = $1::regrole) as may
     from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'S') and pg_has_role(c.relowner, 'usage')
     order by c.relname`,
    [TENANT_ROLE],
  );
  const statements = rows.flatMap((relation) => {
    const [has, needs] = [new Set(relation.may), new Set(wanted(relation))];
    const on = `on ${relation.kind} ${relation.name}`;
    const tooMany = [...has.difference(needs)].join(', ');
    const lacking = [...needs.difference(has)].join(', ');
    return [
      ...(tooMany ? [`revoke ${tooMany} ${on} from ${TENANT_ROLE}`] : []),
      ...(lacking ? [`grant ${lacking} ${on} to ${TENANT_ROLE}`] : []),
    ];
  });
  // The first migration granted default rights on future tables and sequences.
  const { rows: defaults } = await client.query<{ kind: string }>(
    `select case d.defaclobjtype when 'S' then 'sequences' else 'tables' end as kind
     from pg_default_acl d, aclexplode(d.defaclacl) a
     where d.defaclrole = current_user::regrole and d.defaclnamespace = 'public'::regnamespace and d.defaclobjtype in ('r', 'S')
       and a.grantee = $1::regrole group by 1`,
    [TENANT_ROLE],
  );
  const forgotten = defaults.map(
    ({ kind }) => `alter default privileges in schema public revoke all on ${kind} from ${TENANT_ROLE}`,
  );
  return [...statements, ...forgotten];
}
