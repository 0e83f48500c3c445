// Clients and suppliers.
import type { Context } from './calendar.ts';
import * as words from './names-and-places.ts';
import { at, type Row, range, slug, table } from './tools.ts';

// Name, and the trades that it supplies or the code of an expense.
const SUPPLIERS = table(`Suministros Eléctricos Mestalla, S.L.|ele sol//Distribuciones Eléctricas Albufera, S.A.|ele
  Cables y Conductores del Mediterráneo, S.L.|ele sol//Iluminación Técnica Sorolla, S.L.|ele
  Cuadros y Automatismos Palancia, S.L.|ele//Comercial Fontanera Nou d'Octubre, S.L.|fon
  Tuberías y Accesorios Magro, S.A.|fon cli//Saneamientos y Grifería Xúquer, S.L.|fon
  Valvulería Industrial Calderona, S.L.|fon cli//Materiales de Evacuación Serpis, S.L.|fon
  Calefacción y Gas Espadán, S.L.|cli//Clima Distribución Ibérica, S.A.|cli
  Frigoristas Asociados de Levante, S. Coop. V.|cli//Biomasa Sierra de Enguera, S.L.|cli
  Solar Almacenes Peninsulares, S.A.|sol//Inversores y Baterías Garbí, S.L.|sol
  Estructuras Metálicas Carraixet, S.L.|sol//Ferretería Industrial El Grao, S.L.|ele fon cli
  Montajes Auxiliares Turís, S.L.|607//Andamios y Cubiertas La Safor, S.L.|607//Naves Vara de Quart, S.L.|621
  Renting de Vehículos Azahar, S.A.|621//Talleres Mecánicos Hermanos Sala, S.L.|622
  Gestoría Blanquer y Asociados, S.L.P.|623//Mensajería Ràpid Túria, S.L.|624//Correduría Malvarrosa, S.L.|625
  Rotulación e Imprenta Sorní, S.L.|627//Energía Clara Comercializadora, S.A.|628//Telefonía y Datos Micalet, S.L.|628
  Estaciones de Servicio La Ribera, S.L.|628`);

const HOMES = 'Comunidad de Propietarios';

/** A client as the other parts need it; `tarifa` is 1 by default. */
export type Client = ReturnType<typeof planClients>['clients'][number];

/** 120 clients: firms, communities of owners and people. `home`: their works have the reduced VAT. */
export function planClients(context: Context) {
  const random = context.random('clients');
  const seen = new Set<string>();
  const fresh = (make: () => string): string => {
    for (let value = make(); ; value = make()) if (seen.size < seen.add(value).size) return value;
  };
  const perhaps = (value: string) => (random.chance(0.75) ? value : null);
  // Consent is given, refused or unknown.
  const consent = () => random.pick([true, true, false, null, null]);
  const planned = range(120, (index) => {
    const [firm, person] = [index % 5 < 3, index % 5 === 3];
    const [cp = '', town = ''] = random.pick(words.TOWNS).split(' ');
    const [street, surname] = [random.pick(words.STREETS), random.pick(words.SURNAMES)];
    const trade = fresh(() => `${random.pick(words.BUSINESSES)} ${random.pick(words.SURNAMES)}`);
    const nombre = fresh(() => {
      if (firm) return `${trade}, ${random.pick(['S.L.', 'S.L.', 'S.L.', 'S.A.', 'S. Coop. V.'])}`;
      return person
        ? `${random.pick(words.NAMES)} ${surname} ${random.pick(words.SURNAMES)}`
        : `${HOMES} ${street} ${index}`;
    });
    const ref = `cli-${index + 1}`;
    const cif = fresh(() => (person ? words.nif(random) : words.cif(random, nombre)));
    const email = firm ? `administracion@${slug(trade, '-')}.example` : `${slug(nombre)}@correo.example`;
    const tarifa = firm ? random.pick([1, 2, 2, 3, null] as const) : null;
    const name = { ref, id: index + 1, nombre_fiscal: nombre, nombre_comercial: firm ? trade : null, cif };
    const reach = {
      email: perhaps(email),
      telefono: perhaps(words.landline(random)),
      movil: perhaps(words.mobile(random)),
    };
    const place = { direccion: `${street}, ${index}`, cp, poblacion: town, provincia: 'Valencia', pais: 'España' };
    const messages = {
      comunicaciones_email: consent(),
      comunicaciones_whatsapp: consent(),
      comunicaciones_sms: consent(),
    };
    const row: Row = { ...name, ...reach, ...place, tarifa, rgpd: { ...messages, tratamiento_imagenes: consent() } };
    return { ref, nombre, town, tarifa: tarifa ?? 1, home: !firm, row };
  });
  return { clients: planned, rows: { clientes: planned.map(({ row }) => row) } };
}

/** A supplier as purchases need it. */
export type Supplier = ReturnType<typeof planSuppliers>['suppliers'][number];

/** 30 suppliers: for each trade and for general expenses. */
export function planSuppliers(context: Context) {
  const random = context.random('suppliers');
  const suppliers = SUPPLIERS.map(([nombre = '', sells = ''], index) => ({ ref: `pro-${index + 1}`, nombre, sells }));
  const proveedores = suppliers.map(({ ref, nombre }): Row => {
    const name = {
      ref,
      nombre_fiscal: nombre,
      nombre_comercial: at(nombre.split(','), 0),
      cif: words.cif(random, nombre),
    };
    const movil = random.chance(0.5) ? words.mobile(random) : null;
    return { ...name, email: `pedidos@${slug(nombre, '-')}.example`, telefono: words.landline(random), movil };
  });
  return { suppliers, rows: { proveedores } };
}
