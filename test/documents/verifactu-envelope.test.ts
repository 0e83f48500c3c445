// What is sent to the agency, and its answers: as documented, and anything else.
import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { expect, test } from 'vitest';
import { AnswerError, envelopeOf, MAX_RECORDS, readAnswer } from '../../documents/verifactu/envelope.ts';
import { elementsIn } from '../helpers/second-hash.ts';
import { invoice } from './arbitrary-invoice.ts';
import { chain } from './registers.ts';

const heading = { nombre: 'Talleres & Cía', nif: '89890001K' };
const records = [...chain([1, 2, 3].map((number) => invoice({ numero: String(number) })))];

test('[DOC-02] an envelope has the registers as they were made, oldest first', () => {
  const text = envelopeOf(heading, records);
  using _ = XmlDocument.fromString(text);
  expect(elementsIn(text, 'RegistroFactura')).toEqual(records.map(({ xml }) => xml));
  expect(elementsIn(text, 'Cabecera')).toEqual([
    '<sf:ObligadoEmision><sf:NombreRazon>Talleres &amp; Cía</sf:NombreRazon><sf:NIF>89890001K</sf:NIF></sf:ObligadoEmision>',
  ]);
  const late = envelopeOf({ ...heading, incidencia: true, fechaFin: Temporal.PlainDate.from('2027-12-31') }, records);
  expect(elementsIn(late, 'RemisionVoluntaria')).toEqual([
    '<sf:FechaFinVeriFactu>31-12-2027</sf:FechaFinVeriFactu><sf:Incidencia>S</sf:Incidencia>',
  ]);
});

test('[DOC-02] an envelope takes a thousand registers, and not none', () => {
  const [one] = records;
  if (!one) throw new Error('no register');
  const of = (length: number) => () =>
    envelopeOf(
      heading,
      Array.from({ length }, () => one),
    );
  expect(elementsIn(of(MAX_RECORDS)(), 'RegistroFactura')).toHaveLength(1000);
  expect(of(MAX_RECORDS + 1)).toThrow('1 to 1000');
  expect(of(0)).toThrow('1 to 1000');
});

const INFORMATION =
  'https://www2.agenciatributaria.gob.es/static_files/common/internet/dep/aplicaciones/es/aeat/tike/cont/ws/SuministroInformacion.xsd';
const key = (numero: string) =>
  `<tik:IDFactura><sf:IDEmisorFactura>89890001K</sf:IDEmisorFactura><sf:NumSerieFactura>${numero}</sf:NumSerieFactura><sf:FechaExpedicionFactura>02-11-2026</sf:FechaExpedicionFactura></tik:IDFactura>`;
