import { collection } from '../collection.ts';
import { group, optionalEmail, optionalFlag, optionalPriceList, optionalText, text } from '../fields.ts';

export const clients = collection('clientes', 'clients', {
  nombre_fiscal: text('legal_name'),
  nombre_comercial: optionalText('trade_name', ''),
  cif: optionalText('tax_id', ''),
  email: optionalEmail('email', ''),
  telefono: optionalText('phone', ''),
  movil: optionalText('mobile', ''),
  direccion: optionalText('address', ''),
  cp: optionalText('postal_code', ''),
  poblacion: optionalText('city', ''),
  provincia: optionalText('province', ''),
  pais: optionalText('country', ''),
  tarifa: optionalPriceList('price_list'),
  rgpd: group({
    comunicaciones_email: optionalFlag('allows_email'),
    comunicaciones_whatsapp: optionalFlag('allows_whatsapp'),
    comunicaciones_sms: optionalFlag('allows_sms'),
    tratamiento_imagenes: optionalFlag('allows_images'),
  }),
});

export const suppliers = collection('proveedores', 'suppliers', {
  nombre_fiscal: text('legal_name'),
  nombre_comercial: optionalText('trade_name', ''),
  cif: optionalText('tax_id', ''),
  email: optionalEmail('email', ''),
  telefono: optionalText('phone', ''),
  movil: optionalText('mobile'),
});
