// Why a line has no VAT, in the words that an invoice gives. RD 1619/2012, article 6.1, j) and m)
import type { Exemption } from './content.ts';

export const REASONS: Readonly<Record<Exemption, string>> = {
  E1: 'Operación exenta de IVA según el artículo 20 de la Ley 37/1992.',
  E2: 'Operación exenta de IVA según el artículo 21 de la Ley 37/1992: exportación de bienes.',
  E3: 'Operación exenta de IVA según el artículo 22 de la Ley 37/1992: operación asimilada a la exportación.',
  E4: 'Operación exenta de IVA según los artículos 23 y 24 de la Ley 37/1992: depósito temporal, zonas francas y regímenes aduaneros y fiscales.',
  E5: 'Operación exenta de IVA según el artículo 25 de la Ley 37/1992: entrega intracomunitaria de bienes.',
  E6: 'Operación exenta de IVA por otra causa de las previstas en la Ley 37/1992 o en otra norma.',
  N1: 'Operación no sujeta a IVA según los artículos 7, 14 u otros de la Ley 37/1992.',
  N2: 'Operación no sujeta a IVA en España por las reglas de localización de los artículos 68 y siguientes de la Ley 37/1992.',
  S2: 'Inversión del sujeto pasivo según el artículo 84.Uno.2.º de la Ley 37/1992: el destinatario declara el IVA.',
};
