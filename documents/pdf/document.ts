// A sale document as a PDF. The same content gives the same bytes: nothing here asks for the time or for chance.
import { createHash } from 'node:crypto';
import type { ContentLine, DocumentContent } from '../content.ts';
import { REASONS } from '../exemptions.ts';
import { readableColor } from './color.ts';
import { printable } from './fonts.ts';
import { day, decimal, euros, iban, isZero, percent } from './formats.ts';
import { pictureType } from './logo.ts';
import { GREY, heightOf, INK, LEFT, type Line, leading, Paper, RIGHT, SHEET, WIDTH } from './paper.ts';
import { drawQr } from './qr.ts';
import { paragraphsOf } from './remarks.ts';
import { daysOf, detailsOf, nameOf, schemeOf, sumsOf, titleOf, vatOf, WITHOUT_VAT, whatItRectifies } from './words.ts';

export interface PdfOptions {
  /** PNG or JPEG; one that can't be read is left out. */
  logo?: { bytes: Uint8Array; mime: string } | undefined;
  /** `#rrggbb`: of titles and totals. */
  color?: string | undefined;
  /** Of a company that tries the service out: PRUEBAS across each page. */
  test: boolean;
  /** `qr`: the address that the code holds. `legend`: it was, or will be, sent to the tax agency. */
  verifactu?: { qr: string; legend: boolean } | undefined;
}

const MM = 72 / 25.4;
/** Between 30 and 40 mm, with 6 mm around it at the sides and 3 mm to the words above and below. Orden HAC/1177/2024, article 21 */
const QR = { side: 34 * MM, beside: 6 * MM, between: 3 * MM };
const LOGO = { width: 170, height: 54 };
const PANEL = '#f4f6f8';
const BODY = 9;
const SMALL = 8;
const LABEL = 7.5;
/** A long number is written smaller. */
const TITLE = { most: 20, least: 13 };
/** Between two columns. */
const GAP = 18;
/** What a line's description keeps of the width. */
const LEAST_DESCRIPTION = 150;
/** More VAT rates than these are a table of their own above the totals. */
const MOST_RATES_BESIDE = 12;

/** The bytes of the PDF. */
export async function documentPdf(content: DocumentContent, options: PdfOptions): Promise<Uint8Array> {
  return new Sheets(content, options).draw();
}

/** Everything that the bytes follow from. */
function hashOf(content: DocumentContent, { logo, ...options }: PdfOptions): string {
  const hash = createHash('sha256').update(JSON.stringify([content, options, logo?.mime]));
  return hash.update(logo?.bytes ?? '').digest('hex');
}

class Sheets {
  readonly #content: DocumentContent;
  readonly #options: PdfOptions;
  readonly #paper: Paper;
  readonly #accent: string;
  /** `Factura F-2026/0001` */
  readonly #name: string;

