// The versions of the format: a file of version 1 goes on being imported, and the description has every field.
import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import type { Collection } from '../../account-file/collection.ts';
import { COLLECTIONS } from '../../account-file/format.ts';
import { openCompanies } from './companies.ts';

const companies = await openCompanies();
afterAll(() => companies[Symbol.asyncDispose]());

const parsed = (lines: readonly string[]): Record<string, unknown>[] => lines.map((line) => JSON.parse(line));

/** What format 2 added, as it is in records that did not have it. */
const ADDED: Record<string, object> = {
  cuenta: {
    formato: 2,
    ...{
      razon_social: null,
      direccion: null,
      cp: null,
      poblacion: null,
      provincia: null,
      pais: null,
      email: null,
      iban: null,
      color: null,
      regimen_iva: null,
      logo: null,
      series: { albaran: null, factura: null, rectificativa: null, presupuesto: null },
    },
  },
  presupuestos: {
    ...{ observaciones: null, contraparte: null, proyecto: null },
    ...{ promo_code: null, estado: 'pendiente', valido_hasta: null },
  },
  albaranes: { contraparte: null, anulado_el: null, anulado_por: null, motivo_anulacion: null },
  facturas: {
    ...{ contraparte: null, anulado_el: null, anulado_por: null, motivo_anulacion: null },
    ...{ rectifica: null, motivo_rectificacion: null },
  },
  albaranes_compra: { anulado_el: null, anulado_por: null, motivo_anulacion: null },
  facturas_compra: { anulado_el: null, anulado_por: null, motivo_anulacion: null },
  movimientos_stock: { factura: null, albaran_compra: null, motivo: null },
};
const CONVERTED = { presupuesto: null, linea_presupuesto: null };
const ADDED_TO_LINES: Record<string, object> = {
  albaranes: CONVERTED,
  facturas: { ...CONVERTED, linea_rectificada: null, albaran_liberado: false },
  facturas_compra: { albaran_compra: null },
};

test('an export of format 1 is imported with all that it says, and exported as format 2', async () => {
  // As the version before 2 wrote it.
  const kept = (await readFile(new URL('format-1.ndjson', import.meta.url), 'utf8')).trimEnd().split('\n');
  expect(kept[0]).toContain('"formato":1');
  const acme = await companies.company();
  await acme.importLines(kept);
  const exported = await acme.export();
  const expected = parsed(kept).map((record) => {
    const coleccion = String(record.coleccion);
    const lineas = Array.isArray(record.lineas) && {
      lineas: record.lineas.map((line: object) => ({ ...line, ...ADDED_TO_LINES[coleccion] })),
    };
    return { ...record, ...ADDED[coleccion], ...lineas };
  });
  // Only the place of the stock movements is another.
  const moved = ({ coleccion }: Record<string, unknown>) => coleccion === 'movimientos_stock';
  const sorted = (records: Record<string, unknown>[]) => [
    ...records.filter((one) => !moved(one)),
    ...records.filter(moved),
  ];
  expect(sorted(parsed(exported))).toEqual(sorted(expected));
  // The same file again changes nothing, nor does its export.
  expect(await acme.importLines(kept)).toMatchObject({ created: 0, changed: 0 });
  expect(await acme.importLines(exported)).toMatchObject({ created: 0, changed: 0 });
  expect(await acme.export()).toEqual(exported);
});

/** The names of a collection's fields and of those inside them. */
const namesOf = ({ fields, children }: Collection): string[] => [
  ...Object.keys(fields),
  ...Object.entries(children).flatMap(([list, inner]) => [list, ...Object.keys(inner.fields)]),
];

test('docs/account-file.md has the collections in their order, each with its fields and no other', async () => {
  const page = await readFile(new URL('../../docs/account-file.md', import.meta.url), 'utf8');
  const shared = new Map(
    ['LINE', 'TAXES', 'PARTY', 'ANNULMENT'].map((name) => [
      name,
      page.match(new RegExp(`^${name}: [^]*?\\.$`, 'm'))?.[0] ?? '',
    ]),
  );
  const described = [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name = '', text = '']) => ({
    name,
    text: text.replace(/LINE|TAXES|PARTY|ANNULMENT/g, (word) => shared.get(word) ?? ''),
  }));
  expect(described.map(({ name }) => name)).toEqual(['cuenta', ...COLLECTIONS.map(({ name }) => name)]);
  for (const collection of COLLECTIONS) {
    const text = described.find(({ name }) => name === collection.name)?.text ?? '';
    const words = [...text.matchAll(/`(\w+)(\?| = [^`]+)?`/g)];
    const told = new Set(words.map(([, word]) => word));
    expect(
      namesOf(collection).filter((name) => !told.has(name)),
      collection.name,
    ).toEqual([]);
    const fields = words.flatMap(([, word, mark]) => (mark ? [word] : []));
    const inner = ['ref', 'id', 'cp', 'cif', 'email', 'direccion', 'poblacion', 'provincia', 'pais', 'precio_con_iva'];
    const rgpd = ['comunicaciones_email', 'comunicaciones_whatsapp', 'comunicaciones_sms', 'tratamiento_imagenes'];
    const known = new Set([...namesOf(collection), ...inner, ...rgpd]);
    expect(
      fields.filter((word) => !known.has(word ?? '')),
      collection.name,
    ).toEqual([]);
  }
});
