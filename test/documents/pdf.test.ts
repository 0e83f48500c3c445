// PDFs of documents: what can be read of them, and that the same document is always the same file.
import { deflateSync, inflateSync } from 'node:zlib';
import decodeQR from 'qr/decode.js';
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, expect, test } from 'vitest';
import { type DocumentContent, INVOICE_TYPES, type InvoiceType } from '../../documents/content.ts';
import { readableColor } from '../../documents/pdf/color.ts';
import { documentPdf, type PdfOptions } from '../../documents/pdf/document.ts';
import { drawPdf } from '../../documents/pdf/draw.ts';
import { FACES, fonts, printable } from '../../documents/pdf/fonts.ts';
import { day, decimal, euros, iban, percent, sum } from '../../documents/pdf/formats.ts';
import { type PictureType, pictureType } from '../../documents/pdf/logo.ts';
import { paragraphsOf } from '../../documents/pdf/remarks.ts';
import { EXEMPTIONS } from '../../entities/values.ts';
import { Threads } from '../../platform/threads.ts';
import { chunk, JPEG, png } from './pictures.ts';
import { invoice, line } from './sample.ts';

const OWN: PdfOptions = { test: false };

/** The text of each page, its spaces plain. */
async function pagesOf(content: DocumentContent, options = OWN): Promise<string[]> {
  const { text } = await extractText(await getDocumentProxy(await documentPdf(content, options)), {
    mergePages: false,
  });
  return text.map((page) => page.replaceAll('\u00a0', ' '));
}
const textOf = async (content: DocumentContent, options?: PdfOptions) => (await pagesOf(content, options)).join('\n');

