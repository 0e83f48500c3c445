// The catalogue: price lists, families and 400 articles with their formats and variations.
import type { Context } from './calendar.ts';
import { at, euros, pad, type Random, type Row, range, table } from './tools.ts';

/** A commercial format; `factor` base units make one. */
export interface Format {
  ref: string;
  titulo: string;
  factor: number;
  peso_variable?: boolean;
  venta?: boolean;
  compra?: boolean;
  defecto_venta?: boolean;
}

export interface Article {
  ref: string;
  family: string;
  descripcion: string;
  modo: 'venta' | 'alquiler' | 'servicio';
  /** Cents a base unit: the cost, then the price in lists 1, 2 and 3. */
  cents: readonly [number, number, number, number];
  stock: number;
  formatos: readonly Format[];
  variaciones: readonly { ref: string; descripcion: string }[];
}

// Code, title, margin over cost in percent.
const FAMILIES = table(`CAB|Cable eléctrico|45
  MEC|Mecanismos|70
  CUA|Protección y cuadros|65
  CAN|Canalización y cajas|75
  ILU|Iluminación|60
  COB|Tubería y accesorios de cobre|60
  PEX|Multicapa y accesorios de prensar|65
  PVC|PVC y evacuación|85
  VAL|Valvulería y contadores|60
  SAN|Sanitarios y grifería|55
  CAL|Calefacción y agua caliente|40
  CLI|Climatización|38
  SOL|Energía solar|35
  ALQ|Alquiler de maquinaria|150
  SER|Mano de obra y servicios|70`);