const soap = (body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/" xmlns:tik="${INFORMATION.replace('SuministroInformacion', 'RespuestaSuministro')}" xmlns:sf="${INFORMATION}"><env:Header/><env:Body>${body}</env:Body></env:Envelope>`;
const answer = (lines: string) =>
  soap(
    `<tik:RespuestaRegFactuSistemaFacturacion><tik:CSV>A-YDSW8NLFLANWPM</tik:CSV><tik:DatosPresentacion><sf:NIFPresentador>89890001K</sf:NIFPresentador><sf:TimestampPresentacion>2026-11-22T23:31:00+01:00</sf:TimestampPresentacion></tik:DatosPresentacion><tik:Cabecera/><tik:TiempoEsperaEnvio>60</tik:TiempoEsperaEnvio><tik:EstadoEnvio>ParcialmenteCorrecto</tik:EstadoEnvio>${lines}</tik:RespuestaRegFactuSistemaFacturacion>`,
  );

test('[DOC-02] an answer says what became of each register', () => {
  const text = answer(
    [
      `<tik:RespuestaLinea>${key('1 &amp; 2')}<tik:Operacion><sf:TipoOperacion>Alta</sf:TipoOperacion></tik:Operacion><tik:EstadoRegistro>Correcto</tik:EstadoRegistro></tik:RespuestaLinea>`,
      `<tik:RespuestaLinea>${key('2')}<tik:Operacion><sf:TipoOperacion>Anulacion</sf:TipoOperacion></tik:Operacion><tik:EstadoRegistro>AceptadoConErrores</tik:EstadoRegistro><tik:CodigoErrorRegistro>2000</tik:CodigoErrorRegistro><tik:DescripcionErrorRegistro>El cálculo de la huella suministrada es incorrecta.</tik:DescripcionErrorRegistro></tik:RespuestaLinea>`,
      `<tik:RespuestaLinea>${key('3')}<tik:Operacion><sf:TipoOperacion>Alta</sf:TipoOperacion></tik:Operacion><tik:EstadoRegistro>Incorrecto</tik:EstadoRegistro><tik:CodigoErrorRegistro>3000</tik:CodigoErrorRegistro><tik:DescripcionErrorRegistro>Registro de facturación duplicado.</tik:DescripcionErrorRegistro><tik:RegistroDuplicado><sf:IdPeticionRegistroDuplicado>20261122</sf:IdPeticionRegistroDuplicado><sf:EstadoRegistroDuplicado>AceptadaConErrores</sf:EstadoRegistroDuplicado><sf:CodigoErrorRegistro>2001</sf:CodigoErrorRegistro></tik:RegistroDuplicado></tik:RespuestaLinea>`,
    ].join('\n'),
  );
  const of = (numero: string) => ({ emisor: '89890001K', numero, fecha: '02-11-2026' });
  expect(readAnswer(text)).toEqual({
    respuesta: {
      csv: 'A-YDSW8NLFLANWPM',
      presentacion: { nif: '89890001K', momento: '2026-11-22T23:31:00+01:00' },
      espera: 60,
      estado: 'ParcialmenteCorrecto',
      lineas: [
        { ...of('1 & 2'), tipo: 'alta', estado: 'Correcto', error: null, duplicado: null },
        {
          ...of('2'),
          tipo: 'anulacion',
          estado: 'AceptadoConErrores',
          error: { codigo: 2000, descripcion: 'El cálculo de la huella suministrada es incorrecta.' },
          duplicado: null,
        },
        {
          ...of('3'),
          tipo: 'alta',
          estado: 'Incorrecto',
          error: { codigo: 3000, descripcion: 'Registro de facturación duplicado.' },
          duplicado: { estado: 'AceptadaConErrores', error: { codigo: 2001, descripcion: '' } },
        },
      ],
    },
  });
});

test('[DOC-02] a fault says whether to send the same again', () => {
  const fault = (code: string, text: string) =>
    readAnswer(
      soap(
        `<env:Fault><faultcode>${code}</faultcode><faultstring>${text}</faultstring><detail><callstack>WSExcepcion</callstack></detail></env:Fault>`,
      ),
    );
  const wrong = 'Codigo[4104].El NIF del titular en la cabecera no está identificado.';
  expect(fault('env:Client', wrong)).toEqual({ fallo: { repetir: false, codigo: 4104, descripcion: wrong } });
  expect(fault('env:Server', 'Error interno')).toEqual({
    fallo: { repetir: true, codigo: null, descripcion: 'Error interno' },
  });
});

test.each([
  ['a page', '<html><body>Mantenimiento</body></html>'],
  ['nothing', ''],
  ['no XML', '{"error": 1}'],
  ['another envelope', soap('<otra/>')],
  ['an answer cut short', answer('').slice(0, -40)],
  ['a state that is none', answer('').replace('ParcialmenteCorrecto', 'Bien')],
  ['no time to wait', answer('').replace('>60<', '><')],
  ['a negative time', answer('').replace('>60<', '>-60<')],
  ['a line without its invoice', answer('<tik:RespuestaLinea/>')],
  ['entities that multiply', soap('&lol;').replace('?>', '?><!DOCTYPE a [<!ENTITY lol "lol">]>')],
  ['an entity that it declares nowhere', soap('&lol;')],
  ['a file of this machine', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
  ['a thousand levels', '<a>'.repeat(1000)],
  ['too many elements', soap('<a/>'.repeat(60_000))],
  ['too long a text', soap('x'.repeat(17_000_000))],
])('[DOC-02] %s is no answer', (_, text) => {
  expect(() => readAnswer(text)).toThrow(AnswerError);
});

test('[DOC-02] whatever comes is an answer or an AnswerError', () => {
  const whole = answer(`<tik:RespuestaLinea>${key('1')}</tik:RespuestaLinea>`);
  const broken = fc
    .tuple(fc.nat(whole.length), fc.nat(40), fc.string({ unit: 'binary', maxLength: 10 }))
    .map(([at, length, put]) => whole.slice(0, at) + put + whole.slice(at + length));
  fc.assert(
    fc.property(fc.oneof(broken, fc.string({ unit: 'binary' })), (text) => {
      try {
        readAnswer(text);
      } catch (error) {
        expect(error).toBeInstanceOf(AnswerError);
      }
    }),
    { numRuns: 300 },
  );
});
