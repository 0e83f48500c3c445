import { children, collection } from '../collection.ts';
import {
  choice,
  innerReference,
  instantOrNow,
  optionalDecimal,
  optionalEmail,
  optionalInstant,
  optionalReference,
  optionalText,
  reference,
  text,
} from '../fields.ts';
import { clients } from './parties.ts';

export const funnels = collection(
  'funnels',
  'funnels',
  { titulo: text('title') },
  { children: { etapas: children('funnel_stages', 'funnel_id', { titulo: text('title') }, { named: true }) } },
);

export const channels = collection('canales', 'channels', { titulo: text('title') });
export const lossReasons = collection('motivos_perdida', 'loss_reasons', { motivo: text('title') });

export const contacts = collection('contactos', 'contacts', {
  nombre: optionalText('name', ''),
  empresa: optionalText('company', ''),
  email: optionalEmail('email', ''),
  movil: optionalText('mobile', ''),
  cliente: optionalReference(clients, 'client_id'),
});

export const opportunities = collection('oportunidades', 'opportunities', {
  titulo: text('title'),
  funnel: reference(funnels, 'funnel_id'),
  etapa: innerReference(funnels, 'etapas', 'funnel', 'stage_id'),
  canal: optionalReference(channels, 'channel_id'),
  contacto: optionalReference(contacts, 'contact_id'),
  cliente: optionalReference(clients, 'client_id'),
  estado: choice('state', { abierta: 'open', ganado: 'won', perdido: 'lost' }, 'abierta'),
  motivo: optionalReference(lossReasons, 'loss_reason_id'),
  comentarios: optionalText('comments'),
  valor: optionalDecimal('closing_value'),
  fecha_creacion: instantOrNow('opened_at'),
  fecha_cierre: optionalInstant('closed_at'),
});
