// `albaran verify`
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { type AddCommand, counted } from '../command.ts';
import { Failure } from '../failure.ts';
import { output } from '../output.ts';

const HELP = `
The file is NDJSON, a line for each register, {"registro": "<the register's XML>"},
or XML with RegistroAlta and RegistroAnulacion in any element around them; both
oldest first. Neither the database nor settings are needed.`;

export const addVerify: AddCommand = (parent, interruption) =>
  parent
    .command('verify')
    .description('checks exported invoice registers (VeriFactu): every hash from its XML, and the chain')
    .argument('<file>', 'the file; - for standard input')
    .addHelpText('after', HELP)
    .action(async (file: string) => {
      const { recordsOf, verify } = await import('../../documents/verifactu/verify.ts');
      const input = addAbortSignal(interruption.stop, file === '-' ? process.stdin : createReadStream(file));
      const verified = await verify(counted(recordsOf(textOf(input, file)), interruption, 'Verifying'));
      const { registros, correctos, continuaciones, fallos } = verified;
      const count = `${registros.toLocaleString('en')} ${registros === 1 ? 'registro' : 'registros'}`;
      const notes = continuaciones.map(
        ({ registro, huella }) => `El registro ${registro} sigue a uno que no está en el fichero, de huella ${huella}`,
      );
      if (registros > 0 && correctos === registros) {
        const text = [`${count}, cadena íntegra`, ...notes].join('\n');
        output.say(parent.opts().json ? JSON.stringify(verified) : text);
        return;
      }
      if (registros === 0) throw new Failure(`${file}: ningún registro`, { json: verified });
      const wrong = registros - correctos;
      const lines = fallos.map(({ registro, tipo, numero, motivo }) =>
        [`Registro ${registro}`, ...(tipo ? [` (${tipo} de ${numero})`] : []), `: ${motivo}`].join(''),
      );
      if (wrong > fallos.length) lines.push(`... y ${(wrong - fallos.length).toLocaleString('en')} más`);
      lines.push(...notes, `${count}, ${wrong.toLocaleString('en')} con fallos`);
      throw new Failure(lines, { json: verified });
    });

async function* textOf(input: Readable, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of input) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${file} can't be read: ${reason}`, { cause: error });
  }
}
