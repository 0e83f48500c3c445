// The catalogue: price lists, families and 400 articles with their formats and variations.
import type { Context } from './calendar.ts';
import { at, euros, pad, range, table, withIds } from './tools.ts';

// Code, title, margin over cost in percent.
const FAMILIES = table(`CAB|Cable eléctrico|45//MEC|Mecanismos|70//CUA|Protección y cuadros|65
  CAN|Canalización y cajas|75//ILU|Iluminación|60//COB|Tubería y accesorios de cobre|60
  PEX|Multicapa y accesorios de prensar|65//PVC|PVC y evacuación|85//VAL|Valvulería y contadores|60
  SAN|Sanitarios y grifería|55//CAL|Calefacción y agua caliente|40//CLI|Climatización|38//SOL|Energía solar|35
  ALQ|Alquiler de maquinaria|150//SER|Mano de obra y servicios|70`);

// Family, description, lowest and highest cost, packing, variations. {a;b} goes from cheap to expensive; [a;b] costs the same.
const PRODUCTS =
  table(`CAB|Cable H07Z1-K 1x{1,5;2,5;4;6;10;16} mm² [azul;negro;marrón;gris;amarillo-verde]|.19|1.74|reel
  CAB|Manguera RV-K 0,6/1 kV {3G1,5;3G2,5;3G4;5G6;5G10} mm²|.62|5.9|reel
  MEC|{Interruptor;Conmutador;Pulsador;Cruzamiento;Base schuko;Toma RJ45;Regulador LED} {Nova;Alba;Lira}|2.3|21|box|blanco;aluminio
  MEC|Marco {1;2;3;4} elementos {Nova;Alba;Lira}|1.1|9.5|box|blanco;aluminio;antracita
  CUA|Magnetotérmico {1P+N;2P;4P} {10;16;20;25;32;40;63} A curva C|4.2|46|box
  CUA|Diferencial {2P 25 A;2P 40 A;4P 40 A;4P 63 A} 30 mA {clase AC;clase A superinmunizado}|19|178
  CUA|Cuadro de superficie {12;24;36;54} módulos|11|68
  CAN|Tubo corrugado {16;20;25;32;40} mm [estándar;libre de halógenos]|.16|.98|reel
  CAN|Canal PVC blanca {16x16;25x25;40x40;60x40;100x60} mm|.7|5.2|bar
  CAN|Caja de derivación estanca {80x80;100x100;150x110;200x150} mm|.9|6.4|box
  ILU|Downlight LED {6;12;18;24} W [empotrable;de superficie]|5.1|19|box|3000 K;4000 K;6500 K
  ILU|Panel LED 60x60 {36;40;48} W|17|29|box|4000 K;6500 K//ILU|Proyector LED IP65 {20;50;100;200} W|9|72
  ILU|Luminaria de emergencia {100;200;400} lm|14|38|box//ILU|Tira LED 24 V {9,6;14,4;19,2} W/m|2.9|6.8|reel
  COB|Tubo de cobre {12;15;18;22;28;35} mm|3.1|14.5|bar
  COB|{Manguito;Codo 90°;Te} de cobre {12;15;18;22;28;35} mm|.35|6.2|box
  PEX|Tubo multicapa {16x2;20x2;25x2,5;32x3} mm|.75|3.6|reel
  PEX|{Manguito;Codo;Te;Racor macho;Racor hembra} de prensar {16;20;25;32} mm|1.9|14|box
  PVC|Tubo PVC evacuación {32;40;50;75;90;110;125;160} mm|.8|6.5|bar
  PVC|{Manguito;Codo 45°;Codo 87°;Te 87°} PVC {32;40;50;75;90;110;125;160} mm|.4|9.2|box
  VAL|Válvula de [esfera;retención] {1/2";3/4";1";1 1/4";1 1/2";2"}|3.6|31|box
  VAL|Reductora de presión {1/2";3/4";1"}|21|49//VAL|Contador de agua {13;15;20;25} mm|18|74
  SAN|Grifo de {lavabo;bidé;ducha;fregadero} {monomando;termostático} serie [Jara;Duna]|29|118||cromo;negro mate
  SAN|Inodoro {de tanque bajo;compacto;suspendido}|78|235//SAN|Lavabo {50;60;80} cm|42|110
  SAN|Plato de ducha {70x100;80x120;80x140;90x160} cm|92|198||blanco;arena;pizarra
  CAL|Caldera de condensación {24;28;35} kW [mixta;con acumulador]|690|1290
  CAL|Radiador de aluminio {4;6;8;10;12} elementos {H-600;H-800}|46|158||blanco;antracita
  CAL|Termo eléctrico {30;50;80;100;150} l|82|239//CAL|Vaso de expansión {8;18;35;50} l|14|52
  CAL|Termostato {digital;wifi;modulante}|19|96//CAL|Pellet de madera EN Plus A1 (kg)|.28|.28|sack
  CLI|Split mural inverter {2,5;3,5;5,0;7,1} kW [A++;A+++]|298|890
  CLI|Conductos inverter {7,1;10;12,5;14} kW|920|1890//CLI|Aerotermia monobloc {6;8;12;16} kW|2150|4380
  CLI|Gas {R-32;R-290;R-410A} (kg)|14|31|bottle//CLI|Rejilla de impulsión {300x150;400x150;600x200} mm|9|24
  SOL|Módulo fotovoltaico {410;450;500;550} Wp|58|94|pallet//SOL|Inversor de red {3;5;8;10;15} kW|420|1480
  SOL|Inversor híbrido {3;5;8;10;12} kW|690|2150//SOL|Batería de litio {5;10;15} kWh|1250|3480
  SOL|Estructura {coplanar;inclinada 15°} para {2;4;6;10} módulos|52|330
  SOL|Cable solar H1Z2Z2-K {4;6;10} mm² [rojo;negro]|.48|1.15|reel
  SOL|Cargador de vehículo eléctrico {7,4;11;22} kW|310|690
  ALQ|Plataforma de tijera {8;10;12} m (día)|34|62//ALQ|Torre de andamio {4;6;8} m (día)|9|21
  ALQ|Grupo electrógeno {5;10;20;45} kVA (día)|16|58//ALQ|Deshumidificador {30;60} l (día)|11|18
  ALQ|Cañón de calor {20;50} kW (día)|10|22//ALQ|Martillo demoledor {10;15;27} kg (día)|8|19
  ALQ|Bomba de achique {2;3}" (día)|7|12//SER|Hora de [electricista;fontanero;calefactor;instalador solar]|21|21
  SER|Hora de ayudante de [electricidad;fontanería;climatización;solar]|16|16
  SER|Desplazamiento zona {1;2;3}|14|38//SER|Boletín eléctrico {de vivienda;de local;de nave}|55|190
  SER|Legalización de autoconsumo {hasta 10 kW;hasta 100 kW}|180|620
  SER|Revisión de [caldera;gas;climatización;instalación solar]|38|38//SER|Alta de [agua;electricidad]|45|45`);

