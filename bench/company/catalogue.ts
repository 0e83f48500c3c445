// The articles, clients and suppliers. Texts and prices are those of the floor's seed, so that both sides answer pages of about
// the same length.
import { around, each, padded, type Sizes } from './sizes.ts';

const THINGS = [
  ...(['Tornillo', 'Tuerca', 'Arandela', 'Tubo', 'Codo', 'Brida', 'Valvula', 'Perfil', 'Chapa', 'Cable'] as const),
  ...(['Bombilla', 'Enchufe', 'Sensor', 'Motor', 'Bomba', 'Filtro', 'Junta', 'Manguera', 'Racor', 'Soporte'] as const),
] as const;
const MATERIALS = [
  ...(['inox', 'acero', 'laton', 'cobre', 'aluminio', 'PVC', 'nylon', 'goma', 'zincado', 'bronce'] as const),
] as const;
const FAMILIES = 40;

/** A text in the description of twenty articles, at every scale from 0.1. */
export const SEARCHED = 'inox m3 modelo';

const rounded = (amount: number) => Math.round(amount * 10_000) / 10_000;

export function* catalogue({ products, clients, suppliers }: Sizes) {
  yield* each(3, (tarifa) => ({ coleccion: 'tarifas', ref: `t${tarifa}`, tarifa, con_iva: tarifa < 3 }));
  yield* each(clients, client);
  yield* each(suppliers, (n) => ({
    coleccion: 'proveedores',
    ref: `p${n}`,
    nombre_fiscal: `Proveedor ${n} S.L.`,
    cif: `A${padded(n, 8)}`,
    email: `proveedor${n}@example.com`,
    telefono: `911${padded(n, 6)}`,
  }));
  yield* each(FAMILIES, (n) => ({ coleccion: 'familias', ref: `f${n}`, titulo: `Familia ${n}` }));
  yield* each(products, product);
}

function client(n: number) {
  const consent = around([true, false, null], n);
  return {
    coleccion: 'clientes',
    ref: `c${n}`,
    id: n,
    nombre_fiscal: `Cliente ${n} S.L.`,
    nombre_comercial: `Comercial ${n}`,
    cif: `B${padded(n, 8)}`,
    email: `cliente${n}@example.com`,
    telefono: `910${padded(n, 6)}`,
    movil: `600${padded(n, 6)}`,
    tarifa: (n % 3) + 1,
    rgpd: { comunicaciones_email: consent, comunicaciones_whatsapp: consent, tratamiento_imagenes: n % 2 === 0 },
  };
}

function product(n: number) {
  const coste = ((n * 13) % 9973) / 100 + 1;
  const service = n % 10 === 0;
  return {
    coleccion: 'articulos',
    ref: `a${n}`,
    id: n,
    referencia: `REF-${padded(n, 6)}`,
    sku: `SKU${padded((n * 37) % 1_000_003, 7)}`,
    codigo_ean: String(8_400_000_000_000 + n * 7919),
    descripcion: `${around(THINGS, n)} ${around(MATERIALS, Math.floor(n / 20))} M${Math.floor(n / 200)} modelo ${n}`,
    familia: `f${(n % FAMILIES) + 1}`,
    iva: around([21, 10, 4], n),
    coste: rounded(coste),
    modo: service ? 'servicio' : 'venta',
    precios: [1, 2, 3].map((tarifa) => ({ tarifa, precio: rounded(coste * (1.2 + tarifa * 0.1)) })),
    stock: service ? 0 : (n * 17) % 500,
    stock_minimo: (n * 7) % 60,
  };
}
