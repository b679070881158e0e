import type { Decoder, Encoder } from './jute.ts';

/** The part of a node's state that locks use. */
export interface Stat {
  /** The transaction that created the node. 64 bits; it grows over the whole ensemble, leader after leader. */
  readonly czxid: bigint;
  /** The transaction that wrote its data last. */
  readonly mzxid: bigint;
  /** When its data was written last, by the clock of the leader then. ms since 1970. */
  readonly mtime: number;
  /** How often its data was written after that. */
  readonly version: number;
  /** The session of an ephemeral node; 0 for other nodes. */
  readonly ephemeralOwner: bigint;
  /** The last transaction that made or removed one of its children. */
  readonly pzxid: bigint;
}

export interface Acl {
  /** Sum of read 1, write 2, create 4, delete 8, admin 16. */
  readonly permissions: number;
  /** `world`, `auth`, `digest`, `ip`, `x509`, `sasl`. */
  readonly scheme: string;
  readonly id: string;
}

const ALL_PERMISSIONS = 31;
/** Everybody may do everything. Without authentication there is nothing better. */
export const OPEN: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'world', id: 'anyone' }];
/** Only the authenticated creator may do anything. */
export const CREATOR_ONLY: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'auth', id: '' }];

export function decodeStat(from: Decoder): Stat {
  const czxid = from.long();
  const mzxid = from.long();
  from.long(); // ctime
  const mtime = Number(from.long());
  const version = from.int();
  from.int(); // cversion
  from.int(); // aversion
  const ephemeralOwner = from.long();
  from.int(); // dataLength
  from.int(); // numChildren
  return { czxid, mzxid, mtime, version, ephemeralOwner, pzxid: from.long() };
}

export function encodeAcl(into: Encoder, acl: readonly Acl[]): void {
  into.list(acl, ({ permissions, scheme, id }) => into.int(permissions).text(scheme).text(id));
}

export function decodeAcl(from: Decoder): Acl[] {
  return from.list(() => ({ permissions: from.int(), scheme: from.text(), id: from.text() }));
}
