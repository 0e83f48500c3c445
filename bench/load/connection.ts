// One keep-alive HTTP/1.1 connection that sends a request and waits for the whole answer. It parses only the status and the end of
// an answer: it needs a tenth of an HTTP client's time, which leaves the machine to the servers.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Answered {
  status: number;
  bytes: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

export class Connection {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the current answer, after its head; a chunked answer has no length. */
  #head: { status: number; length: number | undefined } | undefined;
  #settle: { done(answer: Answered): void; fail(error: Error): void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#settle?.fail(error));
    socket.on('close', () => this.#settle?.fail(new Error('The server closed the connection')));
  }

  static async open(host: string, port: number): Promise<Connection> {
    const socket = connect({ host, port });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Sends one request, given as a complete HTTP message. Rejects if the connection breaks. */
  send(request: string): Promise<Answered> {
    this.#socket.write(request);
    return new Promise((done, fail) => {
      this.#settle = { done, fail };
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#head ??= this.#readHead();
    if (!this.#head) return;
    const { status, length } = this.#head;
    const ended = length === undefined ? this.#endsWith(LAST_CHUNK) : this.#bytes >= length;
    if (!ended) return;
    const settle = this.#settle;
    const bytes = this.#bytes;
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = undefined;
    this.#settle = undefined;
    settle?.done({ status, bytes });
  }

  #readHead(): { status: number; length: number | undefined } | undefined {
    const text = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const end = text?.indexOf(HEAD_END) ?? -1;
    if (!text || end < 0) return undefined;
    const head = text.toString('latin1', 0, end);
    const status = Number(head.slice(9, 12));
    // A 304 has no body, whatever it says. RFC 9112, section 6.3
    const length = status === 304 ? '0' : /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    return {
      status,
      length: length === undefined ? undefined : end + HEAD_END.length + Number(length),
    };
  }

  #endsWith(end: Buffer): boolean {
    const tail = Buffer.concat(this.#chunks.slice(-2));
    return tail.subarray(-end.length).equals(end);
  }
}
