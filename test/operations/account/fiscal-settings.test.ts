import { afterAll, expect, test } from 'vitest';
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
};

test('[DOC-03] what a company says of itself comes with its account file, and is read back', async () => {
  const acme = await server.company([], { cuenta: fiscal });
  expect((await acme.get('/fiscal-settings')).body.data).toEqual({
    ...fiscal,
    iban: 'ES9121000418450200051332',
    verifactu: { activo: false, modo: null, pendientes: 0 },
    declaracion_responsable: null,
  });
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

test('[DOC-03] an IBAN has its check digits, an e-mail its form', async () => {
  const wrong = (cuenta: Record<string, unknown>) =>
    server.company([], { cuenta }).catch((error: unknown) => String(error));
  expect(await wrong({ iban: 'ES9221000418450200051332' })).toContain('iban: se esperaba un IBAN');
  expect(await wrong({ email: 'obras' })).toContain('email: se esperaba una dirección de correo');
});
