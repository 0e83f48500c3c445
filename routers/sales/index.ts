import { annulDeliveryNote } from './annul-delivery-note.ts';
import { annulInvoice } from './annul-invoice.ts';
import { answerEstimate } from './answer-estimate.ts';
import { attachToEstimate } from './attach-to-estimate.ts';
import { convertEstimate } from './convert-estimate.ts';
import { createDeliveryNote } from './create-delivery-note.ts';
import { createEstimate } from './create-estimate.ts';
import { createInvoice } from './create-invoice.ts';
import { downloadDeliveryNote } from './download-delivery-note.ts';
import { downloadEstimate } from './download-estimate.ts';
import { downloadFacturae } from './download-facturae.ts';
import { downloadInvoice } from './download-invoice.ts';
import { downloadUbl } from './download-ubl.ts';
import { getDeliveryNote } from './get-delivery-note.ts';
import { getDocumentHistory } from './get-document-history.ts';
import { getEstimate } from './get-estimate.ts';
import { getInvoice } from './get-invoice.ts';
import { getInvoiceRegister } from './get-register.ts';
import { listDeliveryNotes } from './list-delivery-notes.ts';
import { listEstimateAttachments } from './list-estimate-attachments.ts';
import { listEstimates } from './list-estimates.ts';
import { listInvoices } from './list-invoices.ts';
import { rectifyInvoice } from './rectify-invoice.ts';
import { reportSales } from './report-sales.ts';
import { verifyIssuedDocuments } from './verify-documents.ts';

export const estimates = {
  estimates: {
    list: listEstimates,
    get: getEstimate,
    download: downloadEstimate,
    create: createEstimate,
    answer: answerEstimate,
    convert: convertEstimate,
    listAttachments: listEstimateAttachments,
    attach: attachToEstimate,
  },
};

export const documents = {
  documents: { verify: verifyIssuedDocuments, history: getDocumentHistory, register: getInvoiceRegister },
};

export const sales = {
  salesReport: { get: reportSales },
  deliveryNotes: {
    list: listDeliveryNotes,
    get: getDeliveryNote,
    download: downloadDeliveryNote,
    create: createDeliveryNote,
    annul: annulDeliveryNote,
  },
  invoices: {
    list: listInvoices,
    get: getInvoice,
    download: downloadInvoice,
    facturae: downloadFacturae,
    ubl: downloadUbl,
    create: createInvoice,
    rectify: rectifyInvoice,
    annul: annulInvoice,
  },
};
