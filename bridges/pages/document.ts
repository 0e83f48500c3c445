// The page of a link to a document: what was sealed, for whoever has the address, in Spanish as the document itself. It sets no cookies,
// and tells nobody why a link shows nothing.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ContentParty, DocumentContent } from '../../documents/content.ts';
import { REASONS } from '../../documents/exemptions.ts';
import { documentFile, PDF_OF } from '../../documents/file.ts';
import { type FoundLink, findLink, type LinkedDocument, LinkOpens, linkedDocument } from '../../documents/links.ts';
import { day, decimal, euros, iban, isZero, percent } from '../../documents/pdf/formats.ts';
import { drawQr } from '../../documents/pdf/qr.ts';
import { type Paragraph, paragraphsOf } from '../../documents/pdf/remarks.ts';
import {
  daysOf,
  detailsOf,
  nameOf,
  schemeOf,
  sumsOf,
  titleOf,
  vatOf,
  WITHOUT_VAT,
  whatItRectifies,
} from '../../documents/pdf/words.ts';
import type { Service } from '../../platform/context.ts';
import { ApiError } from '../../platform/errors.ts';
import { inSlices } from '../../platform/slices.ts';
import { knownError } from '../envelope.ts';
import { Downloads, fileHeaders } from '../files.ts';
import { type Html, html, type Page, sendPage } from './layout.ts';
import { addPage, notice, type Visit } from './visit.ts';

/** Neither stored by proxies nor found by search engines. */
const HEADERS = { 'Cache-Control': 'private, no-store', 'X-Robots-Tag': 'noindex, nofollow' };

const missing = () => new ApiError('notFound', 'Este enlace no está disponible');

/** Adds `/d/{token}` and its PDF. Whoever calls them counts as without credentials, reading too. FAIR-04 */
export async function addDocumentPages(app: FastifyInstance, service: Service): Promise<void> {
  const { database, clock, log } = service;
  const opens = new LinkOpens(database, (error) => log.warn({ err: error }, 'an open of a link was not counted'));
  const downloads = new Downloads();
  const tokenOf = ({ params }: FastifyRequest) => String(Object(params).token);

  /** The link, and what it shows; 404 for whatever shows nothing. */
  async function found<T>(visit: Visit, show: (link: FoundLink) => Promise<T | undefined>): Promise<[FoundLink, T]> {
    const link = await findLink(database, tokenOf(visit.request), clock.now());
    const shown = link && (await show(link));
    if (!link || shown === undefined) throw missing();
    return [link, shown];
  }

  await app.register(async (scope) => {
    scope.addHook('onRequest', async ({ ip }) => service.anonymous.count(ip));
    scope.addHook('onClose', () => opens.close());
    scope.setErrorHandler((error: FastifyError, request, reply) => sendFailure(error, request, reply));

    addPage(scope, service, '/d/:token', {
      get: async (visit) => {
        const [link, shown] = await found(visit, (link) => linkedDocument(database, link));
        const page = await pageOf(shown, `/d/${tokenOf(visit.request)}/pdf`);
        // Those that preview links ask for the headers alone, or are counted as anyone.
        if (visit.request.method === 'GET') opens.opened(link, clock.now());
        return send(visit.request, visit.reply, page);
      },
    });
    addPage(scope, service, '/d/:token/pdf', {
      get: async (visit) => {
        const { request, reply } = visit;
        const [, file] = await found(visit, (link) => {
          downloads.begin(reply, tokenOf(request), link.accountId);
          return documentFile(service, link.accountId, { file: PDF_OF[link.table], id: link.documentId });
        });
        return reply
          .type(file.type)
          .headers({ ...fileHeaders(file.name), ...HEADERS })
          .send(file.bytes);
      },
    });
  });
}

const send = (request: FastifyRequest, reply: FastifyReply, page: Page) =>
  sendPage(request, reply, { language: 'es', headers: HEADERS, ...page });

