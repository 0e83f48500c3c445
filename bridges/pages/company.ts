// What a company says of itself on its documents, and what they look like. Its people see it, its administrators change it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { keepPicture, pictureOf, readLogoApart } from '../../documents/company-logo.ts';
import { countryOf } from '../../documents/countries.ts';
import { exampleInvoice } from '../../documents/example.ts';
import { DEFAULT_COLOR, isColor } from '../../documents/pdf/color.ts';
import { drawPdf } from '../../documents/pdf/draw.ts';
import { issuerNow } from '../../documents/sealed-content.ts';
import {
  isSeries,
  type Numbered,
  raiseCounter,
  SERIES_COLUMNS,
  SERIES_NAMES,
  type SeriesChange,
  type SeriesName,
  seriesChange,
  seriesIn,
} from '../../documents/series.ts';
import { isNif, plainTaxId } from '../../documents/verifactu/tax-ids.ts';
import { dateIn } from '../../platform/clock.ts';
import type { Service } from '../../platform/context.ts';
import type { Db } from '../../platform/database.ts';
import { type Membership, requireMember } from '../../platform/identity/users.ts';
import { changeOf, writeJournal } from '../../platform/journal.ts';
import { isEmail, isIban, withoutSpaces } from '../../platform/text.ts';
import { fileHeaders } from '../files.ts';
import { formParts } from '../forms.ts';
import { requireAdmin } from './integrations.ts';
import { type Html, html } from './layout.ts';
import { currentUser, signInAddress } from './session.ts';
import { addPage, COMPANY, HOME, notice, type SignedInVisit, signedIn } from './visit.ts';

const LOOK = `${COMPANY}/look`;
const EXAMPLE = `${COMPANY}/example.pdf`;
/** Of a form with a picture: larger pictures than a logo may be, so that most are told so at the field. */
const MOST_BYTES = 1024 * 1024;
const LONGEST = 300;

/** The fields of the form, each with its column. */
const COLUMNS = {
  razon_social: 'legal_name',
  cif: 'tax_id',
  direccion: 'address',
  cp: 'postal_code',
  poblacion: 'city',
  provincia: 'province',
  pais: 'country',
  email: 'email',
  iban: 'iban',
} as const;
type Name = keyof typeof COLUMNS;
const isName = (name: string): name is Name => name in COLUMNS;
const NAMES = Object.keys(COLUMNS).filter(isName);

/** What is wrong, by the field. */
type Field = Name | 'logo' | 'color' | `serie_${SeriesName}`;
type Complaints = Partial<Record<Field, string>>;

/** Adds the page, its forms and the example. */
export function addCompany(app: FastifyInstance, service: Service): void {
  addPage(app, service, COMPANY, {
    get: signedIn((visit) => {
      const slug = visit.query('company');
      const [first, second] = visit.companies;
      if (slug === '' && (!first || second)) return visit.seeOther('/companies');
      return sendCompany(visit, slug === '' && first ? first : visit.company(slug));
    }),
    post: signedIn((visit) => {
      const typed = Object.fromEntries(NAMES.map((name) => [name, visit.field(name).trim()] as const));
      const values = NAMES.map((name) => {
        const text = typed[name] ?? '';
        return [COLUMNS[name], (name === 'iban' ? withoutSpaces(text) : text) || null] as const;
      });
      return save(visit, 'data', async (db, accountId) => {
        const company = await readCompany(db, accountId);
        const series = await seriesTyped(visit, db, accountId, seriesIn(company));
        return {
          complaints: { ...complaintsOf(visit, typed, company.verifactu_mode !== null), ...series.complaints },
          values: { ...Object.fromEntries(values), vat_scheme: schemeIn(visit), ...series.columns },
          renumbered: series.changed,
        };
      });
    }),
  });
  app.register(async (scope) => {
    // Nobody's picture is read who isn't signed in.
    scope.addHook('onRequest', async (request, reply) => {
      if (request.method === 'POST' && !(await currentUser(service, request))) {
        return reply.redirect(signInAddress(HOME), 303);
      }
    });
    scope.addContentTypeParser(
      'multipart/form-data',
      { parseAs: 'buffer' },
      async ({ headers }: FastifyRequest, body: Buffer<ArrayBuffer>) => formParts(headers['content-type'] ?? '', body),
    );
    addPage(scope, service, LOOK, { post: signedIn(saveLook), bodyLimit: MOST_BYTES });
  });
  addPage(app, service, EXAMPLE, { get: signedIn(sendExample) });
}

