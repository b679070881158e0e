/** `node:diagnostics_channel`: here nobody listens. */
export const channel = (name: string) => ({ name, hasSubscribers: false, publish: () => {} });
