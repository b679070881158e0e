/** The page of all locks, to mount into a web service of your own. */
export { type UiHandler, type UiHandlerOptions, uiHandler } from './handler.ts';
export type { ReleaseOrder } from './wire.ts';
