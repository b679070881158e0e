import { Decoder, Encoder } from './jute.ts';

/** What a session is known by: whoever has both may go on with it on another connection. */
export interface Identity {
  readonly id: bigint;
  readonly password: Uint8Array;
}

/** Asks for a new session. */
export const NOBODY: Identity = { id: 0n, password: new Uint8Array(16) };

export interface Welcome extends Identity {
  /** What the server made of the wished session timeout. ms. */
  readonly timeout: number;
}

const PROTOCOL = 0;

/** `lastZxid` keeps us off a server that has not yet seen what we have seen: it closes the connection. */
export function hello({ id, password }: Identity, timeout: number, lastZxid: bigint): Buffer {
  return new Encoder()
    .int(PROTOCOL)
    .long(lastZxid)
    .int(timeout)
    .long(id)
    .bytes(password)
    .bool(false) // a read-only server would be of no use
    .frame();
}

/** @returns undefined when the session has expired */
export function readWelcome(frame: Buffer): Welcome | undefined {
  const from = new Decoder(frame);
  const protocol = from.int();
  if (protocol !== PROTOCOL) throw new RangeError(`protocol ${protocol} was answered; is this ZooKeeper?`);
  const timeout = from.int();
  const id = from.long();
  const password = Uint8Array.from(from.bytes());
  return timeout > 0 && id !== 0n ? { id, password, timeout } : undefined;
}
