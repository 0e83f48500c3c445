// What is run in a thread of its own: `drawPdf` passes the job.
import type { DocumentContent } from '../content.ts';
import { documentPdf, type PdfOptions } from './document.ts';

export interface PdfJob {
  content: DocumentContent;
  options: PdfOptions;
}

export default ({ content, options }: PdfJob): Promise<Uint8Array> => documentPdf(content, options);
