// The agency's published schemas, from a folder: they are not part of this project.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';

const AGENCY = 'https://prewww2.aeat.es/static_files/common/internet/dep/aplicaciones/es/aeat/tikeV1.0/cont/ws/';
const SIGNATURES = 'http://www.w3.org/TR/xmldsig-core/xmldsig-core-schema.xsd';

const FILES = {
  'SuministroInformacion.xsd': `${AGENCY}SuministroInformacion.xsd`,
  'SuministroLR.xsd': `${AGENCY}SuministroLR.xsd`,
  'xmldsig-core-schema.xsd': SIGNATURES,
};

/** What to do if the folder is not named, or lacks files. */
export function missing(folder: string | undefined): string | undefined {
  const lacking = Object.entries(FILES).filter(([file]) => folder === undefined || !existsSync(join(folder, file)));
  if (lacking.length === 0) return undefined;
  return [
    folder === undefined ? 'Name the folder of the schemas: --schemas <folder>.' : `${folder} lacks schemas.`,
    'Download them into one folder, as they are:',
    ...lacking.map(([file, url]) => `  ${file}  ${url}`),
  ].join('\n');
}

/** Says what is wrong with a document by the schemas; undefined if it is valid. */
export type Validate = (xml: string) => string | undefined;

/** The validators of registers, and of messages with registers. */
export function schemasOf(folder: string): { register: Validate; message: Validate } {
  const provided = Object.keys(FILES).map((file) => [file, readFileSync(join(folder, file))] as const);
  const signatures = readFileSync(join(folder, 'xmldsig-core-schema.xsd'));
  // Its DTD is on the web, and declares what the parser knows.
  const withoutDoctype = Buffer.from(signatures.toString().replace(/<!DOCTYPE[^[>]*(\[[^\]]*\])?\s*>/, ''));
  const buffers = {
    ...Object.fromEntries(provided),
    'xmldsig-core-schema.xsd': withoutDoctype,
    [SIGNATURES]: withoutDoctype,
  };
  xmlRegisterInputProvider(new XmlBufferInputProvider(buffers));
  const validator = (file: string): Validate => {
    using schema = XmlDocument.fromBuffer(readFileSync(join(folder, file)), { url: file });
    const xsd = XsdValidator.fromDoc(schema);
    return (xml) => {
      try {
        using document = XmlDocument.fromString(xml);
        xsd.validate(document);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    };
  };
  return { register: validator('SuministroInformacion.xsd'), message: validator('SuministroLR.xsd') };
}
