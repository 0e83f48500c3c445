// How a client is shown: by itself, and with its project.
import { flagOf, idOf, shape, textOf } from './shape.ts';

/** The `cliente` block of projects and of the client list, of a client `c`. */
export const client = {
  clienteId: idOf('client', 'c.id as client_id'),
  nombre_fiscal: textOf('c.legal_name'),
  nombre_comercial: textOf('c.trade_name'),
  cif: textOf('c.tax_id'),
  email: textOf('c.email'),
  telefono: textOf('c.phone'),
  movil: textOf('c.mobile'),
  rgpd: shape({
    comunicaciones_email: flagOf('c.allows_email').orNull(),
    comunicaciones_whatsapp: flagOf('c.allows_whatsapp').orNull(),
    comunicaciones_sms: flagOf('c.allows_sms').orNull(),
    tratamiento_imagenes: flagOf('c.allows_images').orNull(),
  }),
};
