// Clients and suppliers.
import type { Context } from './calendar.ts';
import { BUSINESSES, cif, landline, mobile, NAMES, nif, STREETS, SURNAMES, TOWNS } from './names-and-places.ts';
import { at, list, type Random, type Row, range, slug, table } from './tools.ts';

export interface Client {
  ref: string;
  nombre: string;
  town: string;
  /** Its price list, 1 where it has none. */
  tarifa: 1 | 2 | 3;
  /** Homes and communities of owners: their works bear the reduced VAT. */
  home: boolean;
}

export interface Supplier {
  ref: string;
  nombre: string;
  /** The trades it supplies, or the expense it is. */
  sells: string;
}

// Name, what it sells (trades, or the code of an expense), and the letter of its tax number.
const SUPPLIERS = table(`Suministros Eléctricos Mestalla, S.L.|ele sol|B
  Distribuciones Eléctricas Albufera, S.A.|ele|A
  Cables y Conductores del Mediterráneo, S.L.|ele sol|B
  Iluminación Técnica Sorolla, S.L.|ele|B
  Cuadros y Automatismos Palancia, S.L.|ele|B
  Comercial Fontanera Nou d'Octubre, S.L.|fon|B
  Tuberías y Accesorios Magro, S.A.|fon cli|A
  Saneamientos y Grifería Xúquer, S.L.|fon|B
  Valvulería Industrial Calderona, S.L.|fon cli|B
  Materiales de Evacuación Serpis, S.L.|fon|B
  Calefacción y Gas Espadán, S.L.|cli|B
  Clima Distribución Ibérica, S.A.|cli|A
  Frigoristas Asociados de Levante, S. Coop. V.|cli|F
  Biomasa Sierra de Enguera, S.L.|cli|B
  Solar Almacenes Peninsulares, S.A.|sol|A
  Inversores y Baterías Garbí, S.L.|sol|B
  Estructuras Metálicas Carraixet, S.L.|sol|B
  Ferretería Industrial El Grao, S.L.|ele fon cli|B
  Montajes Auxiliares Turís, S.L.|607|B
  Andamios y Cubiertas La Safor, S.L.|607|B
  Naves Vara de Quart, S.L.|621|B
  Renting de Vehículos Azahar, S.A.|621|A
  Talleres Mecánicos Hermanos Sala, S.L.|622|B
  Gestoría Blanquer y Asociados, S.L.P.|623|B
  Mensajería Ràpid Túria, S.L.|624|B
  Correduría de Seguros Malvarrosa, S.L.|625|B
  Rotulación e Imprenta Sorní, S.L.|627|B
  Energía Clara Comercializadora, S.A.|628|A
  Telefonía y Datos Micalet, S.L.|628|B
  Estaciones de Servicio La Ribera, S.L.|628|B`);

const FOREIGNERS = list('Hannah Becker|Oliver Whitmore|Giulia Conti|Pierre Lambert|Ioana Dumitrescu|Karim Benali');

// A consent is given, refused, or was never asked for.
const consent = (random: Random): boolean | null => random.pick([true, true, false, null, null]);

/** 120 clients: firms, communities of owners and people. */
export function planClients(context: Context) {
  const random = context.random('clients');
  const seen = new Set<string>();
  const fresh = (make: () => string): string => {
    const value = make();
    if (seen.has(value)) return fresh(make);
    seen.add(value);
    return value;
  };
  const clients = range(120, (index) => {
    const kind = at(['firm', 'firm', 'firm', 'person', 'community'], index);
    const street = `${random.pick(STREETS)}, ${random.int(1, 140)}`;
    const [town = '', cp = '', provincia = ''] = random.pick(TOWNS);
    const trade = fresh(() => `${random.pick(BUSINESSES)} ${random.pick(SURNAMES)}`);
    const form = random.pick(['S.L.', 'S.L.', 'S.L.', 'S.A.', 'S. Coop. V.']);
    const letter = kind === 'community' ? 'H' : form === 'S.L.' ? 'B' : form === 'S.A.' ? 'A' : 'F';
    const nombre = fresh(() => {
      if (kind === 'firm') return `${trade}, ${form}`;
      if (kind === 'community') return `Comunidad de Propietarios ${random.pick(STREETS)} ${random.int(1, 140)}`;
      if (index % 20 === 3) return at(FOREIGNERS, (index - 3) / 20);
      return `${random.pick(NAMES)} ${random.pick(SURNAMES)} ${random.pick(SURNAMES)}`;
    });
    const ref = `cli-${index + 1}`;
    const tarifa = kind !== 'firm' ? null : random.pick([1, 2, 2, 3, null] as const);
    const mailbox = kind === 'firm' ? `administracion@${slug(trade, '-')}.example` : `${slug(nombre)}@correo.example`;
    const row: Row = {
      ref,
      id: index + 1,
      nombre_fiscal: nombre,
      nombre_comercial: kind === 'firm' ? trade : null,
      cif: fresh(() => (kind === 'person' ? nif(random, index % 20 === 3) : cif(random, letter))),
      email: random.chance(0.92) ? mailbox : null,
      telefono: random.chance(0.7) ? landline(random) : null,
      movil: random.chance(0.75) ? mobile(random) : null,
      direccion: street,
      cp,
      poblacion: town,
      provincia,
      pais: 'España',
      tarifa,
      rgpd: {
        comunicaciones_email: consent(random),
        comunicaciones_whatsapp: consent(random),
        comunicaciones_sms: consent(random),
        tratamiento_imagenes: consent(random),
      },
    };
    return { ref, nombre, town, tarifa: tarifa ?? 1, home: kind !== 'firm', row };
  });
  return { clients: clients as Client[], rows: { clientes: clients.map(({ row }) => row) } };
}

/** 30 suppliers: of each trade, and of what any firm spends on. */
export function planSuppliers(context: Context) {
  const random = context.random('suppliers');
  const suppliers: Supplier[] = SUPPLIERS.map(([nombre = '', sells = ''], index) => {
    return { ref: `pro-${index + 1}`, nombre, sells };
  });
  const proveedores: Row[] = SUPPLIERS.map(([nombre = '', , letter = ''], index) => {
    const comercial = at(nombre.split(','), 0);
    return {
      ref: `pro-${index + 1}`,
      nombre_fiscal: nombre,
      nombre_comercial: comercial,
      cif: cif(random, letter),
      email: `pedidos@${slug(comercial, '-')}.example`,
      telefono: landline(random),
      movil: random.chance(0.5) ? mobile(random) : null,
    };
  });
  return { suppliers, rows: { proveedores } };
}