const schemeIn = (visit: SignedInVisit) => (visit.field('regimen_iva') === 'caja' ? 'caja' : null);

/** What changes of the series, and what is wrong with what was typed. */
async function seriesTyped(
  visit: SignedInVisit,
  db: Db,
  accountId: number,
  now: Readonly<Record<SeriesName, string>>,
): Promise<Pick<SeriesChange, 'columns' | 'changed'> & { complaints: Complaints }> {
  const { say } = visit;
  const complaints: Complaints = {};
  const said: Partial<Record<SeriesName, string>> = {};
  for (const name of SERIES_NAMES) {
    const typed = visit.field(`serie_${name}`).trim().toUpperCase();
    if (typed !== '' && !isSeries(typed)) {
      complaints[`serie_${name}`] = say(
        'De 1 a 10 letras de la A a la Z, cifras, / o -, sin cifra al final.',
        '1 to 10 letters from A to Z, digits, / or -, and no digit at the end.',
      );
    } else if (typed !== now[name]) said[name] = typed;
  }
  const { columns, changed, repeated } = await seriesChange(db, accountId, said);
  for (const { name } of repeated) {
    complaints[`serie_${name}`] = say('Es también la de otros documentos.', 'Other documents have this one, too.');
  }
  return { columns, changed, complaints };
}

const address = ({ slug }: Membership) => `${COMPANY}?${new URLSearchParams({ company: slug })}`;

/**
 * Writes what a form says, unless something of it is wrong, and says in the company's journal if it was something else before. Throws 403
 * unless the person is an administrator. JRN-01
 */
async function save(
  visit: SignedInVisit,
  form: 'data' | 'look',
  read: (
    db: Db,
    accountId: number,
  ) => Promise<{ complaints: Complaints; values: Record<string, string | null>; renumbered?: readonly Numbered[] }>,
): Promise<FastifyReply> {
  const { author, service } = visit;
  const company = visit.company(visit.field('company'));
  const { accountId } = company;
  const wrong = await service.database.transaction(accountId, { write: true }, async (db) => {
    await requireAdmin(db, visit, accountId);
    const { complaints, values, renumbered = [] } = await read(db, accountId);
    if (Object.keys(complaints).length > 0) return complaints;
    const other = Object.entries(values).map(
      ([column, value]) => sql<boolean>`${sql.ref(column)} is distinct from ${value}`,
    );
    const changed = await db
      .updateTable('accounts')
      .set((eb) => ({ ...values, version: eb('version', '+', 1), updated_at: eb.fn<string>('now') }))
      .where('id', '=', accountId)
      .where((eb) => eb.or(other))
      .returning('id')
      .execute();
    for (const document of renumbered) await raiseCounter(db, accountId, document);
    const origin = { ...author, operation: 'account set', now: service.clock.now() };
    const changes = changed.map(({ id }) => changeOf('modify', 'account', id));
    if (changes.length > 0) await writeJournal(db, accountId, origin, changes);
    return undefined;
  });
  return wrong ? sendCompany(visit, company, wrong) : visit.seeOther(`${address(company)}&done=${form}`);
}

/** `registers`: whether invoices are registered, for which the tax id has to be a NIF. DOC-02 */
function complaintsOf({ say }: SignedInVisit, typed: Readonly<Record<string, string>>, registers: boolean): Complaints {
  const { cif = '', pais = '', email = '', iban = '' } = typed;
  const complaints: Complaints = {};
  const isSpanish = cif !== '' && countryOf(pais) === 'ES';
  if ((registers || isSpanish) && !isNif(plainTaxId(cif))) {
    complaints.cif = cif
      ? say(
          'No es un NIF: su letra o dígito de control no corresponde.',
          'This is not a Spanish tax id: its control character is another.',
        )
      : say('Hace falta mientras VeriFactu esté activado.', 'Needed while VeriFactu is on.');
  }
  if (email && !isEmail(email)) {
    complaints.email = say('No es una dirección de correo.', 'This is not an e-mail address.');
  }
  if (iban && !isIban(withoutSpaces(iban))) {
    complaints.iban = say(
      'No es un IBAN: sus dígitos de control no corresponden.',
      'This is not an IBAN: its check digits are others.',
    );
  }
  for (const name of NAMES) {
    if ((typed[name] ?? '').length > LONGEST) {
      complaints[name] = say(`${LONGEST} caracteres como mucho.`, `${LONGEST} characters at most.`);
    }
  }
  return complaints;
}