// Packing, ref, title, base units in one, and flags: C not bought, V not sold, D default for sale, P variable weight.
const PACKINGS = table(`reel|metro|Metro|1|C//reel|b100|Bobina de 100 m|100|D//reel|b500|Bobina de 500 m|500|V
  bar|barra|Barra de 3 m|3|D//bar|haz|Haz de 20 barras|60|V//box|unidad|Unidad|1|CD//box|c10|Caja de 10|10|
  box|c100|Caja de 100|100|//box|palet|Palet de 2.400|2400|V//pallet|modulo|Módulo|1|D
  pallet|palet|Palet de 31 módulos|31|//sack|saco|Saco de 15 kg|15|D//sack|palet|Palet de 70 sacos|1050|V
  sack|granel|Granel (tonelada aprox.)|1000|P//bottle|botella|Botella (10 kg aprox.)|10|DP`);

const formatsOf = (packing: string) =>
  PACKINGS.filter(([name]) => name === packing).map(([, ref = '', titulo = '', factor, is = '']) => {
    const trade = { venta: !is.includes('V'), compra: !is.includes('C'), defecto_venta: is.includes('D') };
    return { ref, titulo, factor: Number(factor), peso_variable: is.includes('P'), ...trade };
  });

/** Every text of a template with its price level from 0 to 1. */
function expand(template: string): { text: string; grade: number }[] {
  let texts = [{ text: '', grades: [] as number[] }];
  for (const part of template.split(/(\{[^}]+\}|\[[^\]]+\])/)) {
    const options = /^[{[]/.test(part) ? part.slice(1, -1).split(';') : [part];
    const grade = (place: number) => (part.startsWith('{') ? [place / (options.length - 1)] : []);
    texts = texts.flatMap(({ text, grades }) =>
      options.map((option, place) => ({ text: text + option, grades: [...grades, ...grade(place)] })),
    );
  }
  const mean = (grades: number[]) => grades.reduce((sum, grade) => sum + grade, 0) / Math.max(1, grades.length);
  return texts.map(({ text, grades }) => ({ text, grade: mean(grades) }));
}

/** An article as documents need it; `cents` per base unit: the cost, then the prices of lists 1, 2 and 3. */
export type Article = ReturnType<typeof planCatalogue>['articles'][number];

/** The price lists, families and articles. */
export function planCatalogue(context: Context) {
  const random = context.random('catalogue');
  const margins = new Map(FAMILIES.map(([code, , margin]) => [code, 1 + Number(margin) / 100]));
  const counts = new Map<string, number>();
  const articleOf = (family: string, descripcion: string, cost: number, packing: string, choices: string) => {
    counts.set(family, (counts.get(family) ?? 0) + 1);
    const ref = `${family}-${pad(counts.get(family) ?? 0, 3)}`;
    const modo = family === 'ALQ' ? 'alquiler' : family === 'SER' ? 'servicio' : 'venta';
    const retail = Math.ceil(cost * 100 * (margins.get(family) ?? 1));
    const cents = [Math.round(cost * 100), retail, Math.round(retail * 0.92), Math.round(retail * 0.84)] as const;
    const usual = /reel|sack/.test(packing) ? 4000 : packing === 'box' ? 260 : cost > 300 ? 8 : 45;
    // A service always has stock 0: its minimum is below that, so that it never counts as short.
    const minimum = modo === 'venta' ? Math.round(usual * random.real(0.1, 0.25)) : modo === 'servicio' ? -1 : 0;
    const held = random.chance(0.12) ? random.int(0, minimum) : random.int(minimum + 1, usual);
    const stock = modo === 'venta' ? held : modo === 'alquiler' ? random.int(3, 8) : 0;
    const names = choices === '' ? [] : choices.split(';');
    const variaciones = names.map((name, index) => ({ ref: `v${index + 1}`, descripcion: name }));
    const formatos = formatsOf(packing);
    const code = `84${random.digits(10)}`;
    const sum = [...code].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0);
    const codigo_ean = modo === 'venta' ? `${code}${(10 - (sum % 10)) % 10}` : null;
    const sku = random.chance(0.6) ? `MON${random.digits(6)}` : null;
    const precios = range(3, (index) => ({ tarifa: index + 1, precio: euros(at(cents, index + 1)) }));
    const codes = { ref, referencia: ref, sku, codigo_ean, descripcion, familia: `fam-${family}` };
    const trade = { coste: euros(cents[0]), modo, precios, stock, stock_minimo: minimum, variaciones, formatos };
    return { ref, family, descripcion, modo, cents, formatos, variaciones, row: { ...codes, ...trade } };
  };
  const articles = PRODUCTS.flatMap(([family = '', template = '', low, high, packing = '', choices = '']) =>
    expand(template).map(({ text, grade }) => {
      return articleOf(family, text, Number(low) * (Number(high) / Number(low)) ** grade, packing, choices);
    }),
  );
  const tarifas = range(3, (index) => ({ ref: `tar-${index + 1}`, tarifa: index + 1, con_iva: index < 2 }));
  const familias = FAMILIES.map(([code, titulo]) => ({ ref: `fam-${code}`, titulo }));
  return { articles, rows: { tarifas, familias, articulos: withIds(articles.map(({ row }) => row)) } };
}
