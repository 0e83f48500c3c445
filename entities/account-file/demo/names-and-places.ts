// Word lists of the demo company, and tax identifiers with their right control character. People and firms are made up.
import { at, list, type Random, table } from './tools.ts';

export const NAMES =
  list(`Ana|Beatriz|Carmen|Cristina|Elena|Inés|Isabel|Laura|Lucía|Marta|Mireia|Nuria|Pilar|Raquel|Rosa
  Sonia|Teresa|Alberto|Álvaro|Andrés|Carlos|Daniel|David|Emilio|Fernando|Francisco|Ignacio|Javier|Joan|Jorge|José Luis|Juan
  Luis|Manuel|Miguel|Óscar|Pablo|Pau|Rafael|Sergio|Vicente|Víctor`);

export const SURNAMES =
  list(`Aguilar|Alcaraz|Almenar|Benítez|Blasco|Bosch|Caballero|Calatayud|Cano|Castelló|Climent|Cortés
  Domènech|Espinosa|Esteve|Ferrándiz|Gallego|García|Gascó|Gimeno|Gómez|Herrero|Ibáñez|Iborra|Juan|López|Llorens|Marco|Martínez
  Mateu|Medina|Molina|Monzó|Navarro|Olmos|Ortega|Pascual|Pastor|Peris|Puig|Ramírez|Ribera|Roig|Ruiz|Sanchis|Segura|Soriano
  Tomás|Torres|Valero|Vidal|Villalba|Zaragozá`);

export const STREETS = list(`Calle Colón|Calle San Vicente|Avenida del Puerto|Avenida del Cid|Calle Mayor|Calle Sagunto
  Avenida Blasco Ibáñez|Calle de la Paz|Plaza de España|Camino de Moncada|Calle del Mar|Calle Cervantes|Calle Jesús
  Avenida de la Constitución|Calle Sueca|Calle Joaquín Costa|Gran Vía Ramón y Cajal|Calle Doctor Peset`);

/** Town, postcode, province. */
export const TOWNS = table(`Valencia|46005|Valencia
  Valencia|46010|Valencia
  Valencia|46021|Valencia
  Torrent|46900|Valencia
  Paterna|46980|Valencia
  Mislata|46920|Valencia
  Burjassot|46100|Valencia
  Alzira|46600|Valencia
  Sagunto|46500|Valencia
  Gandia|46701|Valencia
  Xàtiva|46800|Valencia
  Cullera|46400|Valencia
  Llíria|46160|Valencia
  Manises|46940|Valencia
  Alboraia|46120|Valencia
  Castelló de la Plana|12003|Castellón
  Dénia|03700|Alicante`);

export const BUSINESSES = list(`Clínica Dental|Panadería|Restaurante|Talleres|Transportes|Promociones|Construcciones
  Farmacia|Supermercados|Gestión Inmobiliaria|Cerámicas|Frutas|Muebles|Academia|Imprenta|Hotel|Residencia|Gimnasio
  Veterinaria|Bodegas|Óptica|Autoescuela|Conservas|Plásticos`);

/** A trade is a department of the people who do it. */
export const TRADES = ['ele', 'fon', 'cli', 'sol'] as const;
export type Trade = (typeof TRADES)[number];

/** What the firm is hired for. */
export const WORKS: Record<Trade, string[]> = {
  ele: list(`Reforma eléctrica de oficinas|Instalación eléctrica de nave industrial|Cambio de alumbrado a LED
    Adecuación de baja tensión en local|Infraestructura de recarga en garaje|Renovación de cuadros generales`),
  fon: list(`Sustitución de bajantes|Reforma de baños|Renovación de montantes de agua|Grupo de presión y aljibe
    Instalación de fontanería en obra nueva|Red de riego y saneamiento`),
  cli: list(`Climatización por conductos|Sustitución de caldera comunitaria|Aerotermia y suelo radiante
    Ventilación y climatización de local|Renovación de sala de calderas|Aire acondicionado en oficinas`),
  sol: list(`Autoconsumo fotovoltaico en vivienda|Cubierta fotovoltaica en nave|Autoconsumo colectivo
    Fotovoltaica con baterías|Bombeo solar en explotación agrícola|Marquesina fotovoltaica con recarga`),
};

export const PHASES: Record<Trade, string[]> = {
  ele: list('Replanteo y acopio|Canalizaciones|Tendido de cable|Cuadros y mecanismos|Pruebas y boletín'),
  fon: list('Desmontaje|Redes de agua|Evacuación|Aparatos y grifería|Pruebas de presión'),
  cli: list('Replanteo y acopio|Tuberías y conductos|Colocación de equipos|Regulación y control|Puesta en marcha'),
  sol: list('Memoria y permisos|Estructura en cubierta|Montaje de módulos|Inversores y conexionado|Legalización'),
};

/** A Spanish tax number of a firm: the letter of its kind, seven digits of Valencia and the control digit. */
export function cif(random: Random, kind: string): string {
  const digits = random.pick(['46', '96', '97', '98']) + random.digits(5);
  const sum = [...digits].reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${kind}${digits}${(10 - (sum % 10)) % 10}`;
}

/** A Spanish tax number of a person (NIF), or of a foreign resident (NIE). */
export function nif(random: Random, foreign: boolean): string {
  const first = foreign ? random.int(0, 2) : random.int(1, 7);
  const digits = random.digits(7);
  const control = at([...'TRWAGMYFPDXBNJZSQVHLCKE'], Number(`${first}${digits}`) % 23);
  return `${foreign ? at(['X', 'Y', 'Z'], first) : first}${digits}${control}`;
}

export const landline = (random: Random): string => `96${random.int(0, 4)}${random.digits(6)}`;
export const mobile = (random: Random): string => `6${random.int(0, 9)}${random.digits(7)}`;
