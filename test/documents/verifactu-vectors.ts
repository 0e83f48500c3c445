// Published hashes: of the agency's document "Detalle de las especificaciones técnicas para generación de la huella o hash" (0.1.2), and of
// two open implementations (josemmo/Verifactu-PHP, MIT; mdiago/VeriFactu).

const AGENCY = 'AEAT, 0.1.2';
const [JOSEMMO, MDIAGO] = ['josemmo/Verifactu-PHP', 'mdiago/VeriFactu'];
const FIRST = '3C464DAF61ACB827C65FDA19F352A4E3BDC2C640E9E9FC4CC058073F38F12F60';
const SECOND = 'F7B94CFD8924EDFF273501B01EE5153E4CE8F259766F88CF6ACB8935802A2B97';
const THIRD = '177547C0D57AC74748561D054A9CEC14B4C4EA23D1BEFD6F2E69E3A388F90C68';
const F1 = { fecha: '01-01-2024', tipoFactura: 'F1', cuotaTotal: '12.35', importeTotal: '123.45' };

export const altas = [
  {
    source: AGENCY,
    of: {
      emisor: '89890001K',
      numero: '12345678/G33',
      ...F1,
      huellaAnterior: '',
      momento: '2024-01-01T19:20:30+01:00',
    },
    hash: FIRST,
  },
  {
    source: AGENCY,
    of: {
      emisor: '89890001K',
      numero: '12345679/G34',
      ...F1,
      huellaAnterior: FIRST,
      momento: '2024-01-01T19:20:35+01:00',
    },
    hash: SECOND,
  },
  {
    source: JOSEMMO,
    of: {
      emisor: 'A00000000',
      numero: 'PRUEBA-0001',
      fecha: '01-06-2025',
      tipoFactura: 'F2',
      cuotaTotal: '2.10',
      importeTotal: '12.10',
      huellaAnterior: '',
      momento: '2025-06-01T10:20:30+02:00',
    },
    hash: 'F223F0A84F7D0C701C13C97CF10A1628FF9E46A003DDAEF3A804FBD799D82070',
  },
  {
    source: JOSEMMO,
    of: {
      emisor: 'A00000000',
      numero: 'PRUEBA-0002',
      fecha: '02-06-2025',
      tipoFactura: 'F2',
      cuotaTotal: '21.00',
      importeTotal: '121.00',
      huellaAnterior: 'A'.repeat(64),
      momento: '2025-06-02T20:30:40+02:00',
    },
    hash: '4566062C5A5D7DA4E0E876C0994071CD807962629F8D3C1F33B91EDAA65B2BA1',
  },
  {
    source: MDIAGO,
    of: {
      emisor: 'B72877814',
      numero: 'GITHUB-EJ-003',
      fecha: '04-11-2024',
      tipoFactura: 'F1',
      cuotaTotal: '21.4',
      importeTotal: '131.4',
      huellaAnterior: '8C8DCEFB120522E0C71BC19902F44D5334FF6C98E74F0E3AC1D1E5A30C2EA836',
      momento: '2024-11-04T12:36:39+01:00',
    },
    hash: '4EECCE4DD48C0539665385D61D451BA921B7160CA6FEF46CD3C2E2BC5C778E14',
  },
];

export const anulaciones = [
  {
    source: AGENCY,
    of: {
      emisor: '89890001K',
      numero: '12345679/G34',
      fecha: '01-01-2024',
      huellaAnterior: SECOND,
      momento: '2024-01-01T19:20:40+01:00',
    },
    hash: THIRD,
  },
];

type OfAlta = (typeof altas)[number]['of'];
type OfAnulacion = (typeof anulaciones)[number]['of'];

/** A register that says as much of a vector as its hash and its chain need. */
export function vectorXml(of: OfAlta | OfAnulacion, huella: string, previous?: OfAlta | OfAnulacion): string {
  const suffix = 'tipoFactura' in of ? '' : 'Anulada';
  const key = ({ emisor, numero, fecha }: OfAnulacion, end: string) =>
    `<IDEmisorFactura${end}>${emisor}</IDEmisorFactura${end}><NumSerieFactura${end}>${numero}</NumSerieFactura${end}><FechaExpedicionFactura${end}>${fecha}</FechaExpedicionFactura${end}>`;
  const root = 'tipoFactura' in of ? 'RegistroAlta' : 'RegistroAnulacion';
  return [
    `<${root}><IDFactura>${key(of, suffix)}</IDFactura>`,
    'tipoFactura' in of &&
      `<TipoFactura>${of.tipoFactura}</TipoFactura><CuotaTotal>${of.cuotaTotal}</CuotaTotal><ImporteTotal>${of.importeTotal}</ImporteTotal>`,
    '<Encadenamiento>',
    of.huellaAnterior === ''
      ? '<PrimerRegistro>S</PrimerRegistro>'
      : `<RegistroAnterior>${key(previous ?? of, '')}<Huella>${of.huellaAnterior}</Huella></RegistroAnterior>`,
    '</Encadenamiento><SistemaInformatico><NIF>A00000000</NIF><IdSistemaInformatico>A1</IdSistemaInformatico>',
    `<NumeroInstalacion>1</NumeroInstalacion></SistemaInformatico><FechaHoraHusoGenRegistro>${of.momento}</FechaHoraHusoGenRegistro>`,
    `<TipoHuella>01</TipoHuella><Huella>${huella}</Huella></${root}>`,
  ]
    .filter((some) => some)
    .join('');
}