function sendFailure(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message, cause, retryAfterSeconds } = knownError(error);
  if (status >= 500) request.log.error({ err: cause ?? error, requestId: request.id }, message);
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  const hint =
    status === 404
      ? 'Puede que haya caducado, que se haya retirado o que la dirección esté incompleta. Pida otro a quien se lo envió.'
      : 'Vuelva a intentarlo dentro de un momento.';
  const body = html`<section class="card"><h1>${message}</h1><p>${hint}</p></section>`;
  return send(request, reply, { status, title: 'Documento no disponible', narrow: true, body });
}

async function pageOf({ content, register, annulledOn, rectifiedBy }: LinkedDocument, pdf: string): Promise<Page> {
  const { emisor, cliente, desglose, rectifica } = content;
  const sums = sumsOf(content);
  const [label, amount] = sums.at(-1) ?? ['', ''];
  const lines = await linesOf(content);
  const scheme = schemeOf(content);
  return {
    title: nameOf(content),
    brand: emisor.nombre_fiscal,
    body: html`${annulledOn ? notice('bad', `Este documento se anuló el ${day(annulledOn)}: ya no es válido.`) : ''}
${register?.mode === 'pruebas' ? notice('bad', 'Documento de pruebas: no tiene ningún efecto.') : ''}
${rectifiedBy.map(({ numero, fecha }) =>
  notice('bad', `Esta factura se rectificó con la factura ${numero ?? 'sin número'} de ${day(fecha)}.`),
)}
<div class="title document">
<div><h1>${titleOf(content)} <span class="lead">${content.numero}</span></h1>${factsOf(content)}</div>
<div class="due"><p class="quiet">${label}</p><p class="amount">${euros(amount)}</p><a class="button" href="${pdf}">Descargar PDF</a></div>
</div>
<section class="card parties">${partyOf('De', emisor)}${partyOf('Para', cliente)}</section>
${
  rectifica &&
  html`<section class="card"><p><strong>${whatItRectifies(rectifica)}</strong></p>${rectifica.motivo && html`<p>Motivo: ${rectifica.motivo}</p>`}</section>`
}
<section class="card" aria-label="Líneas">
${lines}
<div class="sums">
${ratesOf(content)}
<dl>${sums.map(([name, value]) => html`<div><dt>${name}</dt><dd>${euros(value)}</dd></div>`)}</dl>
</div>
${[...new Set(desglose.flatMap(({ exencion }) => exencion ?? []))]
  .sort()
  .map((exemption) => html`<p class="quiet"><strong>${WITHOUT_VAT[exemption]}:</strong> ${REASONS[exemption]}</p>`)}
${scheme && html`<p class="quiet"><strong>${scheme}.</strong></p>`}
</section>
${paymentOf(content)}
${register && codeOf(register.qr)}
${remarksOf(paragraphsOf(content.observaciones))}`,
  };
}