async function saveLook(visit: SignedInVisit): Promise<FastifyReply> {
  const { service, say } = visit;
  const { accountId } = visit.company(visit.field('company'));
  const complaints: Complaints = {};
  const bytes = fileOf(visit, 'logo');
  const picture = bytes && (await readLogoApart(service.threads, accountId, bytes));
  const isPicture = picture && 'bytes' in picture;
  if (picture && !isPicture) complaints.logo = sentence(say(picture.es, picture.en));
  const color = visit.field('color').toLowerCase();
  if (!isColor(color)) complaints.color = say('No es un color #rrggbb.', 'This is not a colour #rrggbb.');
  return save(visit, 'look', async (db) => {
    // The colour of documents without one is none.
    const values: Record<string, string | null> = { color: color === DEFAULT_COLOR ? null : color };
    const isWrong = Object.keys(complaints).length > 0;
    if (isPicture && !isWrong) values.logo = await keepPicture(db, accountId, picture);
    else if (visit.field('remove') === 'yes') values.logo = null;
    return { complaints, values };
  });
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** A file of the form; undefined if none was chosen. */
function fileOf({ request: { body } }: SignedInVisit, name: string): Buffer | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return Buffer.isBuffer(value) && value.length > 0 ? value : undefined;
}

async function sendExample(visit: SignedInVisit): Promise<FastifyReply> {
  const { service, user, reply } = visit;
  const { accountId } = visit.company(visit.query('company'));
  const { account, issuer, logo } = await service.database.transaction(accountId, {}, async (db) => {
    await requireMember(db, accountId, user.userId);
    const [account, issuer] = await Promise.all([readCompany(db, accountId), issuerNow(db, accountId)]);
    return { account, issuer, logo: issuer.logo ? await pictureOf(db, accountId, issuer.logo) : undefined };
  });
  const today = dateIn(account.time_zone, service.clock.now());
  const options = { test: true, logo, color: issuer.color };
  const bytes = await drawPdf(service.threads, accountId, { content: exampleInvoice(issuer, today), options });
  const name = visit.say('ejemplo.pdf', 'example.pdf');
  return reply.type('application/pdf').headers(fileHeaders(name)).send(bytes);
}

const readCompany = (db: Db, accountId: number) =>
  db
    .selectFrom('accounts')
    .select([
      'name',
      'time_zone',
      'logo',
      'color',
      'vat_scheme',
      'verifactu_mode',
      ...SERIES_COLUMNS,
      ...Object.values(COLUMNS),
    ])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
type Company = Awaited<ReturnType<typeof readCompany>>;

async function sendCompany(visit: SignedInVisit, company: Membership, complaints?: Complaints): Promise<FastifyReply> {
  const { service, user, say } = visit;
  const { accountId } = company;
  const { role, account, logo } = await service.database.transaction(accountId, {}, async (db) => {
    const role = await requireMember(db, accountId, user.userId);
    const account = await readCompany(db, accountId);
    return { role, account, logo: account.logo === null ? undefined : await pictureOf(db, accountId, account.logo) };
  });
  const shown = { visit, company, account, isAdmin: role === 'admin', complaints };
  const done: Record<string, string> = {
    data: say(
      'Datos guardados: salen en los documentos que se emitan desde ahora.',
      'Saved: documents issued from now on show it.',
    ),
    look: say(
      'Aspecto guardado: es el de los documentos que se emitan desde ahora.',
      'Saved: documents issued from now on look like this.',
    ),
  };
  const said = done[visit.query('done')];
  const title = say('Datos fiscales', 'Fiscal data');
  return visit.sendWithMenu(
    {
      title: complaints ? `Error: ${title}` : `${title} · ${company.name}`,
      status: complaints ? 400 : 200,
      body: html`<div class="title"><p class="company">${company.name}</p><h1>${title}</h1>
<p class="lead">${say('Lo que la empresa dice de sí en los documentos que emite. Los ya emitidos se quedan como están.', 'What the company says of itself on the documents that it issues. Those issued already stay as they are.')} ${role === 'admin' ? '' : say('Solo quien administra la empresa puede cambiarlo.', 'Only administrators of the company can change it.')}</p></div>
${said && !complaints ? notice('good', said) : ''}
${dataSection(shown)}
${lookSection(shown, logo)}
${restSection(shown)}`,
    },
    'company',
    company,
  );
}

