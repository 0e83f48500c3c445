import { afterAll, expect, test } from 'vitest';
import { JPEG, png } from '../../documents/pictures.ts';
import { startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const fiscal = {
  cif: 'B12345674',
  razon_social: 'Cuadra Obras, S.L.',
  direccion: 'Calle Mayor 1',
  cp: '11001',
  poblacion: 'Cádiz',
  provincia: 'Cádiz',
  pais: 'España',
  email: 'obras@example.com',
  iban: 'ES91 2100 0418 4502 0005 1332',
  color: '#0F766E',
  regimen_iva: 'caja',
};
const answered = {
  ...fiscal,
  iban: 'ES9121000418450200051332',
  color: '#0f766e',
  series: { albaran: 'A', factura: 'F', rectificativa: 'R', presupuesto: 'P' },
  logo: null,
  verifactu: { activo: false, modo: null, pendientes: 0 },
  declaracion_responsable: null,
};

test('[DOC-03] what a company says of itself comes with its account file, and is read back', async () => {
  const acme = await server.company([], { cuenta: fiscal });
  expect((await acme.get('/fiscal-settings')).body.data).toEqual(answered);
  expect((await acme.alias('obtenerDatosFiscales', {})).body.data.razon_social).toBe('Cuadra Obras, S.L.');
  expect((await server.request('/api/v1/fiscal-settings')).status).toBe(401);
});

test('[DOC-03] without a legal name it is the company’s name; what a file leaves out stays, null is none', async () => {
  const acme = await server.company([], { cuenta: { ...fiscal, razon_social: null } });
  const before = (await acme.get('/fiscal-settings')).body.data;
  expect(before.razon_social).toBe((await acme.get('/account')).body.data.nombre);
  await acme.load([], { cif: 'B12345674', provincia: null, poblacion: '' });
  expect((await acme.get('/fiscal-settings')).body.data).toEqual({ ...before, provincia: '', poblacion: '' });
});

test('[DOC-03] a photograph is kept without where, with what and by whom it was taken, and without pictures after its end', async () => {
  const segment = (marker: number, text: string) => {
    const head = Buffer.of(0xff, marker, 0, 0);
    head.writeUInt16BE(text.length + 2, 2);
    return Buffer.concat([head, Buffer.from(text, 'latin1')]);
  };
  const [start, rest] = [JPEG.subarray(0, 2), JPEG.subarray(2)];
  const profile = segment(0xe2, 'ICC_PROFILE\0\x01\x01colours');
  // Two entries: where the device's name is, and that its right side is up.
  const exif = segment(
    0xe1,
    'Exif\0\0II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x06\0\0\0\x26\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0Phone\0',
  );
  const told = [segment(0xe2, 'MPF\0'), segment(0xed, 'IPTC'), segment(0xfe, 'Ana')];
  const photograph = Buffer.concat([start, exif, ...told, profile, rest, JPEG]);
  const logo = { tipo_mime: 'image/jpeg', contenido: photograph.toString('base64') };
  const acme = await server.company([], { cuenta: { logo } });
  const { bytes } = await linkedLogo((await acme.get('/fiscal-settings')).body.data.logo);
  const rightUp = segment(0xe1, 'Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0');
  expect(bytes).toEqual(Buffer.concat([start, rightUp, profile, rest]));
});

test('[DOC-03] a logo comes as it is, by a link for ten minutes; a company’s own', async () => {
  const logo = (type: string, bytes: Buffer) => ({ tipo_mime: type, contenido: bytes.toString('base64') });
  const acme = await server.company([], { cuenta: { logo: logo('image/png', png()) } });
  const { url, ...linked } = await linkedLogo((await acme.get('/fiscal-settings')).body.data.logo);
  expect(linked).toEqual({
    status: 200,
    type: 'image/png',
    disposition: `attachment; filename*=UTF-8''logo.png`,
    bytes: png(),
  });
  await acme.load([], { logo: logo('image/jpeg', JPEG) });
  expect(await linkedLogo(url)).toMatchObject({ type: 'image/jpeg', bytes: JPEG });
  const other = await server.company();
  expect((await other.get('/fiscal-settings')).body.data.logo).toBeNull();
  await acme.load([], { color: '' });
  expect((await acme.get('/fiscal-settings')).body.data).toMatchObject({ logo: expect.any(String), color: '' });
  await acme.load([], { logo: null });
  expect((await acme.get('/fiscal-settings')).body.data.logo).toBeNull();
  expect((await linkedLogo(url)).status).toBe(404);
});

async function linkedLogo(url: string) {
  const answer = await fetch(url);
  const { status, headers } = answer;
  const [type, disposition] = [headers.get('content-type'), headers.get('content-disposition')];
  return { url, status, type, disposition, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test('[DOC-03] a logo is a picture of its type, a colour is one', async () => {
  const wrong = (cuenta: Record<string, unknown>) =>
    server.company([], { cuenta }).catch((error: unknown) => String(error));
  const base64 = png().toString('base64');
  expect(await wrong({ logo: { tipo_mime: 'image/jpeg', contenido: base64 } })).toContain(
    'logo.tipo_mime: la imagen es image/png',
  );
  expect(await wrong({ logo: { tipo_mime: 'image/png', contenido: base64.slice(0, -4) } })).toContain(
    'logo.contenido: se esperaba una imagen PNG o JPEG',
  );
  expect(await wrong({ logo: { tipo_mime: 'image/png', contenido: `${base64}!` } })).toContain(
    'logo.contenido: se esperaba base64',
  );
  const large = png({ width: 300, height: 300, sample: () => Math.random() * 256 }).toString('base64');
  expect(await wrong({ logo: { tipo_mime: 'image/png', contenido: large } })).toContain('no puede pasar de 200 kB');
  expect(await wrong({ color: 'rojo' })).toContain('color: se esperaba un color #rrggbb');
});

test('[DOC-03] the VAT scheme is the general one unless a file says otherwise', async () => {
  const acme = await server.company();
  const schemeAfter = async (cuenta: Record<string, unknown>) => {
    await acme.load([], cuenta);
    return (await acme.get('/fiscal-settings')).body.data.regimen_iva;
  };
  const schemes = ['caja', undefined, 'general', 'caja', null];
  const answers: string[] = [];
  for (const regimen_iva of schemes) answers.push(await schemeAfter({ regimen_iva }));
  expect(answers).toEqual(['caja', 'caja', 'general', 'caja', 'general']);
  expect(await server.company([], { cuenta: { regimen_iva: 'otro' } }).catch(String)).toContain('regimen_iva: ');
});

test('[DLV-02] series are what a file says, others stay, null is the usual letter', async () => {
  const acme = await server.company();
  const seriesAfter = async (series: object | null) => {
    await acme.load([], { series });
    return (await acme.get('/fiscal-settings')).body.data.series;
  };
  const usual = { albaran: 'A', factura: 'F', rectificativa: 'R', presupuesto: 'P' };
  expect(await seriesAfter({ factura: 'FAC-', albaran: '3/' })).toEqual({ ...usual, factura: 'FAC-', albaran: '3/' });
  expect(await seriesAfter({ factura: 'R', rectificativa: 'F' })).toEqual({
    ...{ ...usual, albaran: '3/' },
    ...{ factura: 'R', rectificativa: 'F' },
  });
  expect(await seriesAfter({ albaran: null })).toEqual({ ...usual, factura: 'R', rectificativa: 'F' });
  expect(await seriesAfter(null)).toEqual(usual);
});

test('[DOC-03] an IBAN has its check digits, an e-mail its form', async () => {
  const wrong = (cuenta: Record<string, unknown>) =>
    server.company([], { cuenta }).catch((error: unknown) => String(error));
  expect(await wrong({ iban: 'ES9221000418450200051332' })).toContain('iban: se esperaba un IBAN');
  expect(await wrong({ email: 'obras' })).toContain('email: se esperaba una dirección de correo');
});
