// The large company of the aggressive callers: staff with many open tasks, weekly services, invoices, an attachment.
import { importAccountFile } from '../../../account-file/import.ts';
import type { FileRecord } from '../../helpers/world.ts';
import { newApiKey, newCompany, type Stand } from '../stand.ts';

export interface Sizes {
  employees: number;
  tasksEach: number;
  recurrings: number;
  invoices: number;
  /** Bytes of the attachment. */
  attachment: number;
}

export interface LargeCompany {
  account: number;
  /** Of a read-write key. */
  headers: Record<string, string>;
  /** Of a read-only key. */
  readOnly: Record<string, string>;
}

/** Creates it, with today's date of the machine. */
export async function largeCompany(stand: Stand, sizes: Sizes): Promise<LargeCompany> {
  const account = await newCompany(stand, [{ coleccion: 'clientes', ref: 'c', nombre_fiscal: 'Cliente' }]);
  await importAccountFile(stand.database, account, lines(sizes));
  const headers = await newApiKey(stand, account);
  const readOnly = await newApiKey(stand, account);
  await stand.admin.query('update api_keys set can_write = false where account_id = $1 and key = $2', [
    account,
    readOnly['x-api-key'],
  ]);
  return { account, headers, readOnly };
}

function* lines(sizes: Sizes): Generator<string> {
  let ref = 0;
  for (const record of records(sizes)) yield JSON.stringify({ ref: `l${ref++}`, ...record });
}

function* records({ employees, tasksEach, recurrings, invoices, attachment }: Sizes): Generator<FileRecord> {
  yield { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Grande' };
  const lineas = [{ descripcion: 'Servicio', cantidad: 1, importe_unitario: 10 }];
  const today = Temporal.Now.plainDateISO();
  yield { coleccion: 'tipos_contrato', ref: 't', titulo: 'Indefinido' };
  for (let number = 0; number < employees; number++) {
    yield { coleccion: 'empleados', ref: `e${number}`, nombre: `Nombre ${number}`, apellidos: `Apellido ${number}` };
  }
  for (let number = 0; number < employees; number++) {
    const empleado = `e${number}`;
    yield {
      coleccion: 'contratos',
      empleado,
      tipo_contrato: 't',
      fecha_alta: '2020-01-01',
      minimo_horas_dia_laborable: 8,
    };
  }
  for (let number = 0; number < employees * tasksEach; number++) {
    yield { coleccion: 'tareas', titulo: `Tarea sin fecha número ${number}`, responsable: `e${number % employees}` };
  }
  yield { coleccion: 'presupuestos', ref: 'p', fecha: String(today), cliente: 'c', lineas };
  yield {
    coleccion: 'adjuntos',
    presupuesto: 'p',
    nombre: 'planos.pdf',
    tipo_mime: 'application/pdf',
    fecha_subida: `${today} 00:00:01`,
    contenido: Buffer.alloc(attachment, 'x').toString('base64'),
  };
  for (let number = 0; number < recurrings; number++) {
    yield {
      coleccion: 'recurrentes',
      descripcion: `Revisión semanal ${number}`,
      cliente: 'c',
      periodicidad: 'semanal',
      fecha_creacion: String(today),
      fecha_inicio: String(today),
      lineas,
    };
  }
  for (let number = 0; number < invoices; number++) {
    yield { coleccion: 'facturas', fecha: String(today.subtract({ days: number % 300 })), cliente: 'c', lineas };
  }
}