// Family, description, lowest and highest cost, packing, variations. {a;b} goes from cheap to dear; [a;b] costs the same.
const PRODUCTS =
  table(`CAB|Cable H07Z1-K 1x{1,5;2,5;4;6;10;16} mm² [azul;negro;marrón;gris;amarillo-verde]|0.19|1.74|reel
  CAB|Manguera RV-K 0,6/1 kV {3G1,5;3G2,5;3G4;5G6;5G10} mm²|0.62|5.9|reel
  MEC|{Interruptor;Conmutador;Pulsador;Cruzamiento;Base schuko;Toma RJ45;Regulador LED} serie {Nova;Alba;Lira}|2.3|21|box|blanco;aluminio;antracita
  MEC|Marco {1;2;3;4} elementos serie {Nova;Alba;Lira}|1.1|9.5|box|blanco;aluminio;antracita
  CUA|Magnetotérmico {1P+N;2P;4P} {10;16;20;25;32;40;63} A curva C|4.2|46|box
  CUA|Diferencial {2P 25 A;2P 40 A;4P 40 A;4P 63 A} 30 mA {clase AC;clase A superinmunizado}|19|178|
  CUA|Cuadro de superficie {12;24;36;54} módulos|11|68|
  CAN|Tubo corrugado {16;20;25;32;40} mm [estándar;libre de halógenos]|0.16|0.98|reel
  CAN|Canal PVC blanca {16x16;25x25;40x40;60x40;100x60} mm|0.7|5.2|bar
  CAN|Caja de derivación estanca {80x80;100x100;150x110;200x150} mm|0.9|6.4|box
  ILU|Downlight LED {6;12;18;24} W [empotrable;de superficie]|5.1|19|box|3000 K;4000 K;6500 K
  ILU|Panel LED 60x60 {36;40;48} W|17|29|box|4000 K;6500 K
  ILU|Proyector LED IP65 {20;50;100;200} W|9|72|
  ILU|Luminaria de emergencia {100;200;400} lm|14|38|box
  ILU|Tira LED 24 V {9,6;14,4;19,2} W/m|2.9|6.8|reel
  COB|Tubo de cobre {12;15;18;22;28;35} mm|3.1|14.5|bar
  COB|{Manguito;Codo 90°;Te} de cobre {12;15;18;22;28;35} mm|0.35|6.2|box
  PEX|Tubo multicapa {16x2;20x2;25x2,5;32x3} mm|0.75|3.6|reel
  PEX|{Manguito;Codo;Te;Racor macho;Racor hembra} de prensar {16;20;25;32} mm|1.9|14|box
  PVC|Tubo PVC evacuación {32;40;50;75;90;110;125;160} mm|0.8|6.5|bar
  PVC|{Manguito;Codo 45°;Codo 87°;Te 87°} PVC {32;40;50;75;90;110;125;160} mm|0.4|9.2|box
  VAL|Válvula de [esfera;retención] {1/2";3/4";1";1 1/4";1 1/2";2"}|3.6|31|box
  VAL|Válvula reductora de presión {1/2";3/4";1"}|21|49|
  VAL|Contador de agua {13;15;20;25} mm|18|74|
  SAN|Grifo de {lavabo;bidé;ducha;fregadero} {monomando;termostático} serie [Jara;Duna]|29|118||cromo;negro mate
  SAN|Inodoro {de tanque bajo;compacto;suspendido}|78|235|
  SAN|Lavabo {50;60;80} cm|42|110|
  SAN|Plato de ducha {70x100;80x120;80x140;90x160} cm|92|198||blanco;arena;pizarra
  CAL|Caldera de condensación {24;28;35} kW [mixta;con acumulador]|690|1290|
  CAL|Radiador de aluminio {4;6;8;10;12} elementos {H-600;H-800}|46|158||blanco;antracita
  CAL|Termo eléctrico {30;50;80;100;150} l|82|239|
  CAL|Vaso de expansión {8;18;35;50} l|14|52|
  CAL|Termostato {digital;wifi;modulante}|19|96|
  CAL|Pellet de madera EN Plus A1 (kg)|0.28|0.28|sack
  CLI|Split mural inverter {2,5;3,5;5,0;7,1} kW [A++;A+++]|298|890|
  CLI|Conductos inverter {7,1;10;12,5;14} kW|920|1890|
  CLI|Aerotermia monobloc {6;8;12;16} kW|2150|4380|
  CLI|Gas refrigerante {R-32;R-290;R-410A} (kg)|14|31|bottle
  CLI|Rejilla de impulsión {300x150;400x150;600x200} mm|9|24|
  SOL|Módulo fotovoltaico {410;450;500;550} Wp|58|94|pallet
  SOL|Inversor de red {3;5;8;10;15} kW|420|1480|
  SOL|Inversor híbrido {3;5;8;10;12} kW|690|2150|
  SOL|Batería de litio {5;10;15} kWh|1250|3480|
  SOL|Estructura {coplanar;inclinada 15°} para {2;4;6;10} módulos|52|330|
  SOL|Cable solar H1Z2Z2-K {4;6;10} mm² [rojo;negro]|0.48|1.15|reel
  SOL|Cargador de vehículo eléctrico {7,4;11;22} kW|310|690|
  ALQ|Plataforma de tijera {8;10;12} m (día)|34|62|
  ALQ|Torre de andamio {4;6;8} m (día)|9|21|
  ALQ|Grupo electrógeno {5;10;20;45} kVA (día)|16|58|
  ALQ|Deshumidificador industrial {30;60} l (día)|11|18|
  ALQ|Cañón de calor {20;50} kW (día)|10|22|
  ALQ|Martillo demoledor {10;15;27} kg (día)|8|19|
  ALQ|Bomba de achique {2;3}" (día)|7|12|
  SER|Hora de [electricista;fontanero;calefactor;instalador solar]|21|21|
  SER|Hora de ayudante de [electricidad;fontanería;climatización;solar]|16|16|
  SER|Desplazamiento zona {1;2;3}|14|38|
  SER|Boletín eléctrico {de vivienda;de local;de nave}|55|190|
  SER|Legalización de autoconsumo {hasta 10 kW;hasta 100 kW}|180|620|
  SER|Revisión de [caldera;gas;climatización;instalación solar]|38|38|
  SER|Alta de suministro de [agua;electricidad]|45|45|`);

const unit = (titulo: string): Format => ({ ref: 'base', titulo, factor: 1 });

const PACKINGS: Record<string, Format[]> = {
  reel: [
    { ...unit('Metro'), compra: false },
    { ref: 'b100', titulo: 'Bobina de 100 m', factor: 100, defecto_venta: true },
    { ref: 'b500', titulo: 'Bobina de 500 m', factor: 500, venta: false },
  ],
  bar: [
    { ...unit('Metro'), venta: false, compra: false },
    { ref: 'barra', titulo: 'Barra de 3 m', factor: 3, defecto_venta: true },
    { ref: 'haz', titulo: 'Haz de 20 barras', factor: 60, venta: false },
  ],
  box: [
    { ...unit('Unidad'), compra: false, defecto_venta: true },
    { ref: 'c10', titulo: 'Caja de 10', factor: 10 },
    { ref: 'c100', titulo: 'Caja de 100', factor: 100 },
    { ref: 'palet', titulo: 'Palet de 2.400', factor: 2400, venta: false },
  ],
  pallet: [
    { ...unit('Módulo'), defecto_venta: true },
    { ref: 'palet', titulo: 'Palet de 31 módulos', factor: 31 },
  ],
  sack: [
    { ref: 'saco', titulo: 'Saco de 15 kg', factor: 15, defecto_venta: true },
    { ref: 'granel', titulo: 'Granel (tonelada aprox.)', factor: 1000, peso_variable: true },
    { ref: 'palet', titulo: 'Palet de 70 sacos', factor: 1050, venta: false },
  ],
  bottle: [{ ref: 'botella', titulo: 'Botella (10 kg aprox.)', factor: 10, peso_variable: true, defecto_venta: true }],
};

