// The CRM: funnels and their stages, channels, loss reasons, contacts and opportunities.
import type { Context } from './calendar.ts';
import { mobile, NAMES, SURNAMES, TOWNS, TRADES, WORKS } from './names-and-places.ts';
import type { Client } from './parties.ts';
import { at, dateIn, earlier, instant, list, plus, type Row, range, slug, table, titled } from './tools.ts';

const FUNNELS = table(`Instalaciones y reformas|Nuevo contacto;Visita técnica;Presupuesto enviado;Negociación;Cierre
  Autoconsumo solar|Solicitud;Estudio de cubierta;Propuesta enviada;Financiación y ayudas;Negociación;Firma
  Contratos de mantenimiento|Interesado;Oferta enviada;Revisión de condiciones;Firma`);

const CHANNELS = list(
  'Página web|Teléfono|Recomendación|Tienda|Administradores de fincas|Portal de reformas|Redes sociales',
);

const REASONS =
  list(`Precio demasiado alto|Eligió a la competencia|Aplazado por el cliente|Sin financiación|Sin respuesta
  Inviable técnicamente|Fuera de nuestra zona`);

const COMMENTS =
  list(`Nos compara con una oferta un 12 % más baja|Lo retomará después del verano|La comunidad no lo aprobó en junta
  No contesta a las llamadas|La cubierta no admite la carga|Esperan la resolución de la ayuda`);

const MAINTENANCE = list(
  'Mantenimiento de calderas|Mantenimiento eléctrico anual|Revisión de placas solares|Mantenimiento de piscina',
);

const numberedFrom = (rows: readonly Row[]): Row[] => rows.map((row, index) => ({ ...row, id: index + 1 }));

/** 3 funnels, 150 contacts and 300 opportunities: the older ones mostly won or lost, the recent ones mostly open. */
export function planCrm(context: Context, clients: readonly Client[]) {
  const { today, from } = context;
  const random = context.random('crm');
  let stages = 0;
  const funnels = FUNNELS.map(([titulo, names = ''], index) => {
    const etapas = names.split(';').map((name) => ({ ref: `eta-${++stages}`, id: stages, titulo: name }));
    return { ref: `fun-${index + 1}`, id: index + 1, titulo, etapas };
  });
  const addresses = new Set<string>();
  const contacts = range(150, (index) => {
    const client = index % 2 === 0 ? at(clients, index * 7) : undefined;
    const nombre = `${random.pick(NAMES)} ${random.pick(SURNAMES)} ${random.pick(SURNAMES)}`;
    const address = `${slug(nombre)}@correo.example`;
    const email = addresses.has(address) || random.chance(0.05) ? null : address;
    addresses.add(address);
    const empresa =
      client && !client.home ? client.nombre : random.chance(0.15) ? `Reformas ${random.pick(SURNAMES)}` : null;
    const row = { ref: `cto-${index + 1}`, nombre, empresa, email, movil: random.chance(0.85) ? mobile(random) : null };
    return { client, town: client?.town ?? at(random.pick(TOWNS), 0), row: { ...row, cliente: client?.ref ?? null } };
  });
  const drafts = range(300, () => {
    const created = dateIn(random, from, plus(today, -1));
    const place = random.pick([0, 0, 1, 1, 2]);
    const { ref: funnel, etapas } = at(funnels, place);
    const { client, town, row: contact } = random.pick(contacts);
    const work = random.pick(
      at([random.pick(TRADES.slice(0, 3).map((trade) => WORKS[trade])), WORKS.sol, MAINTENANCE], place),
    );
    const closing = plus(created, random.int(4, 110));
    const open = closing >= today || random.chance(0.05);
    const won = !open && random.chance(0.42);
    const reason = !open && !won && random.chance(0.88) ? `mot-${random.int(1, REASONS.length)}` : null;
    const stage = won ? etapas.length - 1 : random.int(0, etapas.length - (open ? 1 : 2));
    return {
      titulo: `${work} en ${town}`,
      funnel,
      etapa: at(etapas, stage).ref,
      canal: random.chance(0.9) ? `can-${random.int(1, CHANNELS.length)}` : null,
      contacto: contact.ref,
      cliente: client?.ref ?? (won ? random.pick(clients).ref : null),
      estado: open ? 'abierta' : won ? 'ganado' : 'perdido',
      motivo: reason,
      comentarios: reason && random.chance(0.4) ? random.pick(COMMENTS) : null,
      valor:
        open && random.chance(0.3)
          ? null
          : Math.round(10 ** random.real(place === 2 ? 2.5 : 3.2, place === 2 ? 3.6 : 4.9)),
      fecha_creacion: instant(random, created),
      fecha_cierre: open ? null : instant(random, earlier(closing, plus(today, -1))),
    };
  }).sort((a, b) => (a.fecha_creacion < b.fecha_creacion ? -1 : 1));
  return {
    funnels,
    canales: numberedFrom(titled('can', CHANNELS)),
    motivos_perdida: REASONS.map((motivo, index) => ({ ref: `mot-${index + 1}`, id: index + 1, motivo })),
    contactos: contacts.map(({ row }) => row),
    oportunidades: numberedFrom(drafts.map((row, index) => ({ ref: `opo-${index + 1}`, ...row }))),
  };
}
