/** Everything as a share of the session timeout that the server granted. */

/** How often a connection without recent writes says that it is alive. */
export const BEAT = 1 / 6;
/** After this without an answer a server is given up. */
export const PATIENCE = 1 / 3;
/**
 * For this long, from before a confirmed exchange was sent, no leader ends the session. A follower tells the leader of its
 * clients' signs of life twice a tick, and a session lasts two ticks at least (`minSessionTimeout`): what the leader knows
 * is up to a quarter of the timeout older than what the follower has answered.
 */
export const SURE = 3 / 4;
