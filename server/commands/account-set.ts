// `albaran account set`

import { keepPicture, type Picture } from '../../documents/company-logo.ts';
import { raiseCounter, type SeriesName, seriesChange } from '../../documents/series.ts';
import { projectTotals, timeEntryDays } from '../../figures/figures.ts';
import { recompute } from '../../figures/rollups.ts';
import { switchAutomaticIssuing } from '../../platform/automatic-issuing.ts';
import { systemClock } from '../../platform/clock.ts';
import { changeOf } from '../../platform/journal.ts';
import { type AddCommand, journalByCommand } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { callsPerMinute, color, email, iban, logo, onOrOff, series, timeZone, vatScheme } from './account-options.ts';

interface Options {
  account: string;
  name?: string;
  quota?: number | 'none';
  timeZone?: string;
  automaticIssuing?: boolean;
  taxId?: string;
  legalName?: string;
  address?: string;
  postalCode?: string;
  city?: string;
  province?: string;
  country?: string;
  email?: string;
  iban?: string;
  logo?: Picture | '';
  color?: string;
  vatScheme?: ReturnType<typeof vatScheme>;
  deliveryNoteSeries?: string;
  invoiceSeries?: string;
  rectificationSeries?: string;
  estimateSeries?: string;
}

const OPTION_OF = {
  albaran: '--delivery-note-series',
  factura: '--invoice-series',
  rectificativa: '--rectification-series',
  presupuesto: '--estimate-series',
} as const satisfies Record<SeriesName, string>;

export const addAccountSet: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('set')
    .description('changes a company’s settings; options that are not given stay unchanged')
    .requiredOption('--account <slug>', 'the company')
    .option('--name <name>', 'its name')
    .option('--quota <calls>', 'calls it may make in a minute; "none" for the service’s QUOTA_PER_MINUTE', (text) =>
      text === 'none' ? text : callsPerMinute(text),
    )
    .option('--time-zone <zone>', 'its time zone, an IANA name', timeZone)
    .option(
      '--automatic-issuing <on|off>',
      'whether its renewals are issued automatically, from the day it is switched on; earlier ones stay due',
      onOrOff,
    )
    .option('--tax-id <number>', 'its tax id (NIF); "" for none, here and below')
    .option('--legal-name <name>', 'what it is called on its documents (default: its name)')
    .option('--address <address>', 'street and number on its documents')
    .option('--postal-code <code>', 'postal code')
    .option('--city <city>', 'town or city')
    .option('--province <province>', 'province')
    .option('--country <country>', 'country')
    .option('--email <address>', 'e-mail address on its documents', email)
    .option('--iban <iban>', 'the account that its clients pay into', iban)
    .option('--logo <file>', 'a PNG or JPEG for its PDFs', logo)
    .option('--color <color>', 'of its PDFs’ titles and totals, #rrggbb', color)
    .option('--vat-scheme <general|caja>', 'its VAT scheme; caja: cash accounting', vatScheme)
    .option(
      `${OPTION_OF.albaran} <series>`,
      'what numbers of delivery notes begin with before the year; "" for A',
      series,
    )
    .option(`${OPTION_OF.factura} <series>`, 'the same of invoices; "" for F', series)
    .option(`${OPTION_OF.rectificativa} <series>`, 'the same of rectifying invoices; "" for R', series)
    .option(`${OPTION_OF.presupuesto} <series>`, 'the same of estimates; "" for P', series)
    .action(({ account, name, quota, timeZone, automaticIssuing, ...onDocuments }: Options) => {
      if (
        [name, quota, timeZone, automaticIssuing, ...Object.values(onDocuments)].every((value) => value === undefined)
      ) {
        throw new Failure('Nothing to change: give an option, such as --name or --iban', { exitCode: 2 });
      }
      return onDatabase(async ({ database }) => {
        const { id } = await companyOf(database, account);
        await database.transaction(id, { write: true }, async (db) => {
          const { columns, changed, repeated } = await seriesChange(db, id, {
            albaran: onDocuments.deliveryNoteSeries,
            factura: onDocuments.invoiceSeries,
            rectificativa: onDocuments.rectificationSeries,
            presupuesto: onDocuments.estimateSeries,
          });
          const [same] = repeated;
          if (same)
            throw new Failure(`${OPTION_OF[same.name]}: this is the series of ${OPTION_OF[same.other]} already`);
          const picture = onDocuments.logo;
          const named = picture ? await keepPicture(db, id, picture) : orNull(picture);
          await db
            .updateTable('accounts')
            .set((eb) => ({
              name,
              quota_per_minute: quota === 'none' ? null : quota,
              time_zone: timeZone,
              tax_id: orNull(onDocuments.taxId),
              legal_name: orNull(onDocuments.legalName),
              address: orNull(onDocuments.address),
              postal_code: orNull(onDocuments.postalCode),
              city: orNull(onDocuments.city),
              province: orNull(onDocuments.province),
              country: orNull(onDocuments.country),
              email: orNull(onDocuments.email),
              iban: orNull(onDocuments.iban),
              logo: named,
              color: orNull(onDocuments.color),
              vat_scheme: onDocuments.vatScheme === undefined ? undefined : onDocuments.vatScheme || null,
              ...columns,
              version: eb('version', '+', 1),
              updated_at: eb.fn<string>('now'),
            }))
            .where('id', '=', id)
            .execute();
          for (const document of changed) await raiseCounter(db, id, document);
          if (automaticIssuing !== undefined) {
            await switchAutomaticIssuing(db, id, automaticIssuing, systemClock.now());
          }
          // These rollups depend on when local days begin.
          if (timeZone !== undefined) {
            for (const rollup of [timeEntryDays, projectTotals]) await recompute(db, id, rollup);
          }
          await journalByCommand(db, id, 'account set', [changeOf('modify', 'account', id)]);
        });
        return { json: { id, slug: account }, text: `${account} is changed` };
      });
    });

/** A text that is given empty is none; one that is not given stays. */
const orNull = (text: string | undefined) => (text === undefined ? undefined : text.trim() || null);