test('[DOC-03] what an invoice says can be read in its PDF', async () => {
  const text = await textOf(
    invoice({
      promo_code: 'OTOÑO10',
      lineas: [
        line(),
        line({
          descripcion: 'Alquiler',
          descripcion_ampliada: 'Con traslado',
          cantidad: '1234.50',
          importe_unitario: '0.4125',
        }),
        line({ descripcion: 'Andamio', descuento: '12.5', fecha_inicio: '2026-11-09', fecha_fin: '2026-11-13' }),
      ],
      vencimientos: [
        { fecha: '2026-12-22', importe: '514.25' },
        { fecha: '2027-01-22', importe: '514.25' },
      ],
    }),
  );
  for (const part of [
    'Fontanería y Climatización Del Valle, S.L.',
    'NIF B85123459',
    '28005 Madrid\n',
    'Factura F-2026/0427',
    'Fecha 22/11/2026',
    'Código promocional OTOÑO10',
    'Mantenimiento de instalaciones',
    'NIF H81234567',
    '28922 Alcorcón (Madrid)',
    'Sustitución de grupo de presión 1 850,00 € 21 % 850,00 €',
    'Alquiler 1.234,5 0,4125 € 21 % 850,00 €\nCon traslado',
    'Andamio 1 850,00 € 12,5 % 21 % 850,00 €\nDel 09/11/2026 al 13/11/2026',
    '21 % 850,00 € 178,50 €',
    'Base imponible 850,00 €',
    'Total a pagar 1.028,50 €',
    'ES91 2100 0418 4502 0005 1332',
    '22/12/2026, 514,25 €',
    '22/01/2027, 514,25 €',
    'Página 1 de 1',
  ]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain('PRUEBAS');
  expect(text).not.toContain('QR tributario');
});

test('[DOC-03] surcharge, exemptions with their articles, retention and what is rectified', async () => {
  const none = { recargo: '0', base: '10.00', cuota: '0.00', cuota_recargo: '0.00' };
  const text = await textOf(
    invoice({
      tipo_factura: 'R1',
      lineas: [line({ recargo: '5.2', importe: '-850.00', cantidad: '-1' }), line({ iva: '0', exencion: 'E5' })],
      desglose: [
        { iva: '21', recargo: '5.2', exencion: null, base: '-850.00', cuota: '-178.50', cuota_recargo: '-44.20' },
        ...EXEMPTIONS.map((exencion) => ({ ...none, iva: '0', exencion })),
      ],
      base: '-850.00',
      total: '-1072.70',
      retencion: '15.00',
      a_pagar: '-945.20',
      rectifica: { numero: 'F-2026/0401', fecha: '2026-10-31', motivo: 'Llegó dañado' },
    }),
  );
  for (const part of [
    'Factura rectificativa F-2026/0427',
    'Rectifica por diferencias la factura F-2026/0401 de 31/10/2026.',
    'Motivo: Llegó dañado',
    '-1 850,00 € 21 % + 5,2 % -850,00 €',
    '21 % -850,00 € -178,50 € 5,2 % -44,20 €',
    'Recargo de equivalencia -44,20 €',
    'Total factura -1.072,70 €',
    'Retención IRPF 15 % 127,50 €',
    'Total a pagar -945,20 €',
    'Exenta (E1): Operación exenta de IVA según el artículo 20 de la Ley 37/1992.',
    'artículo 25 de la Ley 37/1992: entrega intracomunitaria',
    'No sujeta (N1): Operación no sujeta a IVA según los artículos 7, 14',
    'Inversión (S2): Inversión del sujeto pasivo según el artículo 84.Uno.2.º de la Ley 37/1992',
  ]) {
    expect(text).toContain(part);
  }
});

test('[DOC-03] what is sold under the cash scheme says so, if there is VAT on it', async () => {
  const emisor = { ...invoice().emisor, regimen_iva: 'caja' as const };
  const words = 'Régimen especial del criterio de caja.';
  for (const tipo_factura of ['F1', 'F2', 'R1', 'R5'] as const) {
    expect(await textOf(invoice({ emisor, tipo_factura }))).toContain(words);
  }
  expect(await textOf(invoice())).not.toContain(words);
  expect(await textOf(invoice({ emisor, tipo: 'presupuesto', tipo_factura: null }))).not.toContain(words);
  const exempt = { iva: '0', recargo: '0', base: '850.00', cuota: '0.00', cuota_recargo: '0.00' };
  expect(await textOf(invoice({ emisor, desglose: [{ ...exempt, exencion: 'S2' }] }))).not.toContain(words);
});

test('each kind of document has its name; an estimate its last day, and only an invoice how to pay', async () => {
  const other = { tipo_factura: null, a_pagar: null };
  const named = async (more: Partial<DocumentContent>) => textOf(invoice(more));
  const types: Record<InvoiceType, string> = {
    F1: 'Factura F-',
    F2: 'Factura simplificada F-',
    R1: 'Factura rectificativa F-',
    R2: 'Factura rectificativa F-',
    R3: 'Factura rectificativa F-',
    R4: 'Factura rectificativa F-',
    R5: 'Factura simplificada rectificativa F-',
  };
  for (const tipo_factura of INVOICE_TYPES) expect(await named({ tipo_factura })).toContain(types[tipo_factura]);
  const estimate = await named({ ...other, tipo: 'presupuesto', valido_hasta: '2026-12-31' });
  expect(estimate).toMatch(/Presupuesto F-[\s\S]*Válido hasta 31\/12\/2026[\s\S]*Total 1\.028,50 €/);
  expect(estimate).not.toContain('IBAN');
  expect(await named({ ...other, tipo: 'albaran', numero: null })).toMatch(/^Albarán\n/m);
});

test('[DOC-03] the same document gives the same bytes, and any other one another file id', async () => {
  const verifactu = { qr: 'https://example.es/?nif=B85123459', legend: true };
  const options = { test: true, color: '#0f766e', verifactu };
  const [one, again] = [await documentPdf(invoice(), options), await documentPdf(invoice(), structuredClone(options))];
  expect(Buffer.from(again).equals(one)).toBe(true);
  const idOf = (bytes: Uint8Array) => /\/ID \[<(\w+)>/.exec(Buffer.from(bytes).toString('latin1'))?.[1];
  const others = await Promise.all([
    documentPdf(invoice({ concepto: 'Otro' }), options),
    documentPdf(invoice(), { ...options, test: false }),
    documentPdf(invoice(), { ...options, color: undefined }),
    documentPdf(invoice(), { ...options, logo: { bytes: new Uint8Array([1]), mime: 'image/png' } }),
  ]);
  expect(new Set([one, ...others].map(idOf)).size).toBe(5);
  const { info } = await (await getDocumentProxy(one)).getMetadata();
  expect(info).toMatchObject({
    Title: 'Factura F-2026/0427',
    Author: 'Fontanería y Climatización Del Valle, S.L.',
    CreationDate: 'D:20261122000000Z',
    ModDate: 'D:20261122000000Z',
    Language: 'es-ES',
  });
});

test('20 lines take less than 200 kB; 500 lines go over pages with their head, each whole, the totals with the last one', async () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => line({ descripcion: `Partida ${index + 1}.` }));
  expect((await documentPdf(invoice({ lineas: lines(20) }), OWN)).length).toBeLessThan(200_000);

  const pages = await pagesOf(invoice({ lineas: lines(500) }), { test: true });
  expect(pages.length).toBe(18);
  for (const [index, page] of pages.entries()) {
    expect(page).toContain(`Página ${index + 1} de 18`);
    expect(page).toContain('Descripción Cantidad Precio IVA Importe');
    expect(page).toContain('PRUEBAS');
    if (index > 0) expect(page).toMatch(/^Factura F-2026\/0427 · Fontanería/);
  }
  const found = [...pages.join('\n').matchAll(/Partida (\d+)\. 1 850,00 € 21 % 850,00 €/g)].map(([, number]) =>
    Number(number),
  );
  expect(found).toEqual(lines(500).map((_, index) => index + 1));
  expect(pages.at(-1)).toContain('Partida 500.');
  expect(pages.at(-1)).toContain('Total a pagar');
});