/** Every text of a template with how dear it is, from 0 to 1. */
function expand(template: string): { text: string; grade: number }[] {
  let texts = [{ text: '', grades: [] as number[] }];
  for (const part of template.split(/(\{[^}]+\}|\[[^\]]+\])/)) {
    const graded = part.startsWith('{');
    const options = graded || part.startsWith('[') ? part.slice(1, -1).split(';') : [part];
    texts = texts.flatMap(({ text, grades }) =>
      options.map((option, place) => {
        return { text: text + option, grades: graded ? [...grades, place / (options.length - 1)] : grades };
      }),
    );
  }
  const mean = (grades: number[]) => grades.reduce((sum, grade) => sum + grade, 0) / Math.max(1, grades.length);
  return texts.map(({ text, grades }) => ({ text, grade: mean(grades) }));
}

function ean(random: Random): string {
  const digits = `84${random.digits(10)}`;
  const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

function stockOf(random: Random, modo: string, cost: number, packing: string): [stock: number, minimum: number] {
  if (modo === 'servicio') return [0, 0];
  if (modo === 'alquiler') return [random.int(3, 8), 1];
  const usual = packing === 'reel' || packing === 'sack' ? 4000 : packing === 'box' ? 260 : cost > 300 ? 8 : 45;
  const minimum = Math.round(usual * random.real(0.1, 0.25));
  return [random.chance(0.12) ? random.int(0, minimum) : random.int(minimum + 1, usual), minimum];
}

/** The price lists, families and articles. */
export function planCatalogue(context: Context) {
  const random = context.random('catalogue');
  const counts = new Map<string, number>();
  const margins = new Map(FAMILIES.map(([code = '', , margin]) => [code, 1 + Number(margin) / 100]));
  const planned = PRODUCTS.flatMap(([family = '', template = '', low, high, packing = '', choices = '']) =>
    expand(template).map(({ text: descripcion, grade }) => {
      const number = (counts.get(family) ?? 0) + 1;
      counts.set(family, number);
      const code = `${family}-${pad(number, 3)}`;
      const modo = family === 'ALQ' ? 'alquiler' : family === 'SER' ? 'servicio' : 'venta';
      const cost = Number(low) * (Number(high) / Number(low)) ** grade;
      const retail = Math.ceil(cost * 100 * (margins.get(family) ?? 1));
      const cents = [Math.round(cost * 100), retail, Math.round(retail * 0.92), Math.round(retail * 0.84)] as const;
      const [stock, stock_minimo] = stockOf(random, modo, cost, packing);
      const formatos = PACKINGS[packing] ?? [];
      const variaciones =
        choices === '' ? [] : choices.split(';').map((name, index) => ({ ref: `v${index + 1}`, descripcion: name }));
      const article: Article = { ref: code, family, descripcion, modo, cents, stock, formatos, variaciones };
      const row: Row = {
        ref: code,
        referencia: code,
        sku: random.chance(0.6) ? `MON${random.digits(6)}` : null,
        codigo_ean: modo === 'venta' ? ean(random) : null,
        descripcion,
        familia: `fam-${family}`,
        coste: euros(cents[0]),
        modo,
        precios: range(3, (index) => ({ tarifa: index + 1, precio: euros(at(cents, index + 1)) })),
        stock,
        stock_minimo,
        variaciones,
        formatos,
      };
      return { article, row };
    }),
  );
  return {
    articles: planned.map(({ article }) => article),
    rows: {
      tarifas: [true, true, false].map((con_iva, index) => ({ ref: `tar-${index + 1}`, tarifa: index + 1, con_iva })),
      familias: FAMILIES.map(([code, titulo]) => ({ ref: `fam-${code}`, titulo })),
      articulos: planned.map(({ row }, index) => ({ ...row, id: index + 1 })),
    },
  };
}