interface Shown {
  visit: SignedInVisit;
  company: Membership;
  account: Company;
  isAdmin: boolean;
  complaints: Complaints | undefined;
}

interface Input {
  label: string;
  length?: number;
  autocomplete?: string;
  hint?: string | undefined;
}

/** The attributes of a field that has a complaint or a hint, and the text. */
function about(name: Field, complaints: Complaints | undefined, hint?: string): { marks: Html; text: Html } {
  const complaint = complaints?.[name];
  const first = Object.keys(complaints ?? {})[0] === name;
  if (complaint) {
    return {
      marks: html` aria-invalid="true" aria-describedby="${name}-problem"${first ? html` autofocus` : ''}`,
      text: html`<p class="problem" id="${name}-problem">${complaint}</p>`,
    };
  }
  return hint
    ? { marks: html` aria-describedby="${name}-hint"`, text: html`<p class="hint" id="${name}-hint">${hint}</p>` }
    : { marks: html``, text: html`` };
}

function dataSection({ visit, company, account, isAdmin, complaints }: Shown): Html {
  const { say } = visit;
  const isTyped = complaints !== undefined && visit.request.routeOptions.url === COMPANY;
  const input = (name: Field, stored: string, { label, length = LONGEST, autocomplete = 'off', hint }: Input) => {
    const { marks, text } = about(name, complaints, hint);
    return html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" maxlength="${length}" autocomplete="${autocomplete}" value="${isTyped ? visit.field(name) : stored}"${isAdmin ? '' : html` readonly`}${marks}>
${text}</div>`;
  };
  const field = (name: Name, label: string, autocomplete: string, hint?: string) =>
    input(name, account[COLUMNS[name]] ?? '', { label, autocomplete, hint });
  const series = (name: SeriesName, label: string) =>
    input(`serie_${name}`, seriesIn(account)[name], { label, length: 10 });
  const chosen = isTyped ? schemeIn(visit) : account.vat_scheme;
  const scheme = (value: typeof chosen, label: string) =>
    html`<label class="radio"><input type="radio" name="regimen_iva" value="${value ?? 'general'}"${value === chosen ? html` checked` : ''}${isAdmin ? '' : html` disabled`}> <span>${label}</span></label>`;
  return html`<section class="card" aria-labelledby="data">
<h2 id="data">${say('Quién emite', 'Who issues them')}</h2>
<form method="post" action="${COMPANY}" aria-labelledby="data">
${visit.csrfField()}<input type="hidden" name="company" value="${company.slug}">
<div class="fields">
${field('razon_social', say('Razón social', 'Legal name'), 'organization', say(`Sin ella sale «${account.name}».`, `Without one: “${account.name}”.`))}
${field('cif', say('NIF', 'Tax id (NIF)'), 'off')}
</div>
${field('direccion', say('Dirección', 'Address'), 'street-address')}
<div class="fields">
${field('cp', say('Código postal', 'Postal code'), 'postal-code')}
${field('poblacion', say('Población', 'Town or city'), 'address-level2')}
${field('provincia', say('Provincia', 'Province'), 'address-level1')}
${field('pais', say('País', 'Country'), 'country-name', say('En blanco, España.', 'Left blank: Spain.'))}
${field('email', say('Correo electrónico', 'E-mail'), 'email')}
${field('iban', say('IBAN', 'IBAN'), 'off', say('La cuenta a la que pagan sus clientes.', 'The account that clients pay into.'))}
</div>
<fieldset><legend>${say('Régimen de IVA', 'VAT scheme')}</legend>
${scheme(null, say('General', 'General'))}
${scheme('caja', say('Criterio de caja: el IVA se declara al cobrar, y las facturas lo dicen', 'Cash accounting (criterio de caja): VAT is due when paid, and invoices say so'))}
</fieldset>
<fieldset><legend>${say('Series de los números', 'Series of numbers')}</legend>
<p class="hint">${say('Lo que va delante del año: con F, F2026-0001. Al cambiarla se sigue contando.', 'What goes before the year: with F, F2026-0001. After a change, counting goes on.')}</p>
<div class="fields">
${series('albaran', say('Albaranes', 'Delivery notes'))}
${series('factura', say('Facturas', 'Invoices'))}
${series('rectificativa', say('Facturas rectificativas', 'Rectifying invoices'))}
${series('presupuesto', say('Presupuestos', 'Estimates'))}
</div>
</fieldset>
${isAdmin ? html`<button>${say('Guardar los datos', 'Save data')}</button>` : ''}
</form>
</section>`;
}

function lookSection(
  { visit, company, account, isAdmin, complaints }: Shown,
  logo: { bytes: Buffer; mime: string } | undefined,
): Html {
  const { say } = visit;
  const color = complaints && isColor(visit.field('color')) ? visit.field('color') : (account.color ?? DEFAULT_COLOR);
  const ofColor = about(
    'color',
    complaints,
    say(
      'De títulos y totales. Uno claro se oscurece hasta que se lea.',
      'Of titles and totals. A light one is darkened until it can be read.',
    ),
  );
  const ofLogo = about('logo', complaints, say('PNG o JPEG de 200 kB como mucho.', 'PNG or JPEG of 200 kB at most.'));
  const picture = logo
    ? html`<p class="logo"><img alt="${say('El logotipo', 'The logo')}" src="data:${logo.mime};base64,${logo.bytes.toString('base64')}"></p>`
    : html`<p class="empty">${say('Sin logotipo.', 'No logo.')}</p>`;
  const example = `${EXAMPLE}?${new URLSearchParams({ company: company.slug })}`;
  return html`<section class="card" aria-labelledby="look">
<h2 id="look">${say('Logotipo y color', 'Logo and colour')}</h2>
${picture}
<form method="post" action="${LOOK}" enctype="multipart/form-data" aria-labelledby="look">
${visit.csrfField()}<input type="hidden" name="company" value="${company.slug}">
<div class="fields">
${
  isAdmin
    ? html`<div><label for="logo">${logo ? say('Otro logotipo', 'Another logo') : say('Logotipo', 'Logo')}</label>
<input id="logo" name="logo" type="file" accept="image/png,image/jpeg"${ofLogo.marks}>
${ofLogo.text}
${logo ? html`<label class="radio"><input type="checkbox" name="remove" value="yes"> <span>${say('Quitar el logotipo', 'Remove the logo')}</span></label>` : ''}</div>`
    : ''
}
<div><label for="color">${say('Color', 'Colour')}</label>
<input id="color" name="color" type="color" value="${color}"${isAdmin ? '' : html` disabled`}${ofColor.marks}>
${ofColor.text}</div>
</div>
${isAdmin ? html`<button>${say('Guardar el aspecto', 'Save look')}</button>` : ''}
</form>
<p><a href="${example}">${say('Una factura de ejemplo (PDF)', 'An example invoice (PDF)')}</a> <span class="quiet">${say('con lo que está guardado', 'with what is saved')}</span></p>
</section>`;
}

/** What the operator sets. */
function restSection({ visit: { say }, account: { time_zone, verifactu_mode: mode } }: Shown): Html {
  const modes: Record<NonNullable<typeof mode>, [name: string, meaning: string]> = {
    pruebas: [
      say('En pruebas', 'On trial'),
      say(
        'Cada factura se registra en el servicio de pruebas de la Agencia Tributaria, y su PDF dice PRUEBAS.',
        'Each invoice is registered with the tax agency’s test service, and its PDF says PRUEBAS.',
      ),
    ],
    produccion: [
      say('Activado', 'On'),
      say(
        'Cada factura que se emite se registra para la Agencia Tributaria y lleva su código QR.',
        'Each invoice that is issued is registered for the tax agency and has its QR code.',
      ),
    ],
  };
  const [name, meaning] = mode
    ? modes[mode]
    : [say('Desactivado', 'Off'), say('Las facturas no se registran.', 'Invoices are not registered.')];
  return html`<section class="card" aria-labelledby="rest">
<h2 id="rest">${say('Lo cambia quien opera el servicio', 'Changed by the operator of the service')}</h2>
<dl class="facts"><dt>${say('Zona horaria', 'Time zone')}</dt><dd>${time_zone}</dd>
<dt>VeriFactu</dt><dd><strong>${name}</strong> <span class="quiet">${meaning}</span></dd></dl>
</section>`;
}