test('a long description goes on over pages, and no page has a single line of it; a word longer than a column is broken', async () => {
  const words = Array.from({ length: 1500 }, (_, index) => `palabra${index}`);
  const pages = await pagesOf(
    invoice({ lineas: [line({ descripcion_ampliada: words.join(' ') }), line({ descripcion: 'A'.repeat(400) })] }),
  );
  const found = pages.map((page) => page.match(/palabra\d+/g) ?? []);
  expect(found.flat()).toEqual(words);
  for (const each of found.filter(({ length }) => length > 0)) expect(each.length).toBeGreaterThan(6);
  expect(
    pages
      .join('')
      .match(/A{10,}/g)
      ?.join('').length,
  ).toBe(400);
});

test('many VAT rates, due dates and long numbers have room', async () => {
  const rates = Array.from({ length: 80 }, (_, index) => ({
    iva: `${index}.5`,
    recargo: '0',
    exencion: null,
    base: '1.00',
    cuota: '0.01',
    cuota_recargo: '0.00',
  }));
  const dates = Array.from({ length: 200 }, (_, index) => ({ fecha: '2026-12-31', importe: `${index}.01` }));
  const text = await textOf(
    invoice({
      desglose: rates,
      vencimientos: dates,
      lineas: [
        line({ cantidad: '-123456789.123456', importe_unitario: '-999999999.1234567891', importe: '-1000000000.00' }),
      ],
    }),
  );
  for (const { iva } of rates) expect(text).toContain(`${decimal(iva)} %`);
  for (const { importe } of dates) expect(text).toContain(`, ${decimal(importe, 2)} €`);
  expect(text).toContain('-123.456.789,123456 -999.999.999,1234567891 € 21 % -1.000.000.000,00 €');
});