  constructor(content: DocumentContent, options: PdfOptions) {
    this.#content = content;
    this.#options = options;
    this.#accent = readableColor(options.color);
    this.#name = nameOf(content);
    const date = new Date(`${content.fecha}T00:00:00Z`);
    this.#paper = new Paper({
      Title: this.#name,
      Author: content.emisor.nombre_fiscal,
      Subject: content.concepto,
      Creator: 'Albaran',
      CreationDate: date,
      ModDate: date,
      ContentHash: hashOf(content, options),
    });
  }

  async draw(): Promise<Uint8Array> {
    const paper = this.#paper;
    paper.newPage();
    paper.onNewPage = () => this.#runningHead();
    this.#head();
    this.#parties();
    this.#rectified();
    this.#lines();
    this.#totals();
    this.#reasons();
    this.#payment();
    this.#remarks();
    paper.eachPage((page, pages) => {
      this.#foot(page, pages);
      if (this.#options.test) this.#test();
    });
    return paper.bytes();
  }

  /** Who it is from, with the logo, and the QR code. */
  #head(): void {
    const paper = this.#paper;
    const { emisor } = this.#content;
    const { verifactu } = this.#options;
    const top = paper.y;
    const width = verifactu ? WIDTH - QR.side - QR.beside : WIDTH;
    const hasLogo = this.#logo();
    const name = paper.broken(emisor.nombre_fiscal, width, { size: hasLogo ? 10.5 : 14, face: 'bold' });
    paper.y = paper.place(name, LEFT, paper.y) + 1;
    paper.y = paper.place(
      detailsOf(emisor).flatMap((text) => paper.broken(text, width, { size: SMALL, color: GREY })),
      LEFT,
      paper.y,
    );
    if (verifactu) paper.y = Math.max(paper.y, this.#qr(verifactu, top));

    paper.y += 16;
    const title = [
      { text: titleOf(this.#content), face: 'bold' },
      { text: this.#content.numero ? ` ${this.#content.numero}` : '', face: 'regular' },
    ] as const;
    const natural = title.reduce(
      (width, { text, face }) => width + paper.widthOf(printable(text), TITLE.most, face),
      0,
    );
    const size = Math.max(TITLE.least, Math.min(TITLE.most, (TITLE.most * (WIDTH - 1)) / natural));
    paper.y = paper.place(paper.brokenRuns(title, WIDTH, { size, color: this.#accent }), LEFT, paper.y) + 5;
    paper.rule(paper.y, { color: this.#accent, width: 1.2 });
    paper.y += 12;
  }

  /** Whether there is one. */
  #logo(): boolean {
    const paper = this.#paper;
    const { logo } = this.#options;
    if (!logo) return false;
    const bytes = Buffer.from(logo.bytes);
    if (pictureType(bytes) !== logo.mime) return false;
    try {
      const image = paper.doc.openImage(bytes);
      const { orientation = 1 } = image;
      // Photographs may lie on their side.
      const [width, height] = orientation > 4 ? [image.height, image.width] : [image.width, image.height];
      const scale = Math.min(LOGO.width / width, LOGO.height / height);
      if (!Number.isFinite(scale)) return false;
      paper.doc.image(bytes, LEFT, paper.y, { width: width * scale, height: height * scale });
      paper.y += height * scale + 12;
      return true;
    } catch {
      return false;
    }
  }

  #qr({ qr, legend }: { qr: string; legend: boolean }, top: number): number {
    const paper = this.#paper;
    const left = RIGHT - QR.side;
    const centred = (text: string, y: number, face: 'regular' | 'bold') => {
      const width = paper.widthOf(text, SMALL, face);
      paper.write(text, left + (QR.side - width) / 2, y, width, { size: SMALL, face });
    };
    // Capitals begin a third of their size below a line's top, and end a third above its bottom.
    const height = leading(SMALL);
    centred('QR tributario:', top - 2, 'regular');
    const y = top + height + QR.between - 5;
    drawQr(paper.doc, qr, left, y, QR.side);
    paper.doc.link(left, y, QR.side, QR.side, qr);
    if (!legend) return y + QR.side + QR.between;
    centred('VERI*FACTU', y + QR.side + QR.between - 3, 'bold');
    return y + QR.side + QR.between + height;
  }

  /** On the left what the document is about, on the right whom it is to. */
  #parties(): void {
    const paper = this.#paper;
    const { fecha, valido_hasta, vencimientos, concepto, promo_code, cliente } = this.#content;
    const [due, ...furtherDue] = vencimientos;
    const facts: [string, string][] = [['Fecha', day(fecha)]];
    if (valido_hasta) facts.push(['Válido hasta', day(valido_hasta)]);
    if (due && furtherDue.length === 0) facts.push(['Vencimiento', day(due.fecha)]);
    if (promo_code) facts.push(['Código promocional', promo_code]);
    if (concepto) facts.push(['Concepto', concepto]);

    const details = detailsOf(cliente);
    const hasClient = cliente.nombre_fiscal !== '' || details.length > 0;
    const half = hasClient ? (WIDTH - GAP) / 2 : WIDTH;
    const column = Math.max(...facts.map(([label]) => paper.widthOf(label, SMALL))) + 12;
    const top = paper.y;
    for (const [label, value] of facts) {
      paper.write(label, LEFT, paper.y + 0.8, column, { size: SMALL, color: GREY });
      const lines = paper.broken(value, half - column);
      paper.y = paper.place(lines, LEFT + column, paper.y) + 2;
    }
    let bottom = paper.y;
    if (hasClient) {
      const inner = half - 24;
      const left = LEFT + half + GAP;
      const lines = [
        ...paper.broken('CLIENTE', inner, { size: 6.5, face: 'bold', color: GREY }),
        ...paper.broken(cliente.nombre_fiscal, inner, { size: 10.5, face: 'bold' }),
        ...details.flatMap((text) => paper.broken(text, inner, { size: 8.5 })),
      ];
      const height = heightOf(lines) + 18;
      paper.doc.roundedRect(left, top - 2, half, height, 4).fill(PANEL);
      paper.place(lines, left + 12, top + 7);
      bottom = Math.max(bottom, top - 2 + height);
    }
    paper.y = bottom + 14;
  }

  /** What a rectifying invoice rectifies, and why. RD 1619/2012, article 15 */
  #rectified(): void {
    const { rectifica } = this.#content;
    if (!rectifica) return;
    const paper = this.#paper;
    this.#marked([
      ...paper.broken(whatItRectifies(rectifica), WIDTH - 14, { face: 'bold' }),
      ...paper.broken(rectifica.motivo && `Motivo: ${rectifica.motivo}`, WIDTH - 14),
    ]);
    paper.y += 12;
  }

  /** Text with a coloured bar beside it; a longer one than a page has none. */
  #marked(lines: readonly Line[]): void {
    const paper = this.#paper;
    const height = heightOf(lines);
    if (height <= paper.wholePage) {
      paper.need(height);
      paper.doc.rect(LEFT, paper.y, 2.5, height).fill(this.#accent);
    }
    paper.flow(lines, LEFT + 14);
  }

  #lines(): void {
    const paper = this.#paper;
    const { lineas } = this.#content;
    const { columns, size } = this.#columns();
    const [, ...numbers] = columns;
    const description = columns[0]?.width ?? WIDTH;

    const head = () => {
      const height = 19;
      paper.doc.rect(LEFT, paper.y, WIDTH, height).fill(PANEL);
      paper.write('Descripción', LEFT + 6, paper.y + 4.4, description, { size: LABEL, face: 'bold' });
      for (const { title, x, width } of numbers) {
        paper.write(title, x, paper.y + 4.4, width - 6, { size: LABEL, face: 'bold', align: 'right' });
      }
      paper.y += height;
    };
    const onNewPage = paper.onNewPage;
    paper.need(90);
    head();
    paper.onNewPage = () => {
      onNewPage();
      head();
    };
    for (const [index, line] of lineas.entries()) {
      let rest = this.#described(line, description - 14);
      let isFirst = true;
      const after = index === lineas.length - 1 ? this.#totalsHeight() : 0;
      // The totals don't stand on a page without any line.
      const height = heightOf(rest) + 11 + after;
      const isShort = heightOf(rest) <= paper.wholePage / 3;
      if (paper.room < (isShort ? height : 70)) paper.newPage();
      do {
        paper.y += 5;
        const count = paper.fitting(rest, paper.room - 6);
        const top = paper.y;
        // In the order in which it is read.
        const second = paper.place(rest.slice(0, 1), LEFT + 6, top);
        for (const { x, width, text } of isFirst ? numbers : []) {
          paper.write(text[index] ?? '', x, top, width - 6, { size, align: 'right' });
        }
        paper.y = paper.place(rest.slice(1, count), LEFT + 6, second) + 6;
        isFirst = false;
        paper.rule(paper.y);
        rest = rest.slice(count);
        if (rest.length > 0) paper.newPage();
      } while (rest.length > 0);
    }
    paper.onNewPage = onNewPage;
    paper.y += 14;
  }

  /** A line's description, the extended one and a reservation's days beneath. */
  #described(line: ContentLine, width: number): Line[] {
    const paper = this.#paper;
    const grey = { size: SMALL, color: GREY };
    const lines = [
      ...paper.broken(line.descripcion, width),
      ...paper.broken(line.descripcion_ampliada ?? '', width, grey),
      ...paper.broken(daysOf(line), width, grey),
    ];
    return lines.length > 0 ? lines : [{ runs: [], size: BODY, color: INK }];
  }

  /** The columns, as wide as what is in them; very long numbers are written smaller. */
  #columns() {
    const { lineas } = this.#content;
    const column = (title: string, of: (line: ContentLine) => string) => ({ title, text: lineas.map(of) });
    const numbers = [
      column('Cantidad', ({ cantidad }) => decimal(cantidad)),
      column('Precio', ({ importe_unitario }) => euros(importe_unitario)),
      ...(lineas.some(({ descuento }) => !isZero(descuento))
        ? [column('Dto.', ({ descuento }) => (isZero(descuento) ? '' : percent(descuento)))]
        : []),
      column('IVA', vatOf),
      column('Importe', ({ importe }) => euros(importe)),
    ];
    const paper = this.#paper;
    const padding = 14;
    const widths = numbers.map(({ title, text }) =>
      Math.max(paper.widthOf(title, LABEL, 'bold'), ...text.map((one) => paper.widthOf(printable(one), BODY))),
    );
    const natural = widths.reduce((total, width) => total + width, 0);
    const most = WIDTH - LEAST_DESCRIPTION - numbers.length * padding;
    const scale = Math.min(1, most / natural);
    let x = RIGHT;
    const placed = numbers
      .map((each, index) => ({ ...each, width: (widths[index] ?? 0) * scale + padding }))
      .reverse()
      .map((each) => {
        x -= each.width;
        return { ...each, x };
      })
      .reverse();
    return { columns: [{ title: 'Descripción', text: [], x: LEFT, width: x - LEFT }, ...placed], size: BODY * scale };
  }

  #totalsHeight(): number {
    const rates = this.#content.desglose.length;
    return Math.max(sumsOf(this.#content).length * 15 + 40, rates > MOST_RATES_BESIDE ? 0 : rates * 14 + 40);
  }

  /** VAT by rate, and the sums. RD 1619/2012, article 6.1, f) to h) */
  #totals(): void {
    const paper = this.#paper;
    const { desglose } = this.#content;
    const isBeside = desglose.length <= MOST_RATES_BESIDE;
    if (isBeside) paper.need(this.#totalsHeight());
    const top = paper.y;
    const half = (WIDTH - GAP) / 2;
    this.#rates(isBeside ? half : WIDTH);
    const bottom = paper.y;
    if (isBeside) paper.y = top;
    else {
      paper.y += 14;
      paper.need(this.#totalsHeight());
    }

    const left = RIGHT - half;
    const sums = sumsOf(this.#content);
    for (const [index, [label, amount]] of sums.entries()) {
      if (index < sums.length - 1) {
        paper.write(label, left + 10, paper.y + 2, half, { color: GREY });
        paper.write(euros(amount), left, paper.y + 2, half - 10, { align: 'right' });
        paper.y += 15;
      } else {
        paper.y += 4;
        const height = 27;
        paper.doc.roundedRect(left, paper.y, half, height, 4).fill(this.#accent);
        const white = { face: 'bold', color: '#ffffff' } as const;
        paper.write(label, left + 10, paper.y + 6, half, { ...white, size: 10.5 });
        paper.write(euros(amount), left, paper.y + 4.6, half - 10, { ...white, size: 12.5, align: 'right' });
        paper.y += height;
      }
    }
    paper.y = Math.max(paper.y, isBeside ? bottom : 0) + 16;
  }

  #rates(width: number): void {
    const paper = this.#paper;
    const { desglose } = this.#content;
    const hasSurcharge = desglose.some(({ recargo }) => !isZero(recargo));
    const titles = ['Tipo de IVA', 'Base', 'Cuota', ...(hasSurcharge ? ['Recargo', 'Cuota rec.'] : [])];
    const rows = desglose.map(({ base, cuota, cuota_recargo, recargo, ...rate }) => [
      rate.exencion ? WITHOUT_VAT[rate.exencion] : percent(rate.iva),
      euros(base),
      euros(cuota),
      ...(hasSurcharge ? [isZero(recargo) ? '' : percent(recargo), isZero(recargo) ? '' : euros(cuota_recargo)] : []),
    ]);
    const widths = titles.map((title, column) =>
      Math.max(
        paper.widthOf(title, LABEL, 'bold'),
        ...rows.map((row) => paper.widthOf(printable(row[column] ?? ''), SMALL)),
      ),
    );
    const natural = widths.reduce((total, each) => total + each, 0) + 10 * titles.length;
    const scale = Math.min(1, width / natural);
    const spare = Math.max(0, width - natural) / titles.length;
    const ends: number[] = [];
    let x = LEFT;
    for (const each of widths) {
      x += (each + 10) * scale + spare;
      ends.push(x);
    }
    const write = (row: readonly string[], size: number, look: { face?: 'bold'; color: string }) => {
      for (const [column, text] of row.entries()) {
        const align = column === 0 ? 'left' : 'right';
        const from = (ends[column - 1] ?? LEFT) + (column === 0 ? 6 : 0);
        paper.write(text, from, paper.y + 3, (ends[column] ?? 0) - from - 6, { size: size * scale, align, ...look });
      }
    };
    const head = () => {
      write(titles, LABEL, { face: 'bold', color: GREY });
      paper.y += 16;
      paper.rule(paper.y, { to: LEFT + width });
    };
    const onNewPage = paper.onNewPage;
    paper.need(60);
    head();
    paper.onNewPage = () => {
      onNewPage();
      head();
    };
    for (const row of rows) {
      paper.need(15);
      write(row, SMALL, { color: INK });
      paper.y += 14;
    }
    paper.onNewPage = onNewPage;
  }

  /** Why some lines have no VAT, and the scheme of the others. */
  #reasons(): void {
    const paper = this.#paper;
    const used = new Set(this.#content.desglose.flatMap(({ exencion }) => exencion ?? []));
    for (const exemption of [...used].sort()) {
      const runs = [
        { text: `${WITHOUT_VAT[exemption]}: `, face: 'bold' },
        { text: REASONS[exemption], face: 'regular' },
      ] as const;
      paper.flow(paper.brokenRuns(runs, WIDTH, { size: SMALL }), LEFT);
      paper.y += 2;
    }
    const scheme = schemeOf(this.#content);
    paper.flow(paper.broken(scheme && `${scheme}.`, WIDTH, { size: SMALL, face: 'bold' }), LEFT);
    if (used.size > 0 || scheme) paper.y += 10;
  }

  /** When and where to pay. */
  #payment(): void {
    const paper = this.#paper;
    const { tipo, vencimientos, emisor } = this.#content;
    if (tipo !== 'factura') return;
    const account = iban(emisor.iban);
    if (vencimientos.length === 0 && account === '') return;
    this.#label('Pago', 24);
    if (account) {
      const label = 'Cuenta (IBAN)';
      paper.write(label, LEFT, paper.y + 0.8, WIDTH, { size: SMALL, color: GREY });
      const indent = paper.widthOf(label, SMALL) + 8;
      paper.flow(
        paper.broken(account, WIDTH - indent, { face: 'bold' }).map((line) => ({ ...line, indent })),
        LEFT,
      );
      paper.y += 3;
    }
    const across = 3;
    const width = WIDTH / across;
    const label = vencimientos.length > 1 ? 'Vence el ' : 'Vencimiento: ';
    for (let index = 0; index < vencimientos.length; index += across) {
      paper.need(leading(BODY));
      for (const [column, { fecha, importe }] of vencimientos.slice(index, index + across).entries()) {
        const text = `${day(fecha)}, ${euros(importe)}`;
        const left = LEFT + column * width;
        paper.write(label, left, paper.y + 0.8, width, { size: SMALL, color: GREY });
        paper.write(text, left + paper.widthOf(label, SMALL) + 2, paper.y, width);
      }
      paper.y += leading(BODY) + 1;
    }
    paper.y += 12;
  }

  #remarks(): void {
    const paper = this.#paper;
    const paragraphs = paragraphsOf(this.#content.observaciones);
    if (paragraphs.length === 0) return;
    this.#label('Observaciones', 30);
    const size = 8.5;
    for (const { runs, bullet, depth } of paragraphs) {
      const indent = depth * 14;
      const lines = paper.brokenRuns(runs, WIDTH - indent, { size }).map((line) => ({ ...line, indent }));
      if (paper.fitting(lines, paper.room) === 0) paper.newPage();
      if (bullet) paper.write(bullet, LEFT + indent - 12, paper.y, 12, { size });
      paper.flow(lines, LEFT);
      paper.y += depth > 0 ? 1.5 : 4;
    }
  }

  /** A heading that stays with what follows. */
  #label(text: string, following: number): void {
    const paper = this.#paper;
    paper.need(15 + following);
    paper.write(text, LEFT, paper.y, WIDTH, { size: BODY, face: 'bold', color: this.#accent });
    paper.y += 15;
  }

  /** On every page after the first. */
  #runningHead(): void {
    const paper = this.#paper;
    const { emisor, fecha } = this.#content;
    const look = { size: SMALL, color: GREY };
    const date = day(fecha);
    const width = WIDTH - paper.widthOf(date, SMALL) - 12;
    const runs = [
      { text: this.#name, face: 'bold' },
      { text: ` · ${emisor.nombre_fiscal}`, face: 'regular' },
    ] as const;
    paper.place([paper.cut(runs, width, look)], LEFT, paper.y);
    paper.write(date, LEFT, paper.y, WIDTH, { ...look, align: 'right' });
    paper.y += 15;
    paper.rule(paper.y);
    paper.y += 14;
  }

  #foot(page: number, pages: number): void {
    const paper = this.#paper;
    const { nombre_fiscal, cif } = this.#content.emisor;
    const y = SHEET.height - 40;
    const look = { size: LABEL, color: GREY };
    const number = `Página ${page} de ${pages}`;
    const text = [nombre_fiscal, cif && `NIF ${cif}`].filter(Boolean).join(' · ');
    const width = WIDTH - paper.widthOf(number, LABEL) - 20;
    paper.rule(y - 6);
    paper.place([paper.cut([{ text, face: 'regular' }], width, look)], LEFT, y);
    paper.write(number, LEFT, y, WIDTH, { ...look, align: 'right' });
  }

  #test(): void {
    const { doc } = this.#paper;
    const [x, y] = [SHEET.width / 2, SHEET.height / 2];
    const size = 120;
    const width = this.#paper.widthOf('PRUEBAS', size, 'bold');
    doc
      .save()
      .rotate(-52, { origin: [x, y] })
      .fillOpacity(0.1);
    doc
      .font('bold', size)
      .fillColor('#c0392b')
      .text('PRUEBAS', x - width / 2, y - leading(size) / 2, { lineBreak: false });
    doc.restore().fillOpacity(1);
  }
}
