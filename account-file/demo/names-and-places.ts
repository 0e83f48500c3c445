// Word lists of the demo company, and valid tax identifiers. People and firms are fictitious.
import { at, list, type Random } from './tools.ts';

/** First names. */
export const NAMES =
  list(`Ana|Beatriz|Carmen|Cristina|Elena|Inés|Isabel|Laura|Lucía|Marta|Mireia|Nuria|Pilar|Raquel|Rosa
  Sonia|Teresa|Alberto|Álvaro|Andrés|Carlos|Daniel|David|Emilio|Fernando|Francisco|Ignacio|Javier|Joan|Jorge|José Luis
  Juan|Luis|Manuel|Miguel|Óscar|Pablo|Pau|Rafael|Sergio|Vicente|Víctor`);
/** Family names. */
export const SURNAMES = list(`Aguilar|Alcaraz|Almenar|Benítez|Blasco|Bosch|Caballero|Calatayud|Cano|Castelló|Climent
  Cortés|Domènech|Espinosa|Esteve|Ferrándiz|Gallego|García|Gascó|Gimeno|Gómez|Herrero|Ibáñez|Iborra|Juan|López|Llorens
  Marco|Martínez|Mateu|Medina|Molina|Monzó|Navarro|Olmos|Ortega|Pascual|Pastor|Peris|Puig|Ramírez|Ribera|Roig|Ruiz
  Sanchis|Segura|Soriano|Tomás|Torres|Valero|Vidal|Villalba|Zaragozá`);
/** Trades of client firms. */
export const BUSINESSES = list(`Clínica Dental|Panadería|Restaurante|Talleres|Transportes|Promociones|Construcciones
  Farmacia|Supermercados|Gestión Inmobiliaria|Cerámicas|Frutas|Muebles|Academia|Imprenta|Hotel|Residencia|Gimnasio`);
/** Streets that any town has. */
export const STREETS = list(`Calle Colón|Calle San Vicente|Avenida del Puerto|Avenida del Cid|Calle Mayor|Calle Sagunto
  Calle de la Paz|Plaza de España|Camino de Moncada|Calle del Mar|Calle Cervantes|Calle Sueca|Calle Joaquín Costa`);
/** Postcode and town, all in the province of Valencia. */
export const TOWNS = list(`46005 Valencia|46010 Valencia|46021 Valencia|46900 Torrent|46980 Paterna|46920 Mislata
  46100 Burjassot|46600 Alzira|46500 Sagunto|46701 Gandia|46800 Xàtiva|46400 Cullera|46160 Llíria|46940 Manises`);

/** Trades, named as their departments: electricity, plumbing, heating and cooling, solar. */
export const TRADES = ['ele', 'fon', 'cli', 'sol'] as const;
/** One of the trades. */
export type Trade = (typeof TRADES)[number];

/** The works that the firm is hired for. */
export const WORKS: Record<Trade, string[]> = {
  ele: list(`Reforma eléctrica de oficinas|Instalación eléctrica de nave|Cambio de alumbrado a LED
    Adecuación de baja tensión en local|Infraestructura de recarga en garaje|Renovación de cuadros generales`),
  fon: list(`Sustitución de bajantes|Reforma de baños|Renovación de montantes de agua|Grupo de presión y aljibe
    Fontanería en obra nueva|Red de riego y saneamiento`),
  cli: list(`Climatización por conductos|Sustitución de caldera comunitaria|Aerotermia y suelo radiante
    Ventilación y climatización de local|Renovación de sala de calderas|Aire acondicionado en oficinas`),
  sol: list(`Autoconsumo en vivienda|Cubierta fotovoltaica en nave|Autoconsumo colectivo|Fotovoltaica con baterías
    Bombeo solar en explotación agrícola|Marquesina fotovoltaica con recarga`),
};
/** Whether a work is only for homes and communities or only for firms; most are for both. */
export const suits = (work: string, home: boolean): boolean =>
  !(
    home ? /nave|oficinas|local|agrícola|Marquesina|\bhotel|clínica/i : /vivienda|comunitaria|colectivo|montantes/i
  ).test(work);
/** The tasks of a work, in order. */
export const PHASES: Record<Trade, string[]> = {
  ele: list('Replanteo y acopio|Canalizaciones|Tendido de cable|Cuadros y mecanismos|Pruebas y boletín'),
  fon: list('Desmontaje|Redes de agua|Evacuación|Aparatos y grifería|Pruebas de presión'),
  cli: list('Replanteo y acopio|Tuberías y conductos|Colocación de equipos|Regulación y control|Puesta en marcha'),
  sol: list('Memoria y permisos|Estructura en cubierta|Montaje de módulos|Inversores y conexionado|Legalización'),
};

/** The tax number of a Spanish firm or community of owners: its kind's letter, seven digits and the control digit. */
export function cif(random: Random, name: string): string {
  const kind = name.endsWith('S.A.') ? 'A' : name.endsWith('Coop. V.') ? 'F' : name.startsWith('Comunidad') ? 'H' : 'B';
  const digits = random.pick(['46', '96', '97', '98']) + random.digits(5);
  const values = [...digits].map((digit, index) => Number(digit) * (index % 2 === 0 ? 2 : 1));
  const sum = values.reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return `${kind}${digits}${(10 - (sum % 10)) % 10}`;
}

/** The tax number of a person: eight digits and the control letter. */
export function nif(random: Random): string {
  const digits = random.digits(8);
  return `${digits}${at([...'TRWAGMYFPDXBNJZSQVHLCKE'], Number(digits) % 23)}`;
}

/** A telephone number of the province. */
export const landline = (random: Random): string => `96${random.int(0, 4)}${random.digits(6)}`;
/** A mobile number. */
export const mobile = (random: Random): string => `6${random.digits(8)}`;