test('[DOC-03] the QR code holds the address, is 34 mm wide at the top of the first page, and its words are around it', async () => {
  const qr =
    'https://prewww2.aeat.es/wlpl/TIKE-CONT/ValidarQR?nif=B85123459&numserie=12345678%26G33&fecha=22-11-2026&importe=1028.50';
  const lineas = Array.from({ length: 60 }, () => line());
  const content = invoice({ lineas });
  const bytes = await documentPdf(content, { test: false, verifactu: { qr, legend: true } });
  const squares = streamsOf(bytes).map((stream) =>
    [...stream.matchAll(/^([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re$/gm)].map((match) => match.slice(1).map(Number)),
  );
  const drawn = squares.filter((found) => found.length > 500);
  expect(drawn.length, 'once').toBe(1);
  const code = (drawn[0] ?? []).filter(([, y = 0]) => y < 200);
  const x = Math.min(...code.map(([left = 0]) => left));
  const y = Math.min(...code.map(([, top = 0]) => top));
  const side = Math.max(...code.map(([left = 0, , width = 0]) => left + width)) - x;
  expect((side / 72) * 25.4).toBeCloseTo(34, 1);
  const scale = 400 / side;
  const size = 480;
  const image = new Uint8Array(size * size * 4).fill(255);
  for (const [left = 0, top = 0, width = 0, height = 0] of code) {
    for (let row = Math.round((top - y) * scale); row < Math.round((top + height - y) * scale); row++) {
      const from = (row + 40) * size + 40 + Math.round((left - x) * scale);
      image.fill(0, from * 4, (from + Math.round(width * scale)) * 4);
    }
  }
  for (let at = 3; at < image.length; at += 4) image[at] = 255;
  expect(decodeQR({ width: size, height: size, data: image })).toBe(qr);

  const [first, ...more] = await pagesOf(content, { test: false, verifactu: { qr, legend: true } });
  expect(first).toMatch(/QR tributario:[\s\S]*VERI\*FACTU[\s\S]*Factura F-/);
  expect(more.join('')).not.toContain('QR tributario');
  expect(await textOf(content, { test: false, verifactu: { qr, legend: false } })).not.toContain('VERI*FACTU');
});

/** The inflated streams of a file. */
function streamsOf(bytes: Uint8Array): string[] {
  const file = Buffer.from(bytes);
  const found: string[] = [];
  for (let at = file.indexOf('stream\n'); at >= 0; at = file.indexOf('stream\n', at + 1)) {
    if (file.toString('latin1', at - 3, at) === 'end') continue;
    try {
      found.push(inflateSync(file.subarray(at + 7)).toString('latin1'));
    } catch {
      // Not a compressed one.
    }
  }
  return found;
}

test('remarks: the text of HTML with its emphasis, breaks and lists, and nothing that runs', () => {
  const shown = (html: string) =>
    paragraphsOf(html).map(({ runs, bullet, depth }) => [
      bullet,
      depth,
      runs.map(({ text, face }) => (face === 'regular' ? text : `${face}(${text})`)).join(''),
    ]);
  expect(shown('<p>Uno <b>dos <i>tres</i></b><br>cuatro</p><ul><li>a<li>b<ol><li>c</li></ol></ul>')).toEqual([
    ['', 0, 'Uno bold(dos )boldItalic(tres)\ncuatro'],
    ['•', 1, 'a'],
    ['•', 1, 'b'],
    ['1.', 2, 'c'],
  ]);
  expect(shown('Sin etiquetas:\n 3 < 4 & 5 &euro;\nfin')).toEqual([['', 0, 'Sin etiquetas:\n 3 < 4 & 5 €\nfin']]);
  expect(
    shown(
      `<style>p{}</style><script>alert(1)</script><p onclick="x()">a<img src=x onerror=alert(1)><svg><script>y</script></svg><!-- z -->b</p>`,
    ),
  ).toEqual([['', 0, 'ab']]);
  expect(shown('<p>&lt;script&gt;</p>')).toEqual([['', 0, '<script>']]);
  expect(shown('</b></i></p></ul></li><p>x')).toEqual([['', 0, 'x']]);
  expect(shown('<p> </p><ul><li></ul>')).toEqual([]);
});

test('hostile remarks and texts are printed as text, whatever they hold', async () => {
  const hostile = [
    '<b>'.repeat(6000),
    `${'<ul><li>'.repeat(2400)}x`,
    '<'.repeat(20_000),
    `<p>${'&'.repeat(10_000)}`,
    'x'.repeat(20_000),
    '\u202e\u0000\ufeff\ud800 <p>\u2028a\u200db',
    '(\\) Tj ET endstream endobj %%EOF',
  ];
  for (const observaciones of hostile) {
    const content = invoice({
      observaciones,
      concepto: observaciones.slice(0, 500),
      numero: observaciones.slice(0, 30),
    });
    await expect(textOf(content), observaciones.slice(0, 20)).resolves.toContain('Total a pagar');
  }
});

test('every face has the letters of the languages of Spain and around; other scripts show as unknown ones', () => {
  const letters = [
    'ÁÉÍÓÚÜÑáéíóúüñ¡¿ªº€«»“”‘’–—…·•',
    'ÀÈÌÒÙÏÇŀĿàèìòùïç',
    'ÃÕÂÊÔãõâêô',
    'ĄĆĘŁŃÓŚŹŻąćęłńóśźż',
    'ČĎĚŇŘŠŤŮÝŽčďěňřšťůýž',
    'ĞİŞÖğışö',
    'ÄÖẞßÅÆØåæøŒœÎîËëŸÿŐŰőűȘȚșțĀāŅņĐđ',
    '½²³%‰©®™×−',
  ].join('');
  for (const character of letters) {
    for (const face of FACES) {
      expect(fonts[face].hasGlyphForCodePoint(character.codePointAt(0) ?? 0), `${character} ${face}`).toBe(true);
    }
  }
  expect(printable(letters)).toBe(letters.normalize('NFC'));
  expect(printable('n\u0303, e\u0301\tx\r\ny')).toBe('ñ, é x\ny');
  expect(printable('中文 \u{1F3D7}\ufe0f \ud800')).toBe('\ufffd\ufffd \ufffd \ufffd');
  expect(printable('a\u202e\u200db\u0007')).toBe('ab');
});

test('amounts, dates and accounts as Spain writes them, exactly', () => {
  expect(
    ['0', '-0.00', '1234.5', '-1234567.891', '999', '0.4125', '10.00', '007.10'].map((text) => decimal(text, 2)),
  ).toEqual(['0,00', '0,00', '1.234,50', '-1.234.567,891', '999,00', '0,4125', '10,00', '7,10']);
  expect(decimal('2.000')).toBe('2');
  expect(euros('98765432109876543210.01')).toBe('98.765.432.109.876.543.210,01\u00a0€');
  expect(percent('5.20')).toBe('5,2\u00a0%');
  expect(sum(['0.1', '0.2', '-0.30'])).toBe('0.00');
  expect(sum(['-0.05', '0.01'])).toBe('-0.04');
  expect(sum([])).toBe('0');
  expect(() => decimal('1e3')).toThrow('Not a decimal');
  expect(day('2026-11-22')).toBe('22/11/2026');
  expect(iban(' es91 2100 0418 4502 0005 1332')).toBe('ES91\u00a02100\u00a00418\u00a04502\u00a00005\u00a01332');
});

test('a colour is dark enough to be read; a logo that is no picture is left out', async () => {
  expect(readableColor('#0f766e')).toBe('#0f766e');
  expect(readableColor('nada')).toBe(readableColor(undefined));
  expect(readableColor('#ffff00')).not.toBe('#ffff00');
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const broken = Buffer.from(pixel);
  broken.fill(7, 45, 50);
  const huge = Buffer.from(pixel);
  huge.writeUInt32BE(100_000, 16);
  const pictures = async (bytes: Uint8Array, mime: string) => {
    const file = Buffer.from(await documentPdf(invoice(), { test: false, logo: { bytes, mime } }));
    return file.toString('latin1').split('/Subtype /Image').length - 1;
  };
  expect(await pictures(pixel, 'image/png'), 'the picture and its transparency').toBe(2);
  for (const bytes of [broken, huge, Buffer.from('no'), pixel.subarray(0, 40)])
    expect(await pictures(bytes, 'image/png')).toBe(0);
  for (const bytes of [Buffer.from('\xff\xd8\xff', 'latin1'), Buffer.alloc(0)])
    expect(await pictures(bytes, 'image/jpeg')).toBe(0);
});

test('[DOC-03] a logo is a whole picture of a moderate size that is drawn as it is', async () => {
  const palette = chunk('PLTE', Buffer.from([15, 118, 110, 255, 255, 255]));
  const clear = chunk('tRNS', Buffer.from([0, 128]));
  const drawn: [string, Buffer, PictureType, pictures: number][] = [
    ['colours with transparency', png(), 'image/png', 2],
    ['16 bits with transparency', png({ depth: 16, kind: 4 }), 'image/png', 2],
    ['colours', png({ kind: 2 }), 'image/png', 1],
    ['black and white', png({ kind: 0, depth: 1 }), 'image/png', 1],
    ['a small palette', png({ kind: 3, depth: 2, more: [palette] }), 'image/png', 1],
    ['a palette with transparency', png({ kind: 3, more: [palette, clear] }), 'image/png', 2],
    ['with comments', png({ more: [chunk('tEXt', Buffer.from('Software\0Lápiz', 'latin1'))] }), 'image/png', 2],
    ['a photograph', JPEG, 'image/jpeg', 1],
  ];
  for (const [name, bytes, type, pictures] of drawn) {
    expect([name, pictureType(bytes)]).toEqual([name, type]);
    const file = Buffer.from(await documentPdf(invoice(), { test: false, logo: { bytes, mime: type } }));
    expect([name, file.toString('latin1').split('/Subtype /Image').length - 1]).toEqual([name, pictures]);
  }
  const sound = png();
  const changed = (bytes: Buffer, at: number, value: number) => {
    const other = Buffer.from(bytes);
    other[at] = value;
    return other;
  };
  const frame = JPEG.indexOf(Buffer.from([0xff, 0xc0]));
  const wrong: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    'an SVG': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    'a damaged head': changed(sound, 20, 1),
    'a damaged pixel': changed(sound, sound.length - 20, 7),
    'cut off': sound.subarray(0, -12),
    'a part longer than the file': Buffer.concat([sound.subarray(0, -12), Buffer.from('fffffff0', 'hex')]),
    'no pixels': png({ width: 0 }),
    'too many pixels': png({ width: 4_000_001, height: 1, kind: 0, depth: 1 }),
    'more pixels than it says': png({ more: [chunk('IDAT', deflateSync(Buffer.alloc(5000)))] }),
    'two heads': png({ more: [sound.subarray(8, 33)] }),
    '3 bits': png({ kind: 0, depth: 3 }),
    'an animation': png({ more: [chunk('acTL', Buffer.alloc(8))] }),
    'a palette without colours': png({ kind: 3 }),
    'a palette that ends within a colour': png({ kind: 3, more: [chunk('PLTE', Buffer.alloc(4))] }),
    'colours with a palette': png({ kind: 2, more: [palette] }),
    'a small palette with transparency': png({ kind: 3, depth: 2, more: [palette, clear] }),
    'a transparent colour': png({ kind: 2, more: [chunk('tRNS', Buffer.alloc(6))] }),
    'interlaced bits': png({ kind: 0, depth: 1, interlaced: 1 }),
    'a comment that can’t be read': png({ more: [chunk('tEXt', Buffer.alloc(60_001))] }),
    'a photograph cut off': JPEG.subarray(0, -2),
    'a photograph without a frame': JPEG.subarray(0, frame),
    'an unusual frame': changed(JPEG, frame + 1, 0xc3),
    'a photograph of no height': changed(changed(JPEG, frame + 5, 0), frame + 6, 0),
    'a photograph of 12 bits': changed(JPEG, frame + 4, 12),
    'a photograph of 2 colours': changed(JPEG, frame + 9, 2),
  };
  for (const [name, bytes] of Object.entries(wrong)) expect([name, pictureType(bytes)]).toEqual([name, undefined]);
});

const threads = new Threads();
afterAll(() => threads.close());

test('[FAIR-02] PDFs are drawn in another thread; a company that asks for too many at once is refused, another one is not', async () => {
  const job = { content: invoice(), options: OWN };
  const drawn = await drawPdf(threads, 1, job);
  expect(drawn.equals(await documentPdf(job.content, OWN))).toBe(true);
  const many = Array.from({ length: 12 }, () => drawPdf(threads, 1, job));
  const other = drawPdf(threads, 2, job);
  const outcomes = await Promise.allSettled(many);
  expect(outcomes.map(({ status }) => status)).toEqual([...Array(9).fill('fulfilled'), ...Array(3).fill('rejected')]);
  expect(outcomes.at(-1)).toMatchObject({ reason: { status: 503, retryAfterSeconds: expect.any(Number) } });
  expect((await other).equals(drawn)).toBe(true);
  await expect(drawPdf(threads, 1, { ...job, content: invoice({ base: 'x' }) })).rejects.toThrow('Not a decimal');
  expect((await drawPdf(threads, 1, job)).equals(drawn)).toBe(true);
});
