export type { NatsEntry, NatsHearing, NatsKv, NatsStatus } from './backend.ts';
export { type NatsOptions, nats } from './backend.ts';
