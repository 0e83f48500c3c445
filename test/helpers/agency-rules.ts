// The agency's rules of a register beyond its schema ("Validaciones y errores" 1.2.2), read from the text of the XML: it names what the
// agency would refuse or take with errors. Only what this service writes: VAT, by differences, without third parties.
import { elementsIn, secondHash, textIn } from './second-hash.ts';

const near = (one: number, other: number) => Math.abs(one - other) <= 10 + 1e-6;
const SURCHARGES: Record<number, readonly number[]> = { 21: [5.2, 1.75], 10: [1.4], 7.5: [1], 4: [0.5], 2: [0.26] };

/** What a register breaks; `obligado` is the NIF of the heading it is sent under. */
export async function brokenRules(xml: string, obligado?: string): Promise<string[]> {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string) => {
    if (!holds) broken.push(rule);
  };
  const alta = xml.includes('RegistroAlta');
  const suffix = alta ? '' : 'Anulada';
  const text = (name: string) => textIn(xml, name);
  const issuer = text(`IDEmisorFactura${suffix}`);
  if (obligado !== undefined) must(issuer === obligado, 'the issuer is not the one of the heading');
  must(/^[ !#-&(-;?-~]+$/.test(text(`NumSerieFactura${suffix}`) ?? ''), 'NumSerieFactura has other characters');
  const moment = text('FechaHoraHusoGenRegistro') ?? '';
  must(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/.test(moment),
    'the time stamp has no numeric zone, or fractions',
  );
  const previous = textIn(elementsIn(xml, 'RegistroAnterior')[0] ?? '', 'Huella');
  must(previous === undefined || /^[0-9A-F]{64}$/.test(previous), 'the previous hash is not 64 hexadecimal capitals');
  const own = xml.replace(elementsIn(xml, 'Encadenamiento')[0] ?? '', '');
  must(textIn(own, 'Huella') === (await secondHash(xml)), '2000: the hash is wrong');
  const system = elementsIn(xml, 'SistemaInformatico')[0] ?? '';
  must(/^[A-Z0-9]{2}$/.test(textIn(system, 'IdSistemaInformatico') ?? ''), 'IdSistemaInformatico');
  must((textIn(system, 'NombreSistemaInformatico') ?? '') !== '', 'NombreSistemaInformatico is empty');
  if (!alta) return broken;

  const type = text('TipoFactura') ?? '';
  const rectifies = type.startsWith('R');
  const [day, month, year] = (text('FechaExpedicionFactura') ?? '').split('-');
  const date = `${year}-${month}-${day}`;
  must(date >= '2024-10-28', 'issued before 28-10-2024');
  must(date <= moment.slice(0, 10), 'issued in the future');
  must((text('DescripcionOperacion') ?? '').trim() !== '', 'DescripcionOperacion is empty');
  must((text('NombreRazonEmisor') ?? '').trim() !== '', 'NombreRazonEmisor is empty');
  must((text('TipoRectificativa') !== undefined) === rectifies, 'TipoRectificativa is of R1 to R5');
  must(text('ImporteRectificacion') === undefined, 'ImporteRectificacion is of substitutions');
  must(rectifies || !xml.includes('FacturasRectificadas'), 'FacturasRectificadas is of R1 to R5');
  const again = `${text('Subsanacion') ?? 'N'}${text('RechazoPrevio') ?? 'N'}`;
  must(['NN', 'SN', 'SS', 'SX'].includes(again), 'RechazoPrevio without Subsanacion');

  const recipients = elementsIn(xml, 'IDDestinatario');
  must(recipients.length > 0 === !['F2', 'R5'].includes(type), '1189: Destinatarios');
  for (const recipient of recipients) {
    const other = textIn(recipient, 'IDType');
    must((textIn(recipient, 'NombreRazon') ?? '').trim() !== '', 'a recipient without name');
    must((textIn(recipient, 'NIF') === undefined) === (other !== undefined), 'NIF or IDOtro');
    must(other !== '04' || !['ES', undefined].includes(textIn(recipient, 'CodigoPais')), '1126: CodigoPais');
    must(other !== '02' || /^[A-Z]{2}[A-Z0-9]{2,12}$/.test(textIn(recipient, 'ID') ?? ''), 'NIF-IVA');
    must(type !== 'R3' || other === undefined, '1191: R3');
    must(type !== 'R2' || other === undefined || other === '02', '1192: R2');
  }

  let [tax, total, simplified] = [0, 0, 0];
  const details = elementsIn(xml, 'DetalleDesglose');
  must(details.length >= 1 && details.length <= 12, '1 to 12 details');
  for (const detail of details) {
    const number = (name: string) => {
      const found = textIn(detail, name);
      return found === undefined ? undefined : Number(found);
    };
    const [operation, exempt] = [textIn(detail, 'CalificacionOperacion'), textIn(detail, 'OperacionExenta')];
    const [rate, quota] = [number('TipoImpositivo'), number('CuotaRepercutida')];
    const [surcharge, surchargeQuota] = [number('TipoRecargoEquivalencia'), number('CuotaRecargoEquivalencia')];
    const base = number('BaseImponibleOimporteNoSujeto') ?? Number.NaN;
    const scheme = textIn(detail, 'ClaveRegimen');
    must(scheme !== undefined, 'ClaveRegimen is missing');
    if (operation === 'S1') {
      const dated = rate === 7.5 || rate === 2 ? date <= '2024-12-31' : [0, 4, 10, 21].includes(rate ?? -1);
      must(dated, `no VAT of ${rate} %`);
      must(surcharge === undefined || (SURCHARGES[rate ?? -1] ?? [0]).includes(surcharge), `no surcharge ${surcharge}`);
      must(quota !== undefined, 'CuotaRepercutida is missing');
      if (!rectifies) {
        must(near(quota ?? 0, (base * (rate ?? 0)) / 100), 'the tax is not the rate of its base');
        must((quota ?? 0) * base >= 0, 'tax and base have different signs');
      }
    } else if (operation === 'S2') {
      must(rate === 0 && quota === 0, 'reverse charge with tax');
      must(!['F2', 'R5'].includes(type), 'reverse charge in a simplified invoice');
    } else {
      const none = [rate, quota, surcharge, surchargeQuota].every((value) => value === undefined);
      must(none, 'exempt or not subject, with tax');
    }
    must(!(scheme === '01' && ['E2', 'E3'].includes(exempt ?? '')), 'E2 and E3 are not of scheme 01');
    must(
      scheme !== '07' || !['S2', 'N1', 'N2', 'E2', 'E3', 'E4', 'E5'].includes(operation ?? exempt ?? ''),
      'scheme 07 is neither of reverse charge, of what is not subject, nor of these exemptions',
    );
    must(scheme !== '02' || exempt !== undefined, 'scheme 02 is of what is exempt');
    must(exempt !== 'E5' || recipients.every((recipient) => recipient.includes('IDOtro')), 'E5 needs IDOtro');
    tax += (quota ?? 0) + (surchargeQuota ?? 0);
    total += base + (quota ?? 0) + (surchargeQuota ?? 0);
    simplified += base + (quota ?? 0);
  }
  must(type !== 'F2' || simplified <= 3010, 'a simplified invoice above 3,000 EUR');
  must(near(Number(text('CuotaTotal')), tax), '2006: CuotaTotal');
  must(near(Number(text('ImporteTotal')), total), '2005: ImporteTotal');
  must(Math.abs(Number(text('ImporteTotal'))) < 1e8 || text('Macrodato') === 'S', 'Macrodato');
  return broken;
}
