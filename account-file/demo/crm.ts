// The CRM: funnels and their stages, channels, loss reasons, contacts and opportunities.
import type { Context } from './calendar.ts';
import { mobile, NAMES, SURNAMES, suits, TOWNS, TRADES, WORKS } from './names-and-places.ts';
import type { Client } from './parties.ts';
import { along, at, instant, list, plus, range, slug, table, titled, withIds } from './tools.ts';

const FUNNELS = table(`Instalaciones y reformas|Nuevo contacto;Visita técnica;Presupuesto enviado;Negociación;Cierre
  Autoconsumo solar|Solicitud;Estudio de cubierta;Propuesta enviada;Financiación y ayudas;Negociación;Firma
  Contratos de mantenimiento|Interesado;Oferta enviada;Revisión de condiciones;Firma`);
const CHANNELS = 'Página web|Teléfono|Recomendación|Tienda|Administradores de fincas|Portal de reformas|Redes sociales';
const REASONS = `Precio demasiado alto|Eligió a la competencia|Aplazado por el cliente|Sin financiación|Sin respuesta
  Inviable técnicamente|Fuera de nuestra zona`;
const COMMENTS = list(`Una oferta un 12 % más baja|Lo retomará después del verano|La comunidad no lo aprobó en junta
  No contesta a las llamadas|La cubierta no admite la carga|Espera la resolución de la ayuda`);
const MAINTENANCE = list('Mantenimiento de calderas|Mantenimiento eléctrico anual|Revisión de placas solares');

/** 3 funnels, 150 contacts and 300 opportunities: the older ones mostly won or lost, the recent ones mostly open. */
export function planCrm(context: Context, clients: readonly Client[]) {
  const { today, from } = context;
  const random = context.random('crm');
  let stages = 0;
  const funnels = FUNNELS.map(([titulo, names = ''], index) => {
    const etapas = names.split(';').map((name) => ({ ref: `eta-${++stages}`, id: stages, titulo: name }));
    return { ref: `fun-${index + 1}`, titulo, etapas };
  });
  const [canales, motivos_perdida] = [titled('can', CHANNELS), titled('mot', REASONS, 'motivo')];
  const addresses = new Set<string>();
  const contacts = range(150, (index) => {
    const client = index % 2 === 0 ? at(clients, index * 7) : undefined;
    const nombre = `${random.pick(NAMES)} ${random.pick(SURNAMES)} ${random.pick(SURNAMES)}`;
    const address = `${slug(nombre)}@correo.example`;
    const email = random.chance(0.05) || addresses.size === addresses.add(address).size ? null : address;
    const empresa = client && !client.home ? client.nombre : null;
    const town = client?.town ?? at(random.pick(TOWNS).split(' '), 1);
    const row = { ref: `cto-${index + 1}`, nombre, empresa, email, movil: mobile(random), cliente: client?.ref };
    return { ref: row.ref, client, town, row };
  });
  const drafts = range(300, () => {
    const created = context.done(along(from, today, random.real()));
    const place = random.pick([0, 0, 1, 1, 2]);
    const { ref: funnel, etapas } = at(funnels, place);
    const { client, town, ref: contacto } = random.pick(contacts);
    const all = at([WORKS[random.pick(TRADES)], WORKS.sol, MAINTENANCE], place);
    const works = all.filter((work) => suits(work, client?.home ?? true));
    const closing = plus(created, random.int(4, 140));
    const open = closing >= today || random.chance(0.04);
    const won = !open && random.chance(0.42);
    const motivo = open || won || random.chance(0.12) ? null : random.pick(motivos_perdida).ref;
    const size = place === 2 ? random.real(2.5, 3.6) : random.real(3.2, 4.9);
    const fecha_creacion = instant(random, created);
    const etapa = at(etapas, won ? -1 : random.int(0, etapas.length - (open ? 1 : 2))).ref;
    const canal = random.chance(0.9) ? random.pick(canales).ref : null;
    const cliente = client?.ref ?? (won ? random.pick(clients).ref : null);
    const comentarios = motivo && random.chance(0.4) ? random.pick(COMMENTS) : null;
    const valor = open && random.chance(0.3) ? null : Math.round(10 ** size);
    const fecha_cierre = open ? null : instant(random, context.done(closing));
    const what = { titulo: `${random.pick(works)} en ${town}`, funnel, etapa, canal, contacto, cliente };
    const result = { estado: open ? 'abierta' : won ? 'ganado' : 'perdido', motivo, comentarios, valor };
    return { ...what, ...result, fecha_creacion, fecha_cierre };
  });
  const sorted = drafts.sort((a, b) => (a.fecha_creacion < b.fecha_creacion ? -1 : 1));
  return {
    funnels: withIds(funnels),
    canales: withIds(canales),
    motivos_perdida: withIds(motivos_perdida),
    contactos: withIds(contacts.map(({ row }) => row)),
    oportunidades: withIds(sorted.map((row, index) => ({ ref: `opo-${index + 1}`, ...row }))),
  };
}
