// What is run in a thread of its own: `writeEInvoice` passes the job.
import type { DocumentContent } from '../content.ts';
import { facturae } from './facturae.ts';
import type { EInvoice } from './parts.ts';
import { ubl } from './ubl.ts';

const FORMATS = { facturae, ubl };

export interface EInvoiceJob {
  format: keyof typeof FORMATS;
  content: DocumentContent;
}

export default ({ format, content }: EInvoiceJob): EInvoice => FORMATS[format](content);