function factsOf({ fecha, valido_hasta, vencimientos, promo_code, concepto }: DocumentContent): Html {
  const [due, ...furtherDue] = vencimientos;
  const facts = [
    ['Fecha', day(fecha)],
    ['Válido hasta', valido_hasta && day(valido_hasta)],
    ['Vencimiento', due && furtherDue.length === 0 && day(due.fecha)],
    ['Código promocional', promo_code],
    ['Concepto', concepto],
  ].filter(([, value]) => value);
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function partyOf(title: string, party: ContentParty): Html | '' {
  const details = detailsOf(party);
  if (party.nombre_fiscal === '' && details.length === 0) return '';
  return html`<div><h2>${title}</h2><p><strong>${party.nombre_fiscal}</strong></p>${details.map((text) => html`<p class="quiet">${text}</p>`)}</div>`;
}

async function linesOf({ lineas }: DocumentContent): Promise<Html> {
  const hasDiscount = lineas.some(({ descuento }) => !isZero(descuento));
  const number = (title: string, value: string) => html`<td class="number" data-title="${title}">${value}</td>`;
  const rows: Html[] = [];
  await inSlices(lineas, (line) => {
    const { descripcion, descripcion_ampliada, cantidad, importe_unitario, descuento, importe } = line;
    const days = daysOf(line);
    rows.push(
      html`<tr><th scope="row">${descripcion}${[descripcion_ampliada, days].map(
        (text) => text && html`<span class="quiet">${text}</span>`,
      )}</th>${number('Cantidad', decimal(cantidad))}${number('Precio', euros(importe_unitario))}${
        hasDiscount && number('Dto.', isZero(descuento) ? '' : percent(descuento))
      }${number('IVA', vatOf(line))}${number('Importe', euros(importe))}</tr>`,
    );
  });
  const titles = ['Cantidad', 'Precio', ...(hasDiscount ? ['Dto.'] : []), 'IVA', 'Importe'];
  return html`<table class="counts lines"><thead><tr><th scope="col">Descripción</th>${titles.map(
    (title) => html`<th scope="col" class="number">${title}</th>`,
  )}</tr></thead>
<tbody>${rows}</tbody></table>`;
}

function ratesOf({ desglose }: DocumentContent): Html {
  const hasSurcharge = desglose.some(({ recargo }) => !isZero(recargo));
  const titles = ['Base', 'Cuota', ...(hasSurcharge ? ['Recargo'] : [])];
  return html`<table class="counts"><thead><tr><th scope="col">Tipo de IVA</th>${titles.map(
    (title) => html`<th scope="col" class="number">${title}</th>`,
  )}</tr></thead>
<tbody>${desglose.map(
    (rate) =>
      html`<tr><th scope="row">${vatOf(rate)}</th><td class="number">${euros(rate.base)}</td><td class="number">${euros(rate.cuota)}</td>${
        hasSurcharge && html`<td class="number">${isZero(rate.recargo) ? '' : euros(rate.cuota_recargo)}</td>`
      }</tr>`,
  )}</tbody></table>`;
}

function paymentOf({ tipo, vencimientos, emisor }: DocumentContent): Html | '' {
  const account = iban(emisor.iban);
  if (tipo !== 'factura' || (vencimientos.length === 0 && account === '')) return '';
  return html`<section class="card" aria-labelledby="payment"><h2 id="payment">Pago</h2>
<dl class="facts">${account && html`<div><dt>Cuenta (IBAN)</dt><dd>${account}</dd></div>`}
${vencimientos.map(({ fecha, importe }) => html`<div><dt>Vence el ${day(fecha)}</dt><dd>${euros(importe)}</dd></div>`)}</dl></section>`;
}

/** The code that a phone reads, a link as well. Orden HAC/1177/2024, article 21 */
function codeOf(address: string): Html {
  const side = 100;
  let path = '';
  const canvas = {
    rect(x: number, y: number, width: number, height: number) {
      path += `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;
      return this;
    },
    fill() {
      return this;
    },
  };
  drawQr(canvas, address, 0, 0, side);
  return html`<section class="card code" aria-labelledby="code"><h2 id="code">QR tributario</h2>
<a href="${address}" rel="noopener"><svg viewBox="0 0 ${side} ${side}" role="img" aria-label="Comprobar la factura en la Agencia Tributaria" shape-rendering="crispEdges"><path d="${path}" /></svg></a>
<p><strong>VERI*FACTU</strong></p></section>`;
}

const FACES = {
  regular: (text: string) => html`${text}`,
  bold: (text: string) => html`<strong>${text}</strong>`,
  italic: (text: string) => html`<em>${text}</em>`,
  boldItalic: (text: string) => html`<strong><em>${text}</em></strong>`,
};

function remarksOf(paragraphs: readonly Paragraph[]): Html | '' {
  if (paragraphs.length === 0) return '';
  return html`<section class="card remarks" aria-labelledby="remarks"><h2 id="remarks">Observaciones</h2>
${paragraphs.map(
  ({ runs, bullet, depth }) =>
    html`<p class="depth-${depth}">${bullet && html`<span class="bullet">${bullet}</span>`}${runs.map(({ text, face }) => FACES[face](text))}</p>`,
)}</section>`;
}
